// Best so far as a step line over a cost, with the trials that it is made of.
import { formatNumber } from '../data/numbers.ts';
import type { BestSoFar, Point, Step } from '../data/best_so_far.ts';
import type { Palette } from '../state/theme.ts';
import { drawNothing, drawXAxis, drawYAxis, extentByGoal, makeScale, noValues, type Box, type Scale, type ScaleKind } from './axes.ts';
import { drawHalo, markFor, thinned } from './marks.ts';
import { nearest, type MakeScene } from './scene.ts';
import type { Pen } from './svg_pen.ts';

export interface HistorySeries extends BestSoFar {
  name: string; // of the job, when several are compared
  color: (palette: Palette) => string;
  dash: number[];
}

export interface HistoryInput {
  series: readonly HistorySeries[];
  metric: string;
  cost: { label: string; format: (value: number) => string; say: (value: number) => string; durations?: boolean };
  x: ScaleKind;
  y: ScaleKind;
  goal: 'maximize' | 'minimize';
  linked: boolean; // its points are this page's trials
  ended: boolean; // no more values come
}

function drawSteps(pen: Pen, steps: readonly Step[], end: number, x: Scale, y: Scale): void {
  const [first, ...rest] = steps;
  if (!first) return;
  pen.beginPath();
  pen.moveTo(x(first.cost), y(first.value));
  let before: Step = first;
  for (const step of rest) {
    pen.lineTo(x(step.cost), y(before.value));
    pen.lineTo(x(step.cost), y(step.value));
    before = step;
  }
  pen.lineTo(x(Math.max(end, before.cost)), y(before.value));
  pen.stroke();
}

interface Place {
  trial: number;
  series: HistorySeries;
  point: Point;
  x: number;
  y: number;
}

function drawPoint(pen: Pen, palette: Palette, { point, series, x, y }: Place, linked: boolean, count: number): void {
  pen.globalAlpha = (point.counts ? 0.9 : 0.45) * (count > 400 ? 0.6 : 1);
  if (linked) return markFor(count)(pen, palette, point.state, x, y, point.counts ? 4 : 2.8);
  if (!point.counts) return;
  pen.fillStyle = series.color(palette);
  pen.fillRect(x - 1.8, y - 1.8, 3.6, 3.6);
}

function drawSeries(pen: Pen, series: HistorySeries, linked: boolean, palette: Palette, x: Scale, y: Scale): void {
  pen.strokeStyle = series.color(palette);
  pen.lineWidth = 1.2;
  pen.setLineDash(linked ? [4, 3] : [1, 2]);
  drawSteps(pen, series.anywhere, series.end, x, y);
  pen.lineWidth = 2.2;
  pen.setLineDash(series.dash);
  drawSteps(pen, series.steps, series.end, x, y);
  pen.setLineDash([]);
}

export function historyScene(input: HistoryInput): MakeScene {
  return ({ width, height, palette }) => {
    const box: Box = { left: 62, top: 26, right: width - 14, bottom: height - 42 };
    const { series, goal } = input;
    const all = series.flatMap((one) => (input.linked ? one.points : one.points.filter((point) => point.counts)));
    const lines = series.flatMap((one) => one.anywhere);
    const ends = series.map((one) => one.end);
    const positive = all.map((point) => point.cost).filter((cost) => cost > 0);
    const start = input.x === 'log' ? Math.min(...positive, ...ends) : 0;
    const x = makeScale(input.x, [start, Math.max(0, ...ends) || 1], [box.left, box.right], false);
    const values = [...all, ...lines].map((point) => point.value);
    const y = makeScale(input.y, extentByGoal(values, goal), [box.bottom, box.top]);
    const places: Place[] = series.flatMap((one) =>
      one.points.map((point) => ({ trial: point.trial, series: one, point, x: x(point.cost), y: Math.min(box.bottom, Math.max(box.top, y(point.value))) })),
    );
    return {
      draw(pen) {
        drawXAxis(pen, palette, box, x, { ...input.cost, durations: input.cost.durations === true && input.x === 'linear' });
        drawYAxis(pen, palette, box, y, { label: input.metric });
        pen.save();
        pen.beginPath();
        pen.rect(box.left, box.top - 4, box.right - box.left + 4, box.bottom - box.top + 8);
        pen.clip();
        for (const place of thinned(places, width, height)) drawPoint(pen, palette, place, input.linked, places.length);
        pen.globalAlpha = 1;
        for (const one of series) drawSeries(pen, one, input.linked, palette, x, y);
        pen.restore();
        if (values.length === 0) drawNothing(pen, palette, box, noValues(input.ended));
      },
      over(pen, { hovered, selected }) {
        if (!input.linked) return;
        for (const place of places) {
          if (selected.has(place.trial) || hovered === place.trial) drawHalo(pen, palette, place.x, place.y, 6);
        }
      },
      hit(px, py) {
        const found = nearest(places, px, py) as Place | null;
        if (!found) return null;
        const name = found.series.name === '' ? '' : ` of ${found.series.name}`;
        const lines = [`trial ${found.trial}${name}`, `${input.metric} ${formatNumber(found.point.value)}`, `after ${input.cost.say(found.point.cost)}`];
        return { ...(input.linked ? { trial: found.trial } : {}), x: found.x, y: found.y, lines };
      },
      order: () => (input.linked ? places.map((place) => place.trial) : []),
      place: (trial) => places.find((place) => place.trial === trial) ?? null,
    };
  };
}
