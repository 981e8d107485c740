// A plot on the page: a canvas, another above it for what the pointer and the selection emphasise, the keys, and the downloads.
import type { ComponentChildren, JSX } from 'preact';
import { effect, signal, useSignal, type Signal } from '@preact/signals';
import { useEffect, useLayoutEffect, useMemo, useRef } from 'preact/hooks';
import { csvOf, saveBlob, saveText, type Table } from '../parts/download.ts';
import { Menu } from '../parts/menu.tsx';
import { DataTable } from '../parts/data_table.tsx';
import { hovered, pick, selectedSet } from '../state/selection.ts';
import { palette } from '../state/theme.ts';
import { labelFont } from './axes.ts';
import { drawNever, drawSoon } from './draw_queue.ts';
import { swept, type Hit, type MakeScene, type Scene } from './scene.ts';
import { SvgPen, type Pen } from './svg_pen.ts';

export interface PlotProps {
  title: string;
  finding: string; // what the plot says, for those who do not see it
  height: number;
  scene: MakeScene;
  table: () => Table; // the numbers behind it
  file: string; // downloads are named after it
  tools?: ComponentChildren; // choices that belong to the plot
  note?: ComponentChildren; // what is left out, what the signs mean
}

const clickReachPx = 4;
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

let ruler: CanvasRenderingContext2D | null = null;
function measure(text: string, font: string): TextMetrics {
  ruler ??= document.createElement('canvas').getContext('2d') as CanvasRenderingContext2D;
  ruler.font = font;
  return ruler.measureText(text);
}

export function Plot(props: PlotProps): JSX.Element {
  const { height, scene: makeScene } = props;
  const figure = useRef<HTMLDivElement>(null);
  const base = useRef<HTMLCanvasElement>(null);
  const top = useRef<HTMLCanvasElement>(null);
  const width = useSignal(0);
  const tip = useSignal<Hit | null>(null);
  const asTable = useSignal(false);
  const pressed = useRef<{ x: number; y: number; moved: boolean } | null>(null);
  const clean = useRef<HTMLCanvasElement | null>(null); // the upper canvas, when there is nothing in it
  const moving = useRef(0); // the frame that takes in where the pointer is
  const current = useMemo(() => signal<Scene | null>(null), []);
  const near = useNear(figure, width, asTable.value);

  // Before the browser paints: what is swept is drawn in the frame in which the pointer moved.
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
      performance.measure(`draw ${props.title}`, { start: begun });
    };
    if (near.value && swept.peek() === props.title) {
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
  }, [makeScene, width.value, height, palette.value, asTable.value, near.value]);

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
    [height, asTable.value],
  );

  const at = (event: PointerEvent | MouseEvent): { x: number; y: number } => {
    const box = (event.currentTarget as HTMLElement).getBoundingClientRect();
    return { x: event.clientX - box.left, y: event.clientY - box.top };
  };
  const show = (hit: Hit | null): void => {
    tip.value = hit;
    hovered.value = hit?.trial ?? null;
  };
  // A pointer moves more often than a page is drawn: of all its moves in a frame the last one counts.
  const move = (place: { x: number; y: number }): void => {
    const scene = current.peek();
    const start = pressed.current;
    if (start && (start.moved || Math.hypot(place.x - start.x, place.y - start.y) > clickReachPx)) {
      start.moved = true;
      swept.value = props.title;
      if (scene?.sweep?.(start, place, false)) return;
    }
    show(scene?.hit?.(place.x, place.y) ?? null);
  };
  const onMove = (event: PointerEvent): void => {
    const place = at(event);
    cancelAnimationFrame(moving.current);
    moving.current = requestAnimationFrame(() => move(place));
  };
  const onDown = (event: PointerEvent): void => {
    if (event.button !== 0) return;
    pressed.current = { ...at(event), moved: false };
    (event.currentTarget as HTMLElement).setPointerCapture(event.pointerId);
  };
  const onUp = (event: PointerEvent): void => {
    cancelAnimationFrame(moving.current);
    const start = pressed.current;
    pressed.current = null;
    swept.value = null;
    if (!start) return;
    const place = at(event);
    const scene = current.peek();
    const moved = start.moved || Math.hypot(place.x - start.x, place.y - start.y) > clickReachPx;
    if (moved && scene?.sweep?.(start, place, true)) return;
    const hit = scene?.hit?.(place.x, place.y);
    if (hit?.href !== undefined) window.location.hash = hit.href;
    else if (hit?.trial !== undefined) pick(hit.trial, event.shiftKey || event.ctrlKey || event.metaKey);
  };
  const onKey = (event: KeyboardEvent): void => {
    const scene = current.peek();
    const order = scene?.order?.() ?? [];
    const step = event.key === 'ArrowRight' || event.key === 'ArrowDown' ? 1 : event.key === 'ArrowLeft' || event.key === 'ArrowUp' ? -1 : 0;
    if (step !== 0 && order.length > 0) {
      event.preventDefault();
      const here = tip.peek()?.key ?? hovered.peek();
      const index = here === null ? -1 : order.indexOf(here);
      const next = order[index < 0 ? (step > 0 ? 0 : order.length - 1) : (index + step + order.length) % order.length] as number;
      const place = scene?.place?.(next);
      const told = scene?.tell?.(next);
      show(told ?? (place ? (scene?.hit?.(place.x, place.y) ?? { trial: next, ...place, lines: [`trial ${next}`] }) : { trial: next, x: 0, y: 0, lines: [`trial ${next}`] }));
    } else if ((event.key === 'Enter' || event.key === ' ') && hovered.peek() !== null) {
      event.preventDefault();
      const trial = hovered.peek() as number;
      const href = scene?.tell?.(trial)?.href;
      if (href) window.location.hash = href;
      else pick(trial, event.shiftKey);
    } else if (event.key === 'Escape') {
      show(null);
    }
  };

  return (
    <section class="plot" aria-label={props.title}>
      <header class="plot-head">
        <h3>{props.title}</h3>
        <div class="plot-tools">
          {props.tools}
          <PlotMenu props={props} width={width.peek()} scene={() => current.peek()} asTable={asTable} />
        </div>
      </header>
      {asTable.value ? (
        <DataTable table={props.table()} label={props.title} />
      ) : (
        <div class="canvas-box" ref={figure} style={{ height: `${height}px` }}>
          <canvas ref={base} style={{ width: '100%', height: `${height}px` }} aria-hidden="true" />
          <canvas
            ref={top}
            class="canvas-top"
            style={{ width: '100%', height: `${height}px` }}
            role="img"
            aria-label={`${props.title}: ${props.finding}`}
            tabIndex={0}
            onPointerMove={onMove}
            onPointerDown={onDown}
            onPointerUp={onUp}
            onPointerCancel={onUp}
            onPointerLeave={() => { cancelAnimationFrame(moving.current); if (!pressed.current) show(null); }}
            onKeyDown={onKey}
            onBlur={() => show(null)}
          />
          {tip.value && <Tip hit={tip.value} width={width.value} />}
        </div>
      )}
      {props.note && <p class="plot-note">{props.note}</p>}
    </section>
  );
}

// Whether the plot is in the window or near it; keeps its width in `width`.
function useNear(figure: { current: HTMLDivElement | null }, width: Signal<number>, asTable: boolean): Signal<boolean> {
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

const tipRoomPx = 240;

function Tip({ hit, width }: { hit: Hit; width: number }): JSX.Element {
  const toLeft = hit.x > width - tipRoomPx && hit.x > width / 2;
  const style = { top: `${hit.y}px`, ...(toLeft ? { right: `${width - hit.x + 12}px` } : { left: `${hit.x + 12}px` }) };
  return (
    <div class="tip" style={style} role="status">
      {hit.lines.map((line, index) => (index === 0 ? <strong>{line}</strong> : <div>{line}</div>))}
    </div>
  );
}

interface PlotMenuProps {
  props: PlotProps;
  width: number;
  scene: () => Scene | null;
  asTable: { value: boolean };
}

function PlotMenu({ props, width, scene, asTable }: PlotMenuProps): JSX.Element {
  const emphasis = { hovered: null, selected: selectedSet.peek() };
  const drawAll = (pen: Pen): void => {
    scene()?.draw(pen);
    scene()?.over?.(pen, emphasis);
  };
  const svg = (): void => {
    const pen = new SvgPen(width, props.height, measure);
    drawAll(pen);
    saveText(`${props.file}.svg`, 'image/svg+xml', pen.text(palette.peek().surface));
  };
  const png = (): void => {
    const canvas = document.createElement('canvas');
    const scale = 2;
    canvas.width = width * scale;
    canvas.height = props.height * scale;
    const context = canvas.getContext('2d') as CanvasRenderingContext2D;
    context.scale(scale, scale);
    context.fillStyle = palette.peek().surface;
    context.fillRect(0, 0, width, props.height);
    drawAll(context);
    canvas.toBlob((blob) => { if (blob) saveBlob(`${props.file}.png`, blob); });
  };
  return (
    <Menu label={`Save ${props.title}`} caption="⋯">
      <button type="button" onClick={() => { asTable.value = !asTable.value; }}>{asTable.value ? 'Show as a plot' : 'Show as a table'}</button>
      <button type="button" onClick={svg} disabled={asTable.value}>Download SVG</button>
      <button type="button" onClick={png} disabled={asTable.value}>Download PNG</button>
      <button type="button" onClick={() => saveText(`${props.file}.csv`, 'text/csv', csvOf(props.table()))}>Download CSV</button>
    </Menu>
  );
}
