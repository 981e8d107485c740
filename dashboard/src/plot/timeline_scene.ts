// What each worker did, as bars over time: which trial, from where to where, and how it ended. What is empty was idle: the
// pointer tells how long, between what, and why. A sweep along the time looks closer.
import { signal } from '@preact/signals';
import type { Timeline } from '../api/columns.ts';
import { formatClock, formatDuration, formatRoundTime, roundTimes } from '../data/numbers.ts';
import type { Palette } from '../state/theme.ts';
import { drawXAxis, fitText, labelFont, makeScale, smallFont, type Box, type Scale } from './axes.ts';
import { gapsOf, idleTimes, lanesOf, shortWorker, startsOf, type Gap, type Lane, type Start } from '../data/segments.ts';
import type { Hit, MakeScene } from './scene.ts';
import type { Pen } from './svg_pen.ts';

const laneHeightMost = 30;
const laneHeightLeast = 9;
const lanesHeight = 1_500; // of many lanes together, as far as the least allows
const foot = 42;
const pixelsPerTick = 90;

const laneHeightOf = (lanes: number): number => Math.max(laneHeightLeast, Math.min(laneHeightMost, lanesHeight / Math.max(1, lanes)));

export const timelineHeight = (lanes: number): number => Math.max(2, lanes) * laneHeightOf(lanes) + foot + 8;

export interface TimelineInput {
  timeline: Timeline;
  createdAt: number; // milliseconds
  now: number; // seconds since then
  range: [number, number] | null; // seconds; null: from the first segment to the last
  say: (index: number) => { title: string; resource: string; href?: string; trial?: number }; // of a cell
  color?: (palette: Palette, index: number) => string | null; // null: by how it ended
  shown?: (index: number) => boolean;
  why?: (from: number, until: number, workers: readonly string[]) => string[]; // of a time without anything
  zoom?: (from: number, until: number) => void; // seconds
  nothing: string; // what a lane has in a gap: "nothing of this job"
}

const good = new Set(['reached_rung', 'completed']);
const harmless = new Set(['stopped', 'cancelled', 'given_back']);

export const isLoss = (outcome: string): boolean => outcome !== '' && !good.has(outcome) && !harmless.has(outcome);

// Of all cells: of several segments in one the server says how many.
export function lossesOf(timeline: Timeline): number {
  if (timeline.losses) return timeline.losses.reduce((sum, losses) => sum + losses, 0);
  return timeline.outcome.filter((outcome) => isLoss(timeline.outcomes[outcome] ?? '')).length;
}

export const segmentsOf = (timeline: Timeline): number => timeline.segments?.reduce((sum, count) => sum + count, 0) ?? timeline.trial.length;

function colorOf(palette: Palette, outcome: string): string {
  if (outcome === '') return palette.states['running'] ?? palette.accent;
  if (good.has(outcome)) return palette.states['completed'] ?? palette.accent;
  if (harmless.has(outcome)) return palette.states['stopped'] ?? palette.muted;
  return palette.states['failed'] ?? palette.text;
}

const startWords: Record<Start, string> = { anew: '', straight_on: ', straight on', from_checkpoint: ', from its checkpoint' };

interface Bar {
  index: number;
  start: Start;
  x0: number;
  x1: number;
  y: number;
  outcome: string;
  several: number; // segments in it
}

interface Drawing {
  input: TimelineInput;
  box: Box;
  x: Scale;
  lanes: Lane[];
  laneY: (lane: number) => number;
  barHeight: number;
  bars: Bar[];
  gaps: Gap[];
  idle: [number, number][];
}

function drawBar(pen: Pen, palette: Palette, { input, barHeight }: Drawing, bar: Bar): void {
  const width = Math.max(1.5, bar.x1 - bar.x0 - 0.5);
  const faint = input.shown?.(bar.index) === false;
  const failed = isLoss(bar.outcome);
  const height = failed ? barHeight / 2 : barHeight; // a loss is thinner too
  pen.globalAlpha = faint ? 0.12 : bar.several > 1 ? 0.6 : 0.85;
  pen.fillStyle = (failed ? null : input.color?.(palette, bar.index)) ?? colorOf(palette, bar.outcome);
  pen.fillRect(bar.x0, bar.y - height / 2, width, height);
  pen.globalAlpha = 1;
  if (bar.start !== 'anew' && !faint && width > 3) {
    pen.fillStyle = bar.start === 'straight_on' ? palette.surface : palette.text;
    pen.beginPath();
    pen.moveTo(bar.x0, bar.y - barHeight / 2);
    pen.lineTo(bar.x0 + Math.min(6, width), bar.y);
    pen.lineTo(bar.x0, bar.y + barHeight / 2);
    pen.closePath();
    pen.fill();
  }
  if (width < 22 || faint || barHeight < 12) return;
  pen.font = smallFont;
  pen.textAlign = 'left';
  pen.textBaseline = 'middle';
  pen.fillStyle = palette.surface;
  const text = bar.several > 1 ? `${bar.several}×` : String(input.timeline.trial[bar.index]);
  pen.fillText(fitText(pen, text, width - (bar.start === 'anew' ? 6 : 11)), bar.x0 + (bar.start === 'anew' ? 4 : 9), bar.y);
}

function drawLanes(pen: Pen, palette: Palette, { box, lanes, laneY, barHeight }: Drawing): void {
  const every = Math.ceil(13 / (barHeight * 1.4)); // names that would touch are left out
  lanes.forEach((lane, index) => {
    pen.font = barHeight < 12 ? smallFont : labelFont;
    pen.textAlign = 'left';
    pen.textBaseline = 'middle';
    pen.fillStyle = palette.text;
    if (index % every === 0) pen.fillText(fitText(pen, lane.name, box.left - 10), 4, laneY(index));
    pen.fillStyle = palette.grid;
    pen.globalAlpha = 0.5;
    pen.fillRect(box.left, laneY(index) - barHeight / 2, box.right - box.left, barHeight);
    pen.globalAlpha = 1;
  });
}

function barHit({ input }: Drawing, bar: Bar, x: number, y: number): Hit {
  const { timeline, createdAt, now } = input;
  const i = bar.index;
  const [began, end] = [timeline.began[i] as number, timeline.ended[i] ?? now];
  const rank = (timeline.rank[i] ?? 0) > 0 ? `, rank ${timeline.rank[i]}` : '';
  const { title, resource, href, trial } = input.say(i);
  const losses = timeline.losses?.[i] ?? 0;
  const where = shortWorker(timeline.workers[timeline.worker[i] as number] ?? '');
  const lines = bar.several > 1
    ? [`${bar.several} segments on ${where}`, `the longest: ${title}`, ...(losses > 0 ? [`${losses} failed or lost: ${bar.outcome.replaceAll('_', ' ')}`] : [])]
    : [`${title}${rank} on ${where}`, `${resource}${startWords[bar.start]}`,
      `${bar.outcome === '' ? 'under way' : bar.outcome.replaceAll('_', ' ')}${(timeline.attempt[i] ?? 1) > 1 ? `, attempt ${timeline.attempt[i]}` : ''}`];
  return { ...(href === undefined ? {} : { href }), ...(trial === undefined ? {} : { trial }), x, y, lines: [...lines, `${formatClock(createdAt + began * 1000)}, ${formatDuration(end - began)}`] };
}

function gapHit(drawing: Drawing, starts: readonly Start[], px: number, py: number): Hit | null {
  const { input, x, lanes, laneY, barHeight, gaps } = drawing;
  const { timeline, createdAt } = input;
  const gap = gaps.find((one) => px >= x(one.from) && px <= x(one.until) && Math.abs(py - laneY(one.worker)) <= barHeight / 2);
  if (!gap) return null;
  const clock = (seconds: number): string => formatClock(createdAt + seconds * 1000);
  const outcome = (index: number): string => (timeline.outcomes[timeline.outcome[index] as number] ?? '').replaceAll('_', ' ');
  return {
    x: px, y: py,
    lines: [
      `${lanes[gap.worker]?.name ?? ''}: ${input.nothing}`,
      `${clock(gap.from)} to ${clock(gap.until)}, ${formatDuration(gap.until - gap.from)}`,
      ...(gap.before === null ? [] : [`before: ${input.say(gap.before).title}, ${outcome(gap.before)}`]),
      ...(gap.after === null ? [] : [`after: ${input.say(gap.after).title}${startWords[starts[gap.after] as Start]}`]),
      ...(input.why?.(gap.from, gap.until, lanes[gap.worker]?.workers ?? []) ?? []),
    ],
  };
}

function drawingOf(input: TimelineInput, width: number, height: number, starts: readonly Start[]): Drawing {
  const { timeline, now } = input;
  const names = Math.min(150, width * 0.25);
  const box: Box = { left: names, top: 6, right: width - 12, bottom: height - foot };
  const endOf = (index: number): number => timeline.ended[index] ?? now;
  const first = timeline.began.reduce<number>((least, began) => Math.min(least, began), Infinity);
  const last = timeline.began.reduce<number>((most, _, index) => Math.max(most, endOf(index)), 0);
  const range = input.range ?? [Number.isFinite(first) ? first : 0, last];
  const x = makeScale('linear', range, [box.left, box.right], false);
  const inside = (pixel: number): number => Math.min(box.right, Math.max(box.left, pixel));
  const { lanes, laneOf } = lanesOf(timeline, now);
  const laneHeight = laneHeightOf(lanes.length);
  const laneY = (lane: number): number => box.top + (lane + 0.5) * laneHeight;
  const least = Math.abs(x.invert(box.left + 3) - x.invert(box.left)); // seconds: what is narrower cannot be pointed at
  const within = { now, least, laneOf, ...(input.range ? { from: range[0], until: Math.min(range[1], now) } : {}) };
  const bars = timeline.trial.map((_, index): Bar => ({
    index,
    start: starts[index] as Start,
    x0: inside(x(timeline.began[index] as number)),
    x1: inside(x(endOf(index))),
    y: laneY(laneOf[timeline.worker[index] as number] ?? 0),
    outcome: timeline.outcomes[timeline.outcome[index] as number] ?? '',
    several: timeline.segments?.[index] ?? 1,
  }));
  return { input, box, x, lanes, laneY, barHeight: laneHeight * (2 / 3), bars, gaps: gapsOf(timeline, within), idle: idleTimes(timeline, within) };
}

export function timelineScene(input: TimelineInput): MakeScene {
  return ({ width, height, palette }) => {
    const { timeline, createdAt } = input;
    const starts = startsOf(timeline);
    const drawing = drawingOf(input, width, height, starts);
    const { box, x, bars, barHeight, idle } = drawing;
    const swept = signal<[number, number] | null>(null);
    const outline = (pen: Pen, trial: number, color: string): void => {
      pen.strokeStyle = color;
      pen.lineWidth = 2;
      for (const bar of bars) {
        if (input.say(bar.index).trial === trial) pen.strokeRect(bar.x0 - 1, bar.y - barHeight / 2 - 1, Math.max(3, bar.x1 - bar.x0 + 2), barHeight + 2);
      }
    };
    return {
      draw(pen) {
        const ms = (seconds: number): number => createdAt + seconds * 1000;
        const round = roundTimes(ms(x.invert(box.left)), ms(x.invert(box.right)), (box.right - box.left) / pixelsPerTick).map((at) => (at - createdAt) / 1000);
        const ticks = round.length > 1 ? { ticks: round, format: (seconds: number) => formatRoundTime(Math.round(ms(seconds))) } : { format: (seconds: number) => formatClock(ms(seconds)) };
        drawXAxis(pen, palette, box, x, { label: 'time', ...ticks });
        drawLanes(pen, palette, drawing);
        pen.fillStyle = palette.states['failed'] ?? palette.text;
        pen.globalAlpha = 0.13;
        for (const [from, until] of idle) pen.fillRect(x(from), box.top, x(until) - x(from), box.bottom - box.top);
        pen.globalAlpha = 1;
        for (const bar of bars) drawBar(pen, palette, drawing, bar);
      },
      over(pen, { hovered, selected }) {
        for (const trial of selected) outline(pen, trial, palette.accent);
        if (hovered !== null) outline(pen, hovered, palette.text);
        if (!swept.value) return;
        pen.fillStyle = palette.accent;
        pen.globalAlpha = 0.25;
        pen.fillRect(swept.value[0], box.top, swept.value[1] - swept.value[0], box.bottom - box.top);
        pen.globalAlpha = 1;
      },
      hit(px, py) {
        const bar = bars.findLast((one) => px >= one.x0 - 2 && px <= one.x1 + 2 && Math.abs(py - one.y) <= barHeight / 2);
        return bar ? barHit(drawing, bar, px, py) : gapHit(drawing, starts, px, py);
      },
      sweep(from, to, done) {
        if (!input.zoom) return false;
        const ends = [from.x, to.x].map((end) => Math.min(box.right, Math.max(box.left, end))).sort((a, b) => a - b) as [number, number];
        swept.value = done ? null : ends;
        if (done && ends[1] > ends[0]) input.zoom(x.invert(ends[0]), x.invert(ends[1]));
        return true;
      },
      order: () => [...new Set(bars.flatMap((bar) => input.say(bar.index).trial ?? []))],
      tell: (trial) => {
        const bar = bars.find((one) => input.say(one.index).trial === trial);
        return bar ? barHit(drawing, bar, (bar.x0 + bar.x1) / 2, bar.y) : null;
      },
    };
  };
}
