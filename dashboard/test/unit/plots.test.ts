import assert from 'node:assert/strict';
import { test } from 'node:test';
import { drawXAxis, makeScale, parameterAxis, type AxisOptions, type Box, type Scale } from '../../src/plot/axes.ts';
import { curvesScene } from '../../src/plot/curves_scene.ts';
import { coarse, countPairs, fine, opacities } from '../../src/plot/density.ts';
import { historyScene, type HistoryInput } from '../../src/plot/history_scene.ts';
import { thinned } from '../../src/plot/marks.ts';
import { rungsScene } from '../../src/plot/rungs_scene.ts';
import { pointsScene } from '../../src/plot/points_scene.ts';
import { SvgPen } from '../../src/plot/svg_pen.ts';
import { visibleTrials } from '../../src/data/visible.ts';
import { searchedParameters } from '../../src/data/space.ts';
import { bestSoFar } from '../../src/data/best_so_far.ts';
import type { Job, Rung } from '../../src/api/shapes.ts';
import type { Palette } from '../../src/state/theme.ts';
import { judged, rowOf, tableOf } from './tables.ts';

test('lines are counted from bin to bin, those without a place and those that are hidden left out', () => {
  const from = Float64Array.of(0, 0.999, 1, NaN, 0.5, 0.5);
  const to = Float64Array.of(1, 0, 0, 0.5, NaN, 0.5);
  const counts = countPairs(from, to, Uint8Array.of(1, 1, 1, 1, 1, 0), 4);
  assert.deepEqual([...counts].map((count, cell) => [cell, count]).filter(([, count]) => count), [[0 * 4 + 3, 1], [3 * 4 + 0, 2]]);
});

test('density is strongest where most lines go, and a line from foot to head rises', () => {
  for (const grain of [fine, coarse]) {
    const counts = new Uint32Array(grain.bins * grain.bins);
    counts[grain.bins - 1] = 100; // from the lowest bin to the highest
    const found = opacities(counts, grain);
    const rows = 2 * grain.bins;
    const strongestRow = (x: number): number => {
      const column = Array.from({ length: rows }, (_, row) => found[row * grain.columns + x] as number);
      return column.indexOf(Math.max(...column));
    };
    assert.ok(strongestRow(0) > strongestRow(grain.columns - 1), 'the first row is the head');
    assert.ok(Math.abs(Math.max(...found) - 0.22) < 1e-12);
    assert.equal(opacities(new Uint32Array(grain.bins * grain.bins), grain).some((opacity) => opacity !== 0), false);
  }
});

test('of many marks in one place the last stays, and of few all', () => {
  const few = Array.from({ length: 100 }, (_, trial) => ({ trial, x: 5, y: 5 }));
  assert.equal(thinned(few, 100, 100).length, 100);
  const many = Array.from({ length: 5000 }, (_, trial) => ({ trial, x: trial % 2 === 0 ? 5 : 50, y: 5 }));
  assert.deepEqual(thinned(many, 100, 100).map((place) => place.trial), [4998, 4999]);
  assert.deepEqual(thinned([...many, { trial: 9, x: NaN, y: 1 }], 100, 100).length, 2);
});

test('a brush keeps what its ends hold, of parameters and of the objective', () => {
  const table = tableOf([0, 1, 2, 3].map((number) => ({ number, state: 'completed' as const, objective: number, parameters: { a: number / 3 } })));
  const parameters = searchedParameters({ a: { type: 'float', min: 0, max: 1 } });
  const shown = (name: string, from: number, to: number): number[] => [...visibleTrials(table, parameters, '', [{ name, from, to }]).mask];
  assert.deepEqual(shown('a', 1 / 3, 1), [0, 1, 1, 1]);
  assert.deepEqual(shown('objective', 1, 2), [0, 1, 1, 0]);
});

test('what follows from the rows is computed anew when they change', () => {
  const table = tableOf([{ number: 0, state: 'running', objective: 2 }, { number: 1, state: 'completed', objective: 1 }, { number: 2, state: 'failed' }]);
  assert.deepEqual([...table.byMerit('minimize')], [1, 0, 2]);
  assert.deepEqual([...table.byMerit('maximize')], [0, 1, 2]);
  table.put(rowOf({ number: 2, state: 'completed', objective: 0 }), {});
  table.changed();
  assert.deepEqual([...table.byMerit('minimize')], [2, 1, 0]);
});

test('of a choice of trials the best so far stands where the whole job had come', () => {
  const rows = [
    rowOf({ number: 3, state: 'completed', objective: 5, ended: 1, resourceSoFar: 40, workerSecondsSoFar: 4 }),
    rowOf({ number: 9, state: 'completed', objective: 4, ended: 2, resourceSoFar: 100, workerSecondsSoFar: 10 }),
  ];
  assert.deepEqual(bestSoFar(rows, judged('minimize', 1), 'resource', 5).steps.map((step) => step.cost), [40, 100]);
  assert.equal(bestSoFar(rows, judged('minimize', 1), 'worker_time', 5).end, 10);
});

const palette: Palette = { text: '', muted: '', faint: '', grid: '', surface: '', accent: '', best: '', states: {}, series: [] };

function historyOf(values: number[], over: Partial<HistoryInput>): string {
  const points = values.map((value) => ({ trial: 0, cost: 1, value, counts: true, state: 'completed' as const }));
  const series = [{ steps: points, anywhere: [], points, end: 1, resource: 0, alone: false, name: '', color: () => '#000', dash: [] }];
  const cost = { label: 'time', format: String, say: String };
  const pen = new SvgPen(400, 300, () => ({ width: 10 }) as TextMetrics);
  historyScene({ series, metric: 'loss', cost, x: 'linear', y: 'linear', goal: 'minimize', linked: true, ended: false, ...over })({ width: 400, height: 300, palette }).draw(pen);
  return pen.text('#fff');
}

test('of many points the best is where it is, and the worst alone are at the edge', () => {
  const points = Array.from({ length: 100 }, (_, trial) => ({ trial, state: 'completed', a: 1 + trial, b: trial === 7 ? 5 : 1000 + trial, faint: false }));
  const make = pointsScene({ x: { label: 'time', kind: 'linear' }, y: { label: 'loss', goal: 'minimize' }, points, fronts: [] });
  const scene = make({ width: 400, height: 300, palette: {} as Palette });
  const heights = [7, 8, 99].map((trial) => scene.place?.(trial)?.y ?? NaN) as [number, number, number];
  assert.ok(heights[0] > heights[1] + 100, 'far below the others');
  assert.ok(heights[2] < heights[1]);
});

test('a plot that has nothing to draw says so', () => {
  assert.match(historyOf([], { ended: false }), />no values yet<\/text>/);
  assert.match(historyOf([], { ended: true }), />no values<\/text>/);
  assert.doesNotMatch(historyOf([1], { ended: false }), /no values/);
});

test('curves that have not come yet are not said to have no values', () => {
  const job = { objective: { metric: 'loss', goal: 'minimize' }, max_resource: 3, resource_name: 'steps', ended_at: '2026-03-01T12:00:00.000Z' } as unknown as Job;
  const said = (loaded: boolean): string[] => {
    const pen = ruled(400, 300);
    curvesScene({ job, rows: [rowOf({ number: 0, state: 'completed' })], curves: new Map(), loaded, best: null, ladder: [], x: 'linear', y: 'linear', whole: false })({ width: 400, height: 300, palette }).draw(pen);
    return textsOf(pen).filter((text) => /loading|values/.test(text));
  };
  assert.deepEqual(said(false), ['loading…']);
  assert.deepEqual(said(true), ['no values']);
});

test('what is not above 0 lies below the foot of a log scale, where the worst values are left out of it', () => {
  for (const worst of [0, -1]) {
    const rows = Array.from({ length: 60 }, (_, number) => rowOf({ number, state: 'completed' }));
    const curves = new Map(rows.map(({ number }) => [number, { resource: [1, 2, 3], value: [0.5, 0.6, number === 0 ? worst : 0.7] }]));
    const job = { objective: { metric: 'accuracy', goal: 'maximize' }, max_resource: 3, resource_name: 'steps', ended_at: null } as unknown as Job;
    const pen = new SvgPen(400, 300, () => ({ width: 10 }) as TextMetrics);
    curvesScene({ job, rows, curves, loaded: true, best: null, ladder: [], x: 'linear', y: 'log', whole: false })({ width: 400, height: 300, palette }).draw(pen);
    assert.doesNotMatch(pen.text('#fff'), /Infinity|NaN/);
    const values = Array.from({ length: 60 }, (_, index) => (index === 0 ? worst : 0.5 + index / 100));
    assert.doesNotMatch(historyOf(values, { y: 'log', goal: 'maximize' }), /Infinity|NaN/);
  }
});

const letterPx = 7;
const ruled = (width: number, height: number): SvgPen => new SvgPen(width, height, (text) => ({ width: letterPx * text.length }) as TextMetrics);
const textsOf = (pen: SvgPen): string[] => [...pen.text('#fff').matchAll(/>([^<]*)<\/text>/g)].map((found) => found[1] as string);

function axisTexts(scale: (box: Box) => Scale, options: AxisOptions, width: number): string[] {
  const pen = ruled(width, 100);
  const box = { left: 50, top: 10, right: width - 14, bottom: 60 };
  drawXAxis(pen, palette, box, scale(box), options);
  return textsOf(pen);
}

test('a power of ten has its text on a log axis, before what stands close to it', () => {
  const texts = axisTexts((box) => makeScale('log', [0.1, 10], [box.left, box.right]), { label: 'time', format: (value) => `${value.toFixed(2)} s` }, 1300);
  for (const text of ['0.10 s', '1.00 s', '10.00 s']) assert.ok(texts.includes(text), `${text} is not in ${texts.join(', ')}`);
});

test('an axis of whole numbers has whole ticks alone', () => {
  for (const kind of ['linear', 'log'] as const) {
    assert.deepEqual(axisTexts((box) => makeScale(kind, [1, 1], [box.left, box.right], false), { label: 'steps', whole: true }, 600), ['1', 'steps']);
  }
});

test('each category has a text below a narrow plot, and a long name of a parameter stays within it', () => {
  const [kind] = searchedParameters({ ['kind_'.repeat(20)]: { type: 'categorical', values: ['tree', 'linear', 'one with a long name'] } });
  const texts = axisTexts((box) => makeScale('linear', [0, 1], [box.left, box.right], false), parameterAxis(kind as NonNullable<typeof kind>), 230);
  assert.equal(texts.length, 4);
  assert.deepEqual(texts.map((text) => text.slice(0, 3)), ['tre', 'lin', 'one', 'kin']);
  assert.ok((texts[3] as string).length * letterPx < 230, 'the name of the parameter');
});

test('what is no number is told once where many would stand in one place', () => {
  const rows = Array.from({ length: 5 }, (_, number) => rowOf({ number, state: 'completed' }));
  const curves = new Map(rows.map(({ number }) => [number, { resource: [1, 2, 3], value: [0.5, 0.6, NaN] }]));
  const job = { objective: { metric: 'loss', goal: 'minimize' }, max_resource: 3, resource_name: 'steps', ended_at: null } as unknown as Job;
  const pen = ruled(400, 300);
  curvesScene({ job, rows, curves, loaded: true, best: null, ladder: [1, 3], x: 'linear', y: 'linear', whole: false })({ width: 400, height: 300, palette }).draw(pen);
  assert.equal(textsOf(pen).filter((text) => text === 'NaN').length, 1);
});

test('what stands above a rung is no wider than the room between two', () => {
  const job = { objective: { metric: 'loss', goal: 'minimize' }, resource_name: 'steps' } as unknown as Job;
  const rungs = [1, 3, 9].map((resource, rung) => ({ bracket: 0, rung, resource, planned: 27, reached: 27, promoted: 9 }) as Rung);
  const heads = (width: number): string[] => {
    const pen = ruled(width, 400);
    rungsScene({ job, rungs, decisions: [], shown: () => true, brackets: [0] })({ width, height: 400, palette }).draw(pen);
    return textsOf(pen).filter((text) => text.startsWith('27'));
  };
  assert.deepEqual(heads(1000), Array(3).fill('27 of 27 here, 9 went on'));
  assert.deepEqual(heads(300), Array(3).fill('27 of 27'));
});
