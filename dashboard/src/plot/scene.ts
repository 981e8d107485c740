// A plot is a function from a frame to a scene: what is drawn, what is under a pixel. Data that arrives makes another scene; what
// the reader chose is in neither.
import { signal } from '@preact/signals';
import type { Palette } from '../state/theme.ts';
import type { Pen } from './svg_pen.ts';

export interface Frame {
  width: number; // CSS pixels
  height: number;
  palette: Palette;
}

export interface Hit {
  trial?: number;
  key?: number; // in the scene's order, of what is no trial
  href?: string; // where a click leads, of what is no trial of this page
  x: number; // where the reader is told of it
  y: number;
  lines: string[];
}

export interface Emphasis {
  hovered: number | null;
  selected: ReadonlySet<number>;
}

export interface Scene {
  draw(pen: Pen): void;
  // Drawn above, and again whenever the emphasis changes.
  over?(pen: Pen, emphasis: Emphasis): void;
  // Whether that would draw nothing.
  overNothing?(emphasis: Emphasis): boolean;
  hit?(x: number, y: number): Hit | null;
  // A sweep of the pointer with the button held down; `done` with its end. Returns whether it is one.
  sweep?(from: { x: number; y: number }, to: { x: number; y: number }, done: boolean): boolean;
  // What the arrow keys go through, in this order: trials, or whatever else has a key and tell().
  order?: () => readonly number[];
  place?(trial: number): { x: number; y: number } | null;
  // What is told of one in the order, where at its place there may be another.
  tell?(key: number): Hit | null;
}

// The title of the plot in which the pointer sweeps right now: it is drawn at once, the others when there is a pause.
export const swept = signal<string | null>(null);

export type MakeScene = (frame: Frame) => Scene;

const reachPx = 14;

// The nearest of points that are given by trial; null when none is near.
export function nearest(points: readonly { trial: number; x: number; y: number }[], x: number, y: number): { trial: number; x: number; y: number } | null {
  let best = null;
  let distance = reachPx * reachPx;
  for (const point of points) {
    const d = (point.x - x) ** 2 + (point.y - y) ** 2;
    if (d < distance) {
      distance = d;
      best = point;
    }
  }
  return best;
}
