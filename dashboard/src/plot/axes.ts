// Scales and axes. A scale has a domain in values and a range in pixels; NaN has no place on it.
import { scaleLinear, scaleLog, scaleSymlog } from 'd3-scale';
import type { Objective } from '../api/shapes.ts';
import { roundDurations, tickFormat } from '../data/numbers.ts';
import { ticksOf as ticksOfParameter, type Parameter } from '../data/space.ts';
import type { Palette } from '../state/theme.ts';
import type { Pen } from './svg_pen.ts';

export const fontFamily = 'system-ui, "DejaVu Sans", sans-serif';
export const smallFont = `11px ${fontFamily}`;
export const labelFont = `12px ${fontFamily}`;

export interface Box {
  left: number;
  top: number;
  right: number;
  bottom: number;
}

export interface Scale {
  (value: number): number;
  invert(pixel: number): number;
  ticks(count: number): number[];
  domain(): number[];
}

export type ScaleKind = 'linear' | 'log';

const farBelow = 1e-6;

// A log scale needs values above 0: without them it is linear near 0 (symlog).
export function makeScale(kind: ScaleKind, domain: [number, number], range: [number, number], nice = true): Scale {
  const [low, high] = widened(domain);
  if (kind === 'linear') {
    const scale = scaleLinear([low, high], range);
    return nice ? scale.nice(6) : scale;
  }
  if (low > 0) {
    const scale = scaleLog([low, high], range);
    if (nice) scale.nice();
    // Outliers may be left out of the domain: those that are not above 0 have no logarithm, and lie far below its foot.
    return Object.assign((value: number) => scale(value <= 0 && Number.isFinite(value) ? low * farBelow : value), scale);
  }
  return scaleSymlog([low, high], range).constant(Math.max(Math.abs(low), Math.abs(high)) / 1000);
}

function widened([low, high]: [number, number]): [number, number] {
  if (!Number.isFinite(low) || !Number.isFinite(high)) return [0, 1];
  if (low < high) return [low, high];
  const half = low === 0 ? 1 : Math.abs(low) * 0.1;
  return [low - half, low + half];
}

// The ends of what is finite among `values`; without the worst outliers when `clip` says which share to leave out at each end.
export function extentOf(values: Iterable<number>, clip = 0): [number, number] {
  const finite = [...values].filter(Number.isFinite);
  if (finite.length === 0) return [NaN, NaN];
  if (clip === 0) {
    let low = Infinity;
    let high = -Infinity;
    for (const value of finite) {
      if (value < low) low = value;
      if (value > high) high = value;
    }
    return [low, high];
  }
  finite.sort((a, b) => a - b);
  const at = (share: number): number => finite[Math.round(share * (finite.length - 1))] as number;
  return [at(clip), at(1 - clip)];
}

const outliers = 0.05; // a share

// The same of values that have a goal: the outliers at the worse end alone are left out.
export function extentByGoal(values: readonly number[] | Float64Array, goal: Objective['goal'], clip = outliers): [number, number] {
  const [low, high] = extentOf(values);
  const [clippedLow, clippedHigh] = extentOf(values, clip);
  return goal === 'maximize' ? [clippedLow, high] : [low, clippedHigh];
}

const pixelsPerTickX = 80;
const edgePx = 10; // room right of a plot
const pixelsPerTickY = 44;

// d3 gives all the ticks that a log scale might have: as many as there is room for.
function ticksOf(scale: Scale, count: number): number[] {
  const all = scale.ticks(count);
  if (all.length <= count * 1.6) return all;
  const powers = all.filter((tick) => Math.abs(Math.log10(Math.abs(tick)) % 1) < 1e-9);
  const kept = powers.length > 1 ? powers : all;
  const step = Math.max(1, Math.ceil(kept.length / Math.max(2, count)));
  return kept.filter((_, index) => index % step === 0);
}

export interface AxisOptions {
  label: string;
  format?: (value: number) => string;
  ticks?: number[];
  durations?: boolean; // its values are seconds from 0 on, linear
  whole?: boolean; // its values are whole numbers, so its ticks are
  words?: boolean; // its ticks are words, which may be cut to the room that they have
}

// An axis of places, 0 to 1, that are told as the parameter's values.
export function parameterAxis(parameter: Parameter): AxisOptions {
  const ticks = ticksOfParameter(parameter, 4, 8);
  const texts = new Map(ticks.map((tick) => [tick.place, tick.text]));
  return { label: parameter.name, ticks: ticks.map((tick) => tick.place), format: (place) => texts.get(place) ?? '', words: parameter.scale === 'categories' };
}

const tickTextMost = 140; // pixels; names of categories may be of any length
const tickTextLeast = 36; // less of a name tells nothing

function xTicks(box: Box, scale: Scale, { ticks, durations = false, whole = false }: AxisOptions): number[] {
  if (ticks) return ticks;
  const count = Math.max(2, Math.floor((box.right - box.left) / pixelsPerTickX));
  const round = durations ? roundDurations(scale.domain()[1] as number, count) : [];
  if (round.length > 1) return round;
  const own = ticksOf(scale, count);
  const wholeOnes = whole ? own.filter(Number.isInteger) : [];
  return wholeOnes.length > 0 ? wholeOnes : own;
}

// 1, 10 and 0.1 before 2 and 5, these before others: which ticks have a text where there is no room for all.
function roundness(tick: number): number {
  const digits = tick.toExponential(6).replace(/^-|\.?0*e.*$/g, '');
  return digits === '0' || digits === '1' ? 0 : digits === '2' || digits === '5' ? 1 : 2;
}

// Each name as much as lets the last one stand within the plot, beside its neighbour.
function wordRoom(ticks: readonly number[], scale: Scale): number {
  const step = ticks.length > 1 ? scale(ticks[1] as number) - scale(ticks[0] as number) : Infinity;
  return Math.max(tickTextLeast, Math.min(tickTextMost, step / 1.5));
}

const textGap = 6;

// For texts in a row: whether there is room from one pixel to another, which is then taken.
export function rowOfTexts(): (from: number, to: number) => boolean {
  const taken: [number, number][] = [];
  return (from, to) => {
    const free = taken.every(([left, right]) => to + textGap <= left || from - textGap >= right);
    if (free) taken.push([from, to]);
    return free;
  };
}

export function drawXAxis(pen: Pen, palette: Palette, box: Box, scale: Scale, options: AxisOptions): void {
  const ticks = xTicks(box, scale, options);
  const { label, format = tickFormat(ticks) } = options;
  const room = options.words ? wordRoom(ticks, scale) : tickTextMost;
  pen.font = smallFont;
  pen.textAlign = 'center';
  pen.textBaseline = 'top';
  pen.fillStyle = palette.muted;
  for (const tick of ticks) gridLine(pen, palette, scale(tick), box.top, scale(tick), box.bottom);
  const fits = rowOfTexts();
  for (const tick of options.ticks ? ticks : [...ticks].sort((a, b) => roundness(a) - roundness(b))) {
    const text = fitText(pen, format(tick), room);
    const half = pen.measureText(text).width / 2;
    const x = Math.min(scale(tick), box.right + edgePx - half); // the last one stays within the plot
    if (fits(x - half, x + half)) pen.fillText(text, x, box.bottom + 6);
  }
  pen.font = labelFont;
  pen.textAlign = 'right';
  pen.fillStyle = palette.text;
  pen.fillText(fitText(pen, label, box.right - 4), box.right, box.bottom + 21);
}

export function drawYAxis(pen: Pen, palette: Palette, box: Box, scale: Scale, options: AxisOptions): void {
  const ticks = options.ticks ?? ticksOf(scale, Math.max(2, Math.floor((box.bottom - box.top) / pixelsPerTickY)));
  const { label, format = tickFormat(ticks) } = options;
  pen.font = smallFont;
  pen.textAlign = 'right';
  pen.textBaseline = 'middle';
  for (const tick of ticks) {
    const y = scale(tick);
    gridLine(pen, palette, box.left, y, box.right, y);
    pen.fillStyle = palette.muted;
    pen.fillText(fitText(pen, format(tick), box.left - 8), box.left - 6, y);
  }
  pen.font = labelFont;
  pen.textAlign = 'left';
  pen.textBaseline = 'top';
  pen.fillStyle = palette.text;
  pen.fillText(fitText(pen, label, box.right - 4), 4, 4);
}

// `ended`: no more of them come.
export const noValues = (ended: boolean): string => (ended ? 'no values' : 'no values yet');

// In the middle of a plot that has nothing to draw.
export function drawNothing(pen: Pen, palette: Palette, box: Box, why: string): void {
  pen.font = labelFont;
  pen.textAlign = 'center';
  pen.textBaseline = 'middle';
  pen.fillStyle = palette.muted;
  pen.fillText(why, (box.left + box.right) / 2, (box.top + box.bottom) / 2);
}

export function gridLine(pen: Pen, palette: Palette, x0: number, y0: number, x1: number, y1: number): void {
  pen.strokeStyle = palette.grid;
  pen.lineWidth = 1;
  pen.beginPath();
  pen.moveTo(x0, y0);
  pen.lineTo(x1, y1);
  pen.stroke();
}

// A text of a given width at most, cut with an ellipsis.
export function fitText(pen: Pen, text: string, width: number): string {
  if (pen.measureText(text).width <= width) return text;
  let low = 0;
  let high = text.length;
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (pen.measureText(`${text.slice(0, middle)}…`).width <= width) low = middle;
    else high = middle - 1;
  }
  return low === 0 ? '' : `${text.slice(0, low)}…`;
}
