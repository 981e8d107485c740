// Two parameters against each other: where the good trials are.
import type { Job } from '../api/shapes.ts';
import { formatNumber, formatValue } from '../data/numbers.ts';
import type { Parameter } from '../data/space.ts';
import { valueOf, type TrialRow, type TrialTable } from '../data/trials.ts';
import { drawXAxis, drawYAxis, makeScale, parameterAxis, type Box } from './axes.ts';
import { colorScale } from './colors.ts';
import { drawHalo, drawMark, markFor, thinned } from './marks.ts';
import { nearest, type Hit, type MakeScene } from './scene.ts';
import { cellAt, drawSheet, type Sheet } from './surface.ts';
import type { Pen } from './svg_pen.ts';
import type { Palette } from '../state/theme.ts';

export interface PairInput {
  job: Job;
  table: TrialTable;
  rows: readonly TrialRow[];
  a: Parameter;
  b: Parameter;
  sheet: Sheet | null; // what the model makes of them
}

// The first and the last category stand in the middle of their cells.
function inset(parameter: Parameter, from: number, to: number): [number, number] {
  const half = parameter.scale === 'categories' ? (to - from) / (2 * Math.max(1, parameter.values.length)) : 0;
  return [from + half, to - half];
}

// A mark on its own colour would be lost.
function outline(pen: Pen, palette: Palette, x: number, y: number): void {
  pen.beginPath();
  pen.arc(x, y, 4.8, 0, 2 * Math.PI);
  pen.strokeStyle = palette.surface;
  pen.lineWidth = 1;
  pen.stroke();
}

export function pairScene({ job, table, rows, a, b, sheet }: PairInput): MakeScene {
  return ({ width, height, palette }) => {
    const box: Box = { left: b.scale === 'categories' ? 130 : 62, top: 26, right: width - 14, bottom: height - 42 };
    const x = makeScale('linear', [0, 1], inset(a, box.left, box.right), false);
    const y = makeScale('linear', [0, 1], inset(b, box.bottom, box.top), false);
    const color = colorScale(rows.map((row) => valueOf(row) ?? NaN), job.objective.goal, palette.faint);
    const [columnA, columnB] = [table.parameters.get(a.name) ?? [], table.parameters.get(b.name) ?? []];
    const [placesA, placesB] = [table.placesOf(a), table.placesOf(b)];
    const modelAt = (model: Sheet, px: number, py: number): Hit | null => {
      const cell = cellAt(model, x.invert(px), y.invert(py));
      if (!cell) return null;
      const { surface } = model;
      return { x: px, y: py, lines: [`model: ${formatNumber(cell.mean)} ± ${formatNumber(cell.deviation)}`, `${a.name} ${formatValue(surface.x_values[cell.column])}`, `${b.name} ${formatValue(surface.y_values[cell.row])}`] };
    };
    const merit = (row: TrialRow): number => (job.objective.goal === 'maximize' ? 1 : -1) * (valueOf(row) ?? NaN);
    const points = [...rows]
      .sort((one, other) => (merit(one) - merit(other)) || 0) // the best are drawn last
      .flatMap((row) => {
        const index = table.find(row.number) ?? -1;
        const place = [placesA[index] ?? NaN, placesB[index] ?? NaN] as const;
        return place.some(Number.isNaN) ? [] : [{ trial: row.number, row, index, x: x(place[0]), y: y(place[1]) }];
      });
    return {
      draw(pen) {
        if (sheet) drawSheet(pen, palette, sheet, x, y, color);
        drawXAxis(pen, palette, box, x, parameterAxis(a));
        drawYAxis(pen, palette, box, y, parameterAxis(b));
        const draw = markFor(points.length);
        for (const { row, x: px, y: py } of thinned(points, width, height)) {
          const colored = { ...palette, states: { [row.state]: color(valueOf(row)) } };
          draw(pen, colored, row.state, px, py, 4.2);
          if (sheet && draw === drawMark) outline(pen, palette, px, py);
        }
      },
      over(pen, { hovered, selected }) {
        for (const point of points) if (point.trial === hovered || selected.has(point.trial)) drawHalo(pen, palette, point.x, point.y, 7);
      },
      hit(px, py) {
        const found = nearest(points, px, py) as (typeof points)[number] | null;
        if (!found) return sheet && modelAt(sheet, px, py);
        const say = (parameter: Parameter, column: typeof columnA): string => `${parameter.name} ${formatValue(column[found.index])}`;
        return { trial: found.trial, x: found.x, y: found.y, lines: [`trial ${found.trial} · ${formatNumber(valueOf(found.row))}`, say(a, columnA), say(b, columnB)] };
      },
      order: () => points.map((point) => point.trial),
      place: (trial) => points.find((point) => point.trial === trial) ?? null,
    };
  };
}
