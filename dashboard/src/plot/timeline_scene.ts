// What each worker did, as bars over time: which trial, from where to where, and how it ended. What is empty was idle.
import type { Timeline } from '../api/columns.ts';
import { formatClock, formatDuration } from '../data/numbers.ts';
import type { Palette } from '../state/theme.ts';
import { drawXAxis, fitText, labelFont, makeScale, smallFont, type Box } from './axes.ts';
import type { MakeScene } from './scene.ts';
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

interface Bar {
  index: number;
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
  if (width < 22 || faint) return;
  pen.font = smallFont;
  pen.textAlign = 'left';
  pen.textBaseline = 'middle';
  pen.fillStyle = palette.surface;
  pen.fillText(fitText(pen, String(trial), width - 6), bar.x0 + 4, bar.y);
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
    const bars: Bar[] = timeline.trial.map((_, index) => ({
      index,
      x0: x(timeline.began[index] as number),
      x1: x(endOf(index)),
      y: laneOf(timeline.worker[index] as number),
      outcome: timeline.outcomes[timeline.outcome[index] as number] ?? '',
    }));
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
          pen.fillText(fitText(pen, worker, names - 10), 4, laneOf(index));
          pen.fillStyle = palette.grid;
          pen.globalAlpha = 0.5;
          pen.fillRect(box.left, laneOf(index) - barHeight / 2, box.right - box.left, barHeight);
          pen.globalAlpha = 1;
        });
        for (const bar of bars) drawBar(pen, palette, bar, timeline.trial[bar.index] as number, !shown(timeline.trial[bar.index] as number));
      },
      over(pen, { hovered, selected }) {
        for (const trial of selected) outline(pen, trial, palette.accent);
        if (hovered !== null) outline(pen, hovered, palette.text);
      },
      hit(px, py) {
        const bar = bars.findLast((one) => px >= one.x0 - 2 && px <= one.x1 + 2 && Math.abs(py - one.y) <= barHeight / 2);
        if (!bar) return null;
        const i = bar.index;
        const [began, end] = [timeline.began[i] as number, endOf(i)];
        const rank = (timeline.rank[i] ?? 0) > 0 ? `, rank ${timeline.rank[i]}` : '';
        return {
          trial: timeline.trial[i] as number, x: px, y: py,
          lines: [
            `trial ${timeline.trial[i]}${rank} on ${timeline.workers[timeline.worker[i] as number]}`,
            `${resourceName} ${timeline.from_resource[i]} to ${timeline.until_resource[i]}`,
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
