// Parallel coordinates: an axis a parameter, and the objective as the last. A sweep along an axis keeps what lies in it; a sweep of
// an axis' name moves the axis. More trials than lines can tell apart are drawn as density, with the best as lines above it.
// Each step of a sweep makes a scene: what does not follow from the mask comes from the table, which computes it once.
import type { Job } from '../api/shapes.ts';
import { formatNumber, formatValue } from '../data/numbers.ts';
import { ticksOf, type Parameter } from '../data/space.ts';
import { valueOf, type TrialTable } from '../data/trials.ts';
import type { Brush } from '../state/selection.ts';
import type { Palette } from '../state/theme.ts';
import { extentByGoal, fitText, labelFont, makeScale, smallFont, type Scale } from './axes.ts';
import { strokeBroken } from './broken_line.ts';
import { goodnessOf, shade } from './colors.ts';
import { coarse, densityImage, fine, type Grain } from './density.ts';
import type { Hit, MakeScene } from './scene.ts';
import type { Pen } from './svg_pen.ts';

export const linesMost = 1_000;
export const linesAboveDensity = 200;
const linesSwept = 60; // while an axis is swept
const brushReach = 18;
const lineReach = 6;
const objectiveName = 'objective';

export interface ParallelInput {
  job: Job;
  table: TrialTable;
  parameters: readonly Parameter[]; // an axis each, in this order
  mask: Uint8Array; // of the rows, what is shown
  draft: boolean; // while an axis is swept: coarser
  brushes: readonly Brush[];
  brush: (name: string, range: [number, number] | null, done: boolean) => void;
  reorder: (names: string[]) => void;
}

interface Axis {
  name: string;
  title: string;
  x: number;
  places: Float64Array; // by row: 0 to 1 from the foot to the head; NaN where there is no value
  toPlace: (pixel: number) => number; // what a brush keeps
  toPixel: (place: number) => number;
  ticks: { y: number; text: string }[];
}

interface Frame {
  top: number;
  bottom: number;
}

function parameterAxis(parameter: Parameter, x: number, table: TrialTable, { top, bottom }: Frame): Axis {
  const toPixel = (place: number): number => bottom - place * (bottom - top);
  const ticks = ticksOf(parameter, 4, 14).map(({ place, text }) => ({ y: toPixel(place), text }));
  return { name: parameter.name, title: parameter.name, x, places: table.placesOf(parameter), toPixel, toPlace: (pixel) => (bottom - pixel) / (bottom - top), ticks };
}

function objectiveAxis(job: Job, x: number, table: TrialTable, { top, bottom }: Frame): Axis {
  const domain = table.derive('objective axis', () => extentByGoal(table.objectives(), job.objective.goal));
  const scale: Scale = makeScale('linear', domain, [bottom, top], false);
  const inside = (value: number): number => Math.min(bottom, Math.max(top, scale(value)));
  const places = table.derive('objective places', () => table.objectives().map((value) => (bottom - inside(value)) / (bottom - top)));
  return {
    name: objectiveName,
    title: job.objective.metric,
    x,
    places,
    toPixel: (value) => inside(value),
    toPlace: (pixel) => scale.invert(pixel),
    ticks: scale.ticks(5).map((tick) => ({ y: scale(tick), text: formatNumber(tick) })),
  };
}

function axesOf(input: ParallelInput, width: number, frame: Frame): Axis[] {
  const count = input.parameters.length + 1;
  const left = 44;
  const step = (width - left - 70) / Math.max(1, count - 1);
  const parameters = input.parameters.map((parameter, index) => parameterAxis(parameter, left + index * step, input.table, frame));
  return [...parameters, objectiveAxis(input.job, left + (count - 1) * step, input.table, frame)];
}

const pixelOf = (axis: Axis, index: number, { top, bottom }: Frame): number => bottom - (axis.places[index] as number) * (bottom - top);

// Where a value is missing the line is broken: a conditional parameter that the trial does not have.
function traceLine(pen: Pen, axes: readonly Axis[], index: number, frame: Frame): void {
  strokeBroken(pen, axes.length, (at) => (axes[at] as Axis).x, (at) => pixelOf(axes[at] as Axis, index, frame));
}

function drawAxis(pen: Pen, palette: Palette, axis: Axis, room: number, { top, bottom }: Frame): void {
  pen.strokeStyle = palette.muted;
  pen.lineWidth = 1;
  pen.beginPath();
  pen.moveTo(axis.x, top);
  pen.lineTo(axis.x, bottom);
  pen.stroke();
  pen.font = `bold ${labelFont}`;
  pen.textAlign = 'center';
  pen.textBaseline = 'top';
  pen.fillStyle = palette.text;
  const title = fitText(pen, axis.title, room);
  pen.fillText(title, Math.max(pen.measureText(title).width / 2 + 2, axis.x), 6);
  pen.font = smallFont;
  pen.textAlign = 'left';
  pen.textBaseline = 'middle';
  for (const tick of axis.ticks) {
    const text = fitText(pen, tick.text, room - 14);
    const width = pen.measureText(text).width;
    pen.fillStyle = palette.surface;
    pen.globalAlpha = 0.75;
    pen.fillRect(axis.x + 4, tick.y - 7, width + 4, 14);
    pen.globalAlpha = 1;
    pen.fillStyle = palette.text;
    pen.fillText(text, axis.x + 6, tick.y);
  }
}

function drawBrush(pen: Pen, palette: Palette, axis: Axis, from: number, to: number): void {
  const [a, b] = [axis.toPixel(from), axis.toPixel(to)];
  pen.fillStyle = palette.accent;
  pen.globalAlpha = 0.25;
  pen.fillRect(axis.x - 8, Math.min(a, b), 16, Math.abs(a - b));
  pen.globalAlpha = 1;
  pen.strokeStyle = palette.accent;
  pen.lineWidth = 1.5;
  pen.strokeRect(axis.x - 8, Math.min(a, b), 16, Math.abs(a - b));
}

// Distance in pixels from a point to the line of a trial in the gap that the point is in.
function distanceTo(axes: readonly Axis[], index: number, x: number, y: number, frame: Frame): number {
  for (let gap = 0; gap + 1 < axes.length; gap += 1) {
    const [from, to] = [axes[gap] as Axis, axes[gap + 1] as Axis];
    if (x < from.x || x > to.x) continue;
    const [a, b] = [pixelOf(from, index, frame), pixelOf(to, index, frame)];
    return Math.abs(a + ((x - from.x) / (to.x - from.x)) * (b - a) - y);
  }
  return NaN;
}

function countOf(mask: Uint8Array): number {
  let count = 0;
  for (let index = 0; index < mask.length; index += 1) count += mask[index] as number;
  return count;
}

// The first so many rows of an order that the mask leaves.
function bestOf(order: Uint32Array, mask: Uint8Array, most: number): number[] {
  const found: number[] = [];
  for (let at = 0; at < order.length && found.length < most; at += 1) {
    const index = order[at] as number;
    if (mask[index] === 1) found.push(index);
  }
  return found;
}

function drawDensity(pen: Pen, palette: Palette, axes: readonly Axis[], mask: Uint8Array, { top, bottom }: Frame, grain: Grain): void {
  for (let gap = 0; gap + 1 < axes.length; gap += 1) {
    const [from, to] = [axes[gap] as Axis, axes[gap + 1] as Axis];
    const image = densityImage(from.places, to.places, mask, palette.muted, grain);
    pen.drawImage(image, from.x, top, to.x - from.x, bottom - top);
  }
}

// The line nearest to a place within reach; -1: none.
function lineAt(axes: readonly Axis[], lines: readonly number[], x: number, y: number, frame: Frame): number {
  let best = -1;
  let distance = lineReach;
  for (const index of lines) {
    const d = distanceTo(axes, index, x, y, frame);
    if (d < distance) [best, distance] = [index, d];
  }
  return best;
}

function hitOf({ table, parameters }: ParallelInput, index: number, x: number, y: number): Hit | null {
  const row = table.rows[index];
  if (!row) return null;
  const values = parameters.map((parameter) => `${parameter.name} ${formatValue(table.parameters.get(parameter.name)?.[index])}`);
  return { trial: row.number, x, y, lines: [`trial ${row.number} · ${formatNumber(valueOf(row))}`, ...values] };
}

export function parallelScene(input: ParallelInput): MakeScene {
  return ({ width, height, palette }) => {
    const { table, job, mask } = input;
    const frame: Frame = { top: 34, bottom: height - 16 };
    const axes = axesOf(input, width, frame);
    const values = table.objectives();
    const goodness = table.derive('goodness', () => goodnessOf(values, job.objective.goal));
    const goodOf = (index: number): number => (Number.isNaN(values[index]) ? -1 : goodness(values[index] as number));
    const shown = countOf(mask);
    const dense = shown > linesMost;
    const lines = bestOf(table.byMerit(job.objective.goal), mask, !dense ? shown : input.draft ? linesSwept : linesAboveDensity).reverse(); // the best are drawn last
    const room = axes.length > 1 ? (axes[1] as Axis).x - (axes[0] as Axis).x : width;
    const axisAt = (x: number): Axis | undefined => axes.find((axis) => Math.abs(axis.x - x) < Math.min(brushReach, room / 2));
    const strong = (pen: Pen, trial: number, color: string): void => {
      const index = table.find(trial);
      if (index === undefined) return;
      pen.strokeStyle = color;
      pen.lineWidth = 2.5;
      traceLine(pen, axes, index, frame);
    };
    return {
      draw(pen) {
        if (dense) drawDensity(pen, palette, axes, mask, frame, input.draft ? coarse : fine);
        pen.lineWidth = 1;
        for (const index of lines) {
          const good = goodOf(index);
          pen.strokeStyle = good < 0 ? palette.faint : shade(good);
          pen.globalAlpha = dense ? 0.6 : 0.25 + 0.65 * Math.max(0, good) ** 2;
          traceLine(pen, axes, index, frame);
        }
        pen.globalAlpha = 1;
        for (const axis of axes) drawAxis(pen, palette, axis, room, frame);
        for (const { name, from, to } of input.brushes) {
          const axis = axes.find((one) => one.name === name);
          if (axis) drawBrush(pen, palette, axis, from, to);
        }
      },
      overNothing: ({ hovered, selected }) => hovered === null && selected.size === 0,
      over(pen, { hovered, selected }) {
        for (const trial of selected) strong(pen, trial, palette.accent);
        if (hovered !== null) strong(pen, hovered, palette.text);
      },
      hit: (x, y) => hitOf(input, lineAt(axes, lines, x, y, frame), x, y),
      sweep(from, to, done) {
        const axis = axisAt(from.x);
        if (!axis) return false;
        if (from.y < frame.top - 6) {
          if (done) input.reorder(moved(axes, axis, to.x));
          return true;
        }
        const ends = [from.y, to.y].map((y) => axis.toPlace(Math.min(frame.bottom, Math.max(frame.top, y)))) as [number, number];
        input.brush(axis.name, [Math.min(...ends), Math.max(...ends)], done);
        return true;
      },
      order: () => lines.map((index) => table.rows[index]?.number ?? 0).reverse(),
      place: (trial) => {
        const index = table.find(trial);
        const axis = axes.at(-1);
        return index === undefined || !axis ? null : { x: axis.x, y: pixelOf(axis, index, frame) };
      },
    };
  };
}

function moved(axes: readonly Axis[], axis: Axis, x: number): string[] {
  const others = axes.filter((one) => one !== axis && one.name !== objectiveName);
  if (axis.name === objectiveName) return others.map((one) => one.name);
  const at = others.filter((one) => one.x < x).length;
  return [...others.slice(0, at), axis, ...others.slice(at)].map((one) => one.name);
}
