// Two numbers of each trial against each other, with a line through those that nothing else beats in both: a Pareto front.
import type { Objective } from '../api/shapes.ts';
import { formatNumber } from '../data/numbers.ts';
import { drawXAxis, drawYAxis, extentByGoal, extentOf, makeScale, type Box, type ScaleKind } from './axes.ts';
import { drawHalo, markFor, thinned } from './marks.ts';
import { nearest, type MakeScene } from './scene.ts';

export interface Point {
  trial: number;
  state: string;
  a: number;
  b: number;
  faint: boolean; // dominated, or outside of the constraints
  color?: string;
}

export interface Front {
  trials: readonly number[];
  color: string | null; // null: the best's
}

export interface PointsInput {
  x: { label: string; kind: ScaleKind; format?: (value: number) => string };
  y: { label: string; goal: Objective['goal'] };
  points: readonly Point[];
  fronts: readonly Front[];
}

export function pointsScene({ x: xAxis, y: yAxis, points, fronts }: PointsInput): MakeScene {
  return ({ width, height, palette }) => {
    const box: Box = { left: 62, top: 26, right: width - 14, bottom: height - 42 };
    const x = makeScale(xAxis.kind, extentOf(points.map((point) => point.a)), [box.left, box.right]);
    const y = makeScale('linear', extentByGoal(points.map((point) => point.b), yAxis.goal, points.length > 20 ? 0.02 : 0), [box.bottom, box.top]);
    const places = points
      .map((point) => ({ ...point, x: x(point.a), y: Math.min(box.bottom, Math.max(box.top, y(point.b))) }))
      .filter((place) => Number.isFinite(place.x) && Number.isFinite(place.y));
    const byTrial = new Map(places.map((place) => [place.trial, place]));
    return {
      draw(pen) {
        drawXAxis(pen, palette, box, x, xAxis);
        drawYAxis(pen, palette, box, y, yAxis);
        const draw = markFor(places.length);
        for (const place of thinned(places, width, height)) {
          pen.globalAlpha = place.faint ? 0.35 : 1;
          const colored = place.color ? { ...palette, states: { ...palette.states, [place.state]: place.color } } : palette;
          draw(pen, colored, place.state, place.x, place.y, 4);
        }
        pen.globalAlpha = 1;
        for (const front of fronts) {
          pen.strokeStyle = front.color ?? palette.best;
          pen.lineWidth = 1.8;
          pen.beginPath();
          const line = front.trials.flatMap((trial) => byTrial.get(trial) ?? []).sort((a, b) => a.x - b.x);
          line.forEach((place, index) => (index === 0 ? pen.moveTo(place.x, place.y) : pen.lineTo(place.x, place.y)));
          pen.stroke();
        }
      },
      over(pen, { hovered, selected }) {
        for (const place of places) if (place.trial === hovered || selected.has(place.trial)) drawHalo(pen, palette, place.x, place.y, 7);
      },
      hit(px, py) {
        const found = nearest(places, px, py) as (typeof places)[number] | null;
        if (!found) return null;
        const say = xAxis.format ?? formatNumber;
        return { trial: found.trial, x: found.x, y: found.y, lines: [`trial ${found.trial} · ${found.state}`, `${xAxis.label} ${say(found.a)}`, `${yAxis.label} ${formatNumber(found.b)}`] };
      },
      order: () => [...places].sort((a, b) => a.x - b.x).map((place) => place.trial),
      place: (trial) => byTrial.get(trial) ?? null,
    };
  };
}
