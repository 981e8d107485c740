// What the pointer and the keys do to a plot: they show what is under them, pick it, follow its link, or sweep.
import type { Signal } from '@preact/signals';
import type { JSX } from 'preact';
import { useRef } from 'preact/hooks';
import { hovered, pick } from '../state/selection.ts';
import { swept, type Hit, type Scene } from './scene.ts';

interface Place {
  x: number;
  y: number;
}

type Handlers = Pick<
  JSX.IntrinsicElements['canvas'],
  'onPointerMove' | 'onPointerDown' | 'onPointerUp' | 'onPointerCancel' | 'onPointerLeave' | 'onKeyDown' | 'onBlur'
>;

const clickReachPx = 4;

const placeOf = (event: PointerEvent): Place => {
  const box = (event.currentTarget as HTMLElement).getBoundingClientRect();
  return { x: event.clientX - box.left, y: event.clientY - box.top };
};

const isFar = (from: Place, to: Place): boolean => Math.hypot(to.x - from.x, to.y - from.y) > clickReachPx;

function show(tip: Signal<Hit | null>, hit: Hit | null): void {
  tip.value = hit;
  hovered.value = hit?.trial ?? null;
}

export function useHandlers(title: string, current: Signal<Scene | null>, tip: Signal<Hit | null>): Handlers {
  const pressed = useRef<(Place & { moved: boolean }) | null>(null);
  const moving = useRef(0); // the frame that takes in where the pointer is

  const move = (place: Place): void => {
    const scene = current.peek();
    const start = pressed.current;
    if (start && (start.moved || isFar(start, place))) {
      start.moved = true;
      swept.value = title;
      if (scene?.sweep?.(start, place, false)) return;
    }
    show(tip, scene?.hit?.(place.x, place.y) ?? null);
  };
  const onPointerUp = (event: PointerEvent): void => {
    cancelAnimationFrame(moving.current);
    const start = pressed.current;
    pressed.current = null;
    swept.value = null;
    if (!start) return;
    const place = placeOf(event);
    const scene = current.peek();
    if ((start.moved || isFar(start, place)) && scene?.sweep?.(start, place, true)) return;
    const hit = scene?.hit?.(place.x, place.y);
    if (hit?.href !== undefined) window.location.hash = hit.href;
    else if (hit?.trial !== undefined) pick(hit.trial, event.shiftKey || event.ctrlKey || event.metaKey);
  };
  return {
    onPointerUp,
    onPointerCancel: onPointerUp,
    // A pointer moves more often than a page is drawn: of all its moves in a frame the last one counts.
    onPointerMove: (event) => {
      const place = placeOf(event);
      cancelAnimationFrame(moving.current);
      moving.current = requestAnimationFrame(() => move(place));
    },
    onPointerDown: (event) => {
      if (event.button !== 0) return;
      pressed.current = { ...placeOf(event), moved: false };
      event.currentTarget.setPointerCapture(event.pointerId);
    },
    onPointerLeave: () => {
      cancelAnimationFrame(moving.current);
      if (!pressed.current) show(tip, null);
    },
    onKeyDown: (event) => onKey(event, current.peek(), tip),
    onBlur: () => show(tip, null),
  };
}

// The arrows go through the trials in the scene's order; Enter and the space bar pick as a click does.
function onKey(event: KeyboardEvent, scene: Scene | null, tip: Signal<Hit | null>): void {
  const step = event.key === 'ArrowRight' || event.key === 'ArrowDown' ? 1 : event.key === 'ArrowLeft' || event.key === 'ArrowUp' ? -1 : 0;
  const order = scene?.order?.() ?? [];
  if (step !== 0 && order.length > 0) {
    event.preventDefault();
    show(tip, hitOf(neighbour(order, tip.peek()?.key ?? hovered.peek(), step), scene));
  } else if ((event.key === 'Enter' || event.key === ' ') && hovered.peek() !== null) {
    event.preventDefault();
    const trial = hovered.peek() as number;
    const href = scene?.tell?.(trial)?.href;
    if (href) window.location.hash = href;
    else pick(trial, event.shiftKey);
  } else if (event.key === 'Escape') {
    show(tip, null);
  }
}

function neighbour(order: readonly number[], here: number | null, step: number): number {
  const index = here === null ? -1 : order.indexOf(here);
  return order[index < 0 ? (step > 0 ? 0 : order.length - 1) : (index + step + order.length) % order.length] as number;
}

function hitOf(key: number, scene: Scene | null): Hit {
  const told = scene?.tell?.(key);
  if (told) return told;
  const place = scene?.place?.(key);
  const hit = place && scene?.hit?.(place.x, place.y);
  if (hit && hit.trial === key) return hit; // else one that stands at the same place
  return { trial: key, ...(place ?? { x: 0, y: 0 }), lines: [`trial ${key}`] };
}
