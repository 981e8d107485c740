// One parameter against the objective, and what the model makes of it: the mean over all values of the others, with its deviation.
import type { Importance, Job } from '../api/shapes.ts';
import { formatNumber, formatValue } from '../data/numbers.ts';
import { placeOf, type Parameter } from '../data/space.ts';
import { valueOf, type TrialRow, type TrialTable } from '../data/trials.ts';
import { drawXAxis, drawYAxis, extentByGoal, makeScale, parameterAxis, type Box, type Scale } from './axes.ts';
import { drawHalo, markFor, thinned } from './marks.ts';
import { nearest, type MakeScene } from './scene.ts';

export interface SliceInput {
  job: Job;
  table: TrialTable;
  rows: readonly TrialRow[];
  parameter: Parameter;
  dependence: Importance['dependence'][number] | undefined;
}

export function sliceScene(input: SliceInput): MakeScene {
  return ({ width, height, palette }) => {
    const { job, table, rows, parameter, dependence } = input;
    const box: Box = { left: 58, top: 24, right: width - 14, bottom: height - 40 };
    const x: Scale = makeScale('linear', [0, 1], [box.left, box.right], false);
    const values = rows.map((row) => valueOf(row) ?? NaN).concat(dependence?.mean ?? []);
    const y = makeScale('linear', extentByGoal(values, job.objective.goal), [box.bottom, box.top]);
    const clamp = (pixel: number): number => Math.min(box.bottom, Math.max(box.top, pixel));
    const column = table.parameters.get(parameter.name) ?? [];
    const placeOfRow = table.placesOf(parameter);
    const points = rows.flatMap((row) => {
      const place = placeOfRow[table.find(row.number) ?? -1] ?? NaN;
      const value = valueOf(row) ?? NaN;
      if (!Number.isFinite(value) || Number.isNaN(place)) return [];
      return [{ trial: row.number, row, x: x(place), y: clamp(y(value)) }];
    });
    const model = (dependence?.values ?? []).map((value, index) => ({
      x: x(placeOf(parameter, value)),
      mean: dependence?.mean[index] as number,
      deviation: dependence?.deviation[index] as number,
    })).filter((point) => Number.isFinite(point.x));
    return {
      draw(pen) {
        drawXAxis(pen, palette, box, x, parameterAxis(parameter));
        drawYAxis(pen, palette, box, y, { label: job.objective.metric });
        if (model.length > 1) {
          pen.fillStyle = palette.best;
          pen.globalAlpha = 0.16;
          pen.beginPath();
          model.forEach((point, index) => {
            const at = clamp(y(point.mean + point.deviation));
            if (index === 0) pen.moveTo(point.x, at);
            else pen.lineTo(point.x, at);
          });
          for (const point of [...model].reverse()) pen.lineTo(point.x, clamp(y(point.mean - point.deviation)));
          pen.closePath();
          pen.fill();
        }
        pen.globalAlpha = points.length > 500 ? 0.35 : 0.75;
        const draw = markFor(points.length);
        for (const point of thinned(points, width, height)) draw(pen, palette, point.row.state, point.x, point.y, 3);
        pen.globalAlpha = 1;
        pen.strokeStyle = palette.best;
        pen.lineWidth = 2;
        pen.beginPath();
        model.forEach((point, index) => (index === 0 ? pen.moveTo(point.x, clamp(y(point.mean))) : pen.lineTo(point.x, clamp(y(point.mean)))));
        pen.stroke();
      },
      over(pen, { hovered, selected }) {
        for (const point of points) if (point.trial === hovered || selected.has(point.trial)) drawHalo(pen, palette, point.x, point.y, 6);
      },
      hit(px, py) {
        const found = nearest(points, px, py) as (typeof points)[number] | null;
        if (!found) return null;
        const value = formatValue(column[table.find(found.trial) ?? -1]);
        return { trial: found.trial, x: found.x, y: found.y, lines: [`trial ${found.trial} · ${found.row.state}`, `${job.objective.metric} ${formatNumber(valueOf(found.row))}`, `${parameter.name} ${value}`] };
      },
      order: () => [...points].sort((a, b) => a.x - b.x).map((point) => point.trial),
      place: (trial) => points.find((point) => point.trial === trial) ?? null,
    };
  };
}
