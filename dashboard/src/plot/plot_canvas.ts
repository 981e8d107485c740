// When and how a plot's scene comes onto its two canvases.
import { effect, useSignal, type Signal } from '@preact/signals';
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks';
import { hovered, selectedSet } from '../state/selection.ts';
import { palette } from '../state/theme.ts';
import { labelFont } from './axes.ts';
import { drawNever, drawSoon } from './draw_queue.ts';
import { swept, type MakeScene, type Scene } from './scene.ts';

export interface Drawn {
  title: string;
  height: number;
  scene: MakeScene;
  width: Signal<number>;
  near: Signal<boolean>;
  asTable: boolean;
  current: Signal<Scene | null>; // the scene that is on the canvas
}

interface Canvas {
  current: HTMLCanvasElement | null;
}

const nearPx = 300; // of the window: what is farther away is drawn when it comes near

function withContext(canvas: HTMLCanvasElement, width: number, height: number): CanvasRenderingContext2D {
  const ratio = window.devicePixelRatio || 1;
  const pixels = [Math.round(width * ratio), Math.round(height * ratio)] as const;
  if (canvas.width !== pixels[0] || canvas.height !== pixels[1]) [canvas.width, canvas.height] = pixels;
  const context = canvas.getContext('2d') as CanvasRenderingContext2D;
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.clearRect(0, 0, width, height);
  return context;
}

// Before the browser paints: what is swept is drawn in the frame in which the pointer moved.
export function useBase(base: Canvas, { title, height, scene: makeScene, width, near, asTable, current }: Drawn): void {
  useLayoutEffect(() => {
    if (width.value === 0) return;
    const draw = (): void => {
      const begun = performance.now();
      const scene = makeScene({ width: width.value, height, palette: palette.value });
      if (base.current) {
        const pen = withContext(base.current, width.value, height);
        pen.lineJoin = 'round';
        pen.font = labelFont;
        scene.draw(pen);
        base.current.dataset['drawn'] = String(Number(base.current.dataset['drawn'] ?? 0) + 1);
      }
      current.value = scene;
      performance.measure(`draw ${title}`, { start: begun });
    };
    if (near.value && swept.peek() === title) {
      drawNever(current);
      draw();
    } else if (near.value) {
      drawSoon(current, draw);
    }
    window.addEventListener('beforeprint', draw);
    return () => {
      drawNever(current);
      window.removeEventListener('beforeprint', draw);
    };
  }, [makeScene, width.value, height, palette.value, asTable, near.value]);
}

// What the pointer and the selection emphasise.
export function useOver(top: Canvas, { height, width, asTable, current }: Drawn): void {
  const clean = useRef<HTMLCanvasElement | null>(null); // the upper canvas, when there is nothing in it
  useEffect(
    () =>
      effect(() => {
        const scene = current.value;
        const emphasis = { hovered: hovered.value, selected: selectedSet.value };
        if (!scene || !top.current) return;
        // A canvas that is touched is shown anew, however little is in it: an empty one that stays so is left alone.
        const empty = scene.overNothing?.(emphasis) ?? false;
        if (empty && clean.current === top.current) return;
        const pen = withContext(top.current, width.peek(), height);
        if (!empty) scene.over?.(pen, emphasis);
        clean.current = empty ? top.current : null;
      }),
    [height, asTable],
  );
}

// Whether the plot is in the window or near it; keeps its width in `width`.
export function useNear(figure: { current: HTMLDivElement | null }, width: Signal<number>, asTable: boolean): Signal<boolean> {
  const near = useSignal(false);
  useEffect(() => {
    const box = figure.current;
    if (!box) return;
    const size = new ResizeObserver(() => { width.value = box.clientWidth; });
    size.observe(box);
    width.value = box.clientWidth;
    const place = new IntersectionObserver((entries) => { near.value = entries.at(-1)?.isIntersecting === true; }, { rootMargin: `${nearPx}px` });
    place.observe(box);
    return () => {
      size.disconnect();
      place.disconnect();
    };
  }, [asTable]);
  return near;
}
