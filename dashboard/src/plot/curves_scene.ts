// Learning curves of many trials: stopped ones faint, those under way and the best strong, rungs as lines across.
import type { Job } from '../api/shapes.ts';
import { units } from '../data/explain.ts';
import { formatNumber } from '../data/numbers.ts';
import type { TrialRow } from '../data/trials.ts';
import type { Curve } from '../state/curve_store.ts';
import type { Palette } from '../state/theme.ts';
import { drawNothing, drawXAxis, drawYAxis, extentByGoal, extentOf, gridLine, makeScale, noValues, rowOfTexts, smallFont, type Box, type Scale, type ScaleKind } from './axes.ts';
import { strokeBroken } from './broken_line.ts';
import { drawHalo, drawMark } from './marks.ts';
import { nearest, type MakeScene } from './scene.ts';
import type { Pen } from './svg_pen.ts';

export interface CurvesInput {
  job: Job;
  rows: readonly TrialRow[]; // what is shown
  curves: ReadonlyMap<number, Curve>;
  loaded: boolean; // all that there are
  best: number | null;
  ladder: readonly number[];
  x: ScaleKind;
  y: ScaleKind;
  whole: boolean; // the whole range of values, else without the worst outliers
}

const outliers = 0.02;
const dotsUpTo = 400; // trials, above which only the curves are drawn

interface DrawnCurve {
  row: TrialRow;
  curve: Curve;
}

interface CurvePoint {
  trial: number;
  index: number;
  x: number;
  y: number;
}

function shownCurves(input: CurvesInput): DrawnCurve[] {
  const order: Record<string, number> = { stopped: 0, cancelled: 0, failed: 0, paused: 1, completed: 2, running: 3 };
  const drawn = input.rows.flatMap((row) => {
    const curve = input.curves.get(row.number);
    return curve && curve.resource.length > 0 ? [{ row, curve }] : [];
  });
  return drawn.sort((a, b) => (order[a.row.state] ?? 0) - (order[b.row.state] ?? 0));
}

// The range of values: what the worst trials did in their first steps shall not flatten all the others.
function valueRange(drawn: readonly DrawnCurve[], input: CurvesInput): [number, number] {
  const values = drawn.flatMap(({ curve }) => curve.value);
  return input.whole ? extentOf(values) : extentByGoal(values, input.job.objective.goal, outliers);
}

// What is no number is a gap in it, and is marked at the edge.
function tracePath(pen: Pen, { curve }: DrawnCurve, x: Scale, y: Scale): void {
  strokeBroken(pen, curve.resource.length, (index) => x(curve.resource[index] as number), (index) => y(curve.value[index] as number));
}

function drawCurve(pen: Pen, palette: Palette, drawn: DrawnCurve, x: Scale, y: Scale, many: boolean): void {
  const { state } = drawn.row;
  const faint = state === 'stopped' || state === 'cancelled';
  pen.strokeStyle = palette.states[state] ?? palette.muted;
  pen.globalAlpha = faint ? (many ? 0.18 : 0.4) : many ? 0.5 : 0.9;
  pen.lineWidth = faint ? 1 : 1.5;
  pen.setLineDash(state === 'running' ? [5, 3] : []);
  tracePath(pen, drawn, x, y);
  pen.setLineDash([]);
  pen.globalAlpha = 1;
}

// What is not a number has no height: a mark at the top edge says where it was seen, once where many would stand in one place.
function drawNotFinite(pen: Pen, palette: Palette, drawn: readonly DrawnCurve[], x: Scale, box: Box): void {
  pen.fillStyle = palette.states['failed'] ?? palette.text;
  pen.font = smallFont;
  pen.textAlign = 'center';
  pen.textBaseline = 'top';
  const fits = rowOfTexts();
  for (const { curve } of drawn) {
    curve.value.forEach((value, index) => {
      if (Number.isFinite(value)) return;
      const text = formatNumber(value);
      const half = pen.measureText(text).width / 2;
      const at = x(curve.resource[index] as number);
      if (fits(at - half, at + half)) pen.fillText(text, at, box.top + 2);
    });
  }
}

function drawRungs(pen: Pen, palette: Palette, ladder: readonly number[], x: Scale, box: Box): void {
  pen.setLineDash([2, 4]);
  for (const resource of ladder) {
    pen.strokeStyle = palette.faint;
    pen.lineWidth = 1;
    pen.beginPath();
    pen.moveTo(x(resource), box.top);
    pen.lineTo(x(resource), box.bottom);
    pen.stroke();
  }
  pen.setLineDash([]);
}

export function curvesScene(input: CurvesInput): MakeScene {
  return ({ width, height, palette }) => {
    const { job, ladder } = input;
    const box: Box = { left: 62, top: 26, right: width - 14, bottom: height - 42 };
    const drawn = shownCurves(input);
    const longest = Math.max(job.max_resource, ...drawn.map(({ curve }) => curve.resource.at(-1) ?? 0));
    const first = Math.min(...drawn.map(({ curve }) => curve.resource[0] ?? 1), ladder[0] ?? 1);
    const x = makeScale(input.x, [input.x === 'log' ? Math.max(1, first) : 0, longest], [box.left, box.right], false);
    const y = makeScale(input.y, valueRange(drawn, input), [box.bottom, box.top]);
    const many = drawn.length > dotsUpTo;
    const ends = drawn.map(({ row, curve }) => ({
      trial: row.number,
      x: x(curve.resource.at(-1) ?? 0),
      y: Math.min(box.bottom, Math.max(box.top, y(lastFinite(curve)))),
    }));
    let points: CurvePoint[] | null = null; // what the pointer may hit, computed when there is one
    const pointsOnce = (): CurvePoint[] =>
      (points ??= drawn.flatMap(({ row, curve }) =>
        curve.resource.map((resource, index) => ({ trial: row.number, index, x: x(resource), y: y(curve.value[index] as number) })),
      ));
    const byTrial = new Map(drawn.map((one) => [one.row.number, one]));
    const strong = (pen: Pen, trial: number, color: string, lineWidth: number): void => {
      const one = byTrial.get(trial);
      if (!one) return;
      pen.save();
      pen.beginPath();
      pen.rect(box.left, box.top, box.right - box.left, box.bottom - box.top);
      pen.clip();
      pen.strokeStyle = color;
      pen.lineWidth = lineWidth;
      tracePath(pen, one, x, y);
      pen.restore();
      const end = ends.find((place) => place.trial === trial);
      if (end) drawHalo(pen, palette, end.x, end.y, 6);
    };
    return {
      draw(pen) {
        drawXAxis(pen, palette, box, x, { label: job.resource_name, whole: true, ...(input.x === 'log' && ladder.length > 1 && ladder.length < 12 ? { ticks: [...ladder] } : {}) });
        drawYAxis(pen, palette, box, y, { label: job.objective.metric });
        drawRungs(pen, palette, ladder, x, box);
        gridLine(pen, palette, box.left, box.bottom, box.right, box.bottom);
        pen.save();
        pen.beginPath();
        pen.rect(box.left, box.top - 2, box.right - box.left, box.bottom - box.top + 4);
        pen.clip();
        for (const one of drawn) drawCurve(pen, palette, one, x, y, many);
        drawNotFinite(pen, palette, drawn, x, box);
        pen.restore();
        if (!many) ends.forEach((end, index) => drawMark(pen, palette, drawn[index]?.row.state ?? '', end.x, end.y, 3.5));
        if (drawn.length === 0) drawNothing(pen, palette, box, input.loaded ? noValues(job.ended_at !== null) : 'loading…');
        if (input.best !== null) strong(pen, input.best, palette.best, 2.5);
      },
      over(pen, { hovered, selected }) {
        for (const trial of selected) strong(pen, trial, palette.accent, 2.5);
        if (hovered !== null) strong(pen, hovered, palette.text, 2);
      },
      hit(px, py) {
        const found = nearest(pointsOnce(), px, py) as CurvePoint | null;
        const one = found && byTrial.get(found.trial);
        if (!found || !one) return null;
        const { curve, row } = one;
        const at = `${formatNumber(curve.value[found.index])} at ${units(curve.resource[found.index] as number, job.resource_name)}`;
        return { trial: row.number, x: found.x, y: found.y, lines: [`trial ${row.number} · ${row.state}`, at] };
      },
      order: () => drawn.map(({ row }) => row.number).sort((a, b) => a - b),
      place: (trial) => ends.find((end) => end.trial === trial) ?? null,
    };
  };
}

function lastFinite(curve: Curve): number {
  return curve.value.findLast(Number.isFinite) ?? NaN;
}
