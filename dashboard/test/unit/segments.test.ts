import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Timeline } from '../../src/api/columns.ts';
import { gapsOf, idleTimes, startsOf } from '../../src/data/segments.ts';
import { transposed } from '../../src/data/surface.ts';
import { cellAt, edgesOf, placeAt, sheetOf } from '../../src/plot/surface.ts';
import { searchedParameters, type Parameter } from '../../src/data/space.ts';

type Segment = [worker: number, trial: number, from: number, until: number, began: number, ended: number | null, outcome: number];

const timelineOf = (segments: Segment[]): Timeline => ({
  created_at: '2026-01-01T00:00:00.000Z', workers: ['a', 'b'], outcomes: ['reached_rung', 'worker_lost'],
  trial: segments.map((one) => one[1]), worker: segments.map((one) => one[0]), rank: segments.map(() => 0),
  from_resource: segments.map((one) => one[2]), until_resource: segments.map((one) => one[3]),
  began: segments.map((one) => one[4]), ended: segments.map((one) => one[5]), outcome: segments.map((one) => one[6]), attempt: segments.map(() => 1), straight_on: segments.map(() => 0), merged: 0, workers_left_out: 0,
});

test('a segment began anew, straight on as the server says, or from a checkpoint; of several in a cell nothing is told', () => {
  const timeline = { ...timelineOf([[0, 1, 0, 3, 0, 1, 0], [0, 1, 3, 9, 1, 2, 0], [0, 1, 9, 27, 3, 4, 0], [0, 1, 3, 9, 5, 6, 0]]), straight_on: [0, 1, 0, 0], segments: [1, 1, 1, 2] };
  assert.deepEqual(startsOf(timeline), ['anew', 'straight_on', 'from_checkpoint', 'anew']);
});

test('a gap is told with what was before and after it, and the times in which nothing ran at all', () => {
  const timeline = timelineOf([[0, 1, 0, 3, 0, 2, 0], [1, 2, 0, 3, 1, 4, 1], [0, 2, 0, 3, 6, null, -1]]);
  assert.deepEqual(gapsOf(timeline, { now: 8, least: 0.5 }), [
    { worker: 0, from: 2, until: 6, before: 0, after: 2 },
    { worker: 1, from: 0, until: 1, before: null, after: 1 },
    { worker: 1, from: 4, until: 8, before: 1, after: null },
  ]);
  assert.deepEqual(idleTimes(timeline, { now: 8, least: 0.5 }), [[4, 6]]);
  assert.deepEqual(idleTimes(timeline, { now: 8, least: 2 }), [], 'as long as the least is not longer');
  assert.deepEqual(gapsOf(timelineOf([]), { now: 8, least: 0 }), []);
});

test('a surface has a cell at each place, between the middles of its values', () => {
  assert.deepEqual(edgesOf([0.125, 0.375, 0.875]), [0, 0.25, 0.625, 1]);
  assert.deepEqual(edgesOf([0, 0.5, 1], true), [-0.25, 0.25, 0.75, 1.25]);
  assert.deepEqual(edgesOf([0, 0.25], true), [-0.125, 0.125, 0.375], 'the others were not computed');
  assert.deepEqual(edgesOf([0.5], true), [0, 1]);
  assert.equal(placeAt([0.125, 0.375, 0.875], 0.5), 0.125);
  assert.equal(placeAt([0.125, 0.375, 0.875], 2), 0.625);
  assert.equal(placeAt([0.125, 0.375, 0.875], 9), 0.875);
  const [a, b] = searchedParameters({ a: { type: 'float', min: 0, max: 1 }, b: { type: 'categorical', values: ['u', 'v'] } }) as [Parameter, Parameter];
  const surface = { resource: 1, trials: 9, explained: 1, x: 'a', y: 'b', x_values: [0.25, 0.75], y_values: ['u', 'v'], mean: [1, 2, 3, 4], deviation: [0, 0, 0, 0] };
  const sheet = sheetOf(surface, a, b);
  assert.equal(sheet.smooth, false);
  assert.deepEqual([cellAt(sheet, 0.1, 0.1), cellAt(sheet, 0.9, 0.1), cellAt(sheet, 0.1, 0.9), cellAt(sheet, 0.9, 0.9)].map((cell) => cell?.mean), [1, 2, 3, 4]);
  assert.equal(cellAt(sheet, 1.2, 0), null);
  const turned = transposed({ ...surface, x_values: [0.25, 0.5, 0.75], mean: [1, 2, 3, 4, 5, 6], deviation: [6, 5, 4, 3, 2, 1] });
  assert.deepEqual([turned.x, turned.y_values, turned.mean], ['b', [0.25, 0.5, 0.75], [1, 4, 2, 5, 3, 6]]);
});
