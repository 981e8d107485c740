// Values as colours: cividis, which reads the same with every kind of colour vision, from what fades into the surface to what
// stands out of it. The worst and the best few per cent do not stretch the scale.
import { interpolateCividis } from 'd3-scale-chromatic';
import { extentOf } from './axes.ts';

const clipped = 0.05;
const darkEnd = 0.25; // cividis begins with a blue that a dark surface swallows
const lightEnd = 0.12; // and ends with a yellow that a light one does

export type ColorOf = (value: number | null) => string;

export function isDark(): boolean {
  return typeof document !== 'undefined' && document.documentElement.dataset['theme'] === 'dark';
}

export function goodnessOf(values: Iterable<number>, goal: 'maximize' | 'minimize'): (value: number) => number {
  const [low, high] = extentOf(values, clipped);
  if (!(high > low)) return () => 1; // all are the best
  return (value) => {
    const share = Math.min(1, Math.max(0, (value - low) / (high - low)));
    return goal === 'maximize' ? share : 1 - share;
  };
}

export function shade(goodness: number): string {
  return interpolateCividis(isDark() ? darkEnd + (1 - darkEnd) * goodness : (1 - lightEnd) * (1 - goodness));
}

export function colorScale(values: Iterable<number>, goal: 'maximize' | 'minimize', missing: string): ColorOf {
  const goodness = goodnessOf(values, goal);
  return (value) => (value === null || !Number.isFinite(value) ? missing : shade(goodness(value)));
}
