// What each worker did, as bars over time: which trial, from where to where, and how it ended. What is empty was idle: the
// pointer tells how long, and between what.
import type { Timeline } from '../api/columns.ts';
import { formatClock, formatDuration } from '../data/numbers.ts';
import type { Palette } from '../state/theme.ts';
import { drawXAxis, fitText, labelFont, makeScale, smallFont, type Box } from './axes.ts';
import { gapsOf, idleTimes, startsOf, type Start } from '../data/segments.ts';
import type { Hit, MakeScene } from './scene.ts';
import type { Pen } from './svg_pen.ts';

export const laneHeight = 30;
const foot = 42;
const barHeight = 20;

export const timelineHeight = (workers: number): number => Math.max(2, workers) * laneHeight + foot + 8;

export interface TimelineInput {
  timeline: Timeline;
  createdAt: number; // milliseconds
  now: number; // seconds since then
  resourceName: string;
  shown: (trial: number) => boolean;
}

const good = new Set(['reached_rung', 'completed']);
const harmless = new Set(['stopped', 'cancelled', 'given_back']);

export const isLoss = (outcome: string): boolean => outcome !== '' && !good.has(outcome) && !harmless.has(outcome);

function colorOf(palette: Palette, outcome: string): string {
  if (outcome === '') return palette.states['running'] ?? palette.accent;
  if (good.has(outcome)) return palette.states['completed'] ?? palette.accent;
  if (harmless.has(outcome)) return palette.states['stopped'] ?? palette.muted;
  return palette.states['failed'] ?? palette.text;
}

const startWords: Record<Start, string> = { anew: '', straight_on: ', straight on', from_checkpoint: ', from its checkpoint' };

// "local-1" of the id "local-1-a63184a1292cb8c6".
export const shortWorker = (id: string): string => id.replace(/-[0-9a-f]{16}$/, '');

interface Bar {
  index: number;
  start: Start;
  x0: number;
  x1: number;
  y: number;
  outcome: string;
}

function drawBar(pen: Pen, palette: Palette, bar: Bar, trial: number, faint: boolean): void {
  const width = Math.max(1.5, bar.x1 - bar.x0 - 0.5);
  pen.globalAlpha = faint ? 0.12 : 0.85;
  pen.fillStyle = colorOf(palette, bar.outcome);
  const failed = isLoss(bar.outcome);
  pen.fillRect(bar.x0, bar.y - (failed ? barHeight / 4 : barHeight / 2), width, failed ? barHeight / 2 : barHeight); // a loss is thinner too
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
  if (width < 22 || faint) return;
  pen.font = smallFont;
  pen.textAlign = 'left';
  pen.textBaseline = 'middle';
  pen.fillStyle = palette.surface;
  pen.fillText(fitText(pen, String(trial), width - (bar.start === 'anew' ? 6 : 11)), bar.x0 + (bar.start === 'anew' ? 4 : 9), bar.y);
}

export function timelineScene({ timeline, createdAt, now, resourceName, shown }: TimelineInput): MakeScene {
  return ({ width, height, palette }) => {
    const names = Math.min(150, width * 0.25);
    const box: Box = { left: names, top: 6, right: width - 12, bottom: height - foot };
    const endOf = (index: number): number => timeline.ended[index] ?? now;
    const first = timeline.began.reduce<number>((least, began) => Math.min(least, began), Infinity);
    const last = timeline.began.reduce<number>((most, _, index) => Math.max(most, endOf(index)), 0);
    const x = makeScale('linear', [Number.isFinite(first) ? first : 0, last], [box.left, box.right], false);
    const laneOf = (worker: number): number => box.top + (worker + 0.5) * laneHeight;
    const starts = startsOf(timeline);
    const leastShown = Math.abs(x.invert(box.left + 3) - x.invert(box.left)); // seconds: what is narrower cannot be pointed at
    const gaps = gapsOf(timeline, now, leastShown);
    const idle = idleTimes(timeline, now, leastShown);
    const bars: Bar[] = timeline.trial.map((_, index) => ({
      index,
      start: starts[index] as Start,
      x0: x(timeline.began[index] as number),
      x1: x(endOf(index)),
      y: laneOf(timeline.worker[index] as number),
      outcome: timeline.outcomes[timeline.outcome[index] as number] ?? '',
    }));
    const outcomeOf = (index: number): string => (timeline.outcomes[timeline.outcome[index] as number] ?? '').replaceAll('_', ' ');
    const gapAt = (px: number, py: number): Hit | null => {
      const gap = gaps.find((one) => px >= x(one.from) && px <= x(one.until) && Math.abs(py - laneOf(one.worker)) <= barHeight / 2);
      if (!gap) return null;
      const clock = (seconds: number): string => formatClock(createdAt + seconds * 1000);
      return {
        x: px, y: py,
        lines: [
          `${shortWorker(timeline.workers[gap.worker] ?? '')}: nothing of this job`,
          `${clock(gap.from)} to ${clock(gap.until)}, ${formatDuration(gap.until - gap.from)}`,
          ...(gap.before === null ? [] : [`before: trial ${timeline.trial[gap.before]}, ${outcomeOf(gap.before)}`]),
          ...(gap.after === null ? [] : [`after: trial ${timeline.trial[gap.after]}${startWords[starts[gap.after] as Start]}`]),
        ],
      };
    };
    const outline = (pen: Pen, trial: number, color: string): void => {
      pen.strokeStyle = color;
      pen.lineWidth = 2;
      for (const bar of bars) {
        if (timeline.trial[bar.index] === trial) pen.strokeRect(bar.x0 - 1, bar.y - barHeight / 2 - 1, Math.max(3, bar.x1 - bar.x0 + 2), barHeight + 2);
      }
    };
    return {
      draw(pen) {
        drawXAxis(pen, palette, box, x, { label: 'time', format: (seconds) => formatClock(createdAt + seconds * 1000) });
        timeline.workers.forEach((worker, index) => {
          pen.font = labelFont;
          pen.textAlign = 'left';
          pen.textBaseline = 'middle';
          pen.fillStyle = palette.text;
          pen.fillText(fitText(pen, shortWorker(worker), names - 10), 4, laneOf(index));
          pen.fillStyle = palette.grid;
          pen.globalAlpha = 0.5;
          pen.fillRect(box.left, laneOf(index) - barHeight / 2, box.right - box.left, barHeight);
          pen.globalAlpha = 1;
        });
        pen.fillStyle = palette.states['failed'] ?? palette.text;
        pen.globalAlpha = 0.13;
        for (const [from, until] of idle) pen.fillRect(x(from), box.top, x(until) - x(from), box.bottom - box.top);
        pen.globalAlpha = 1;
        for (const bar of bars) drawBar(pen, palette, bar, timeline.trial[bar.index] as number, !shown(timeline.trial[bar.index] as number));
      },
      over(pen, { hovered, selected }) {
        for (const trial of selected) outline(pen, trial, palette.accent);
        if (hovered !== null) outline(pen, hovered, palette.text);
      },
      hit(px, py) {
        const bar = bars.findLast((one) => px >= one.x0 - 2 && px <= one.x1 + 2 && Math.abs(py - one.y) <= barHeight / 2);
        if (!bar) return gapAt(px, py);
        const i = bar.index;
        const [began, end] = [timeline.began[i] as number, endOf(i)];
        const rank = (timeline.rank[i] ?? 0) > 0 ? `, rank ${timeline.rank[i]}` : '';
        return {
          trial: timeline.trial[i] as number, x: px, y: py,
          lines: [
            `trial ${timeline.trial[i]}${rank} on ${shortWorker(timeline.workers[timeline.worker[i] as number] ?? '')}`,
            `${resourceName} ${timeline.from_resource[i]} to ${timeline.until_resource[i]}${startWords[bar.start]}`,
            `${formatClock(createdAt + began * 1000)}, ${formatDuration(end - began)}`,
            `${bar.outcome === '' ? 'under way' : bar.outcome.replaceAll('_', ' ')}${(timeline.attempt[i] ?? 1) > 1 ? `, attempt ${timeline.attempt[i]}` : ''}`,
          ],
        };
      },
      order: () => [...new Set(timeline.trial)],
      place: (trial) => {
        const bar = bars.find((one) => timeline.trial[one.index] === trial);
        return bar ? { x: (bar.x0 + bar.x1) / 2, y: bar.y } : null;
      },
    };
  };
}
