// The best so far of a job in a few pixels: a step line from its beginning until now.
import type { JSX } from 'preact';
import type { NumberText } from '../api/shapes.ts';
import { formatNumber, numberOf } from '../data/numbers.ts';

const width = 120;
const height = 28;
const margin = 3;

// The line's points, in pixels: it goes on at its height until the next better value, and to the end. Values that are not finite
// have no height.
export function sparkPath(seconds: readonly number[], value: readonly number[], end: number): string {
  const points = seconds.map((at, index) => ({ at, value: (value[index] as number) / 2 })).filter((point) => Number.isFinite(point.value)); // half: no difference is infinite
  if (points.length === 0) return '';
  const values = points.map((point) => point.value);
  const [low, high] = [Math.min(...values), Math.max(...values)];
  const last = Math.max(end, points.at(-1)?.at ?? 0, 1e-9);
  const x = (at: number): string => (margin + ((width - 2 * margin) * at) / last).toFixed(1);
  const y = (at: number): string => (high > low ? height - margin - (height - 2 * margin) * ((at - low) / (high - low)) : height / 2).toFixed(1);
  const [first, ...rest] = points as [(typeof points)[number], ...typeof points];
  return `M${x(first.at)} ${y(first.value)}${rest.map((point) => `H${x(point.at)}V${y(point.value)}`).join('')}H${x(last)}`;
}

interface SparklineProps {
  seconds: readonly number[]; // since the job was created
  value: readonly NumberText[];
  end: number; // seconds: now, or when it ended
}

export function Sparkline({ seconds, value: texts, end }: SparklineProps): JSX.Element | null {
  const value = texts.map(numberOf);
  const path = sparkPath(seconds, value, end);
  if (path === '') return null;
  const [first, last] = [value[0] as number, value.at(-1) as number];
  const label = first === last ? `best so far ${formatNumber(last)}` : `best so far from ${formatNumber(first)} to ${formatNumber(last)}`;
  return (
    <svg class="spark" width={width} height={height} viewBox={`0 0 ${width} ${height}`} role="img" aria-label={label}>
      <path d={path} fill="none" stroke="currentColor" stroke-width="1.6" stroke-linejoin="round" />
    </svg>
  );
}
