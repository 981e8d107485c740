import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Configuration, Costs, Job, Plan, Trial } from '../../src/api/shapes.ts';
import { bestSoFar } from '../../src/data/best_so_far.ts';
import { asCommandLine, asXgboostPython } from '../../src/data/copies.ts';
import { differences, documentAround, mergePatch, namedAfter, withField } from '../../src/data/documents.ts';
import { frontOf } from '../../src/data/front.ts';
import { crowdedText, furtherValuesOf, importanceWaitsFor, savedText, trainingOf, withinText } from '../../src/data/explain.ts';
import { jsonPlaces, placeOfPath } from '../../src/data/json_places.ts';
import { formatCount, formatDuration, formatDurationTick, formatNumber, formatShare, numberOf, roundDurations, tickFormat } from '../../src/data/numbers.ts';
import { planNotes } from '../../src/data/plan.ts';
import { rowOfTrial, standingIn, type Told } from '../../src/data/trials.ts';
import { csvOf } from '../../src/parts/download.ts';
import { parsePlace, hrefOf } from '../../src/state/place.ts';
import { parseSort, sortedRows, type Column } from '../../src/views/job/trial_columns.ts';
import { judged, rowOf, tableOf } from './tables.ts';

test('numbers have the digits that a person needs', () => {
  const cases: [number, string][] = [
    [0, '0'], [81, '81'], [0.7829142, '0.782914'], [0.00001234, '1.234e-5'], [123456789, '1.2346e+8'], [-3, '−3'], [1234567.8, '1234568'], [-123439.5065, '−123440'],
    [NaN, 'NaN'], [Infinity, '∞'], [-Infinity, '−∞'],
  ];
  for (const [value, text] of cases) assert.equal(formatNumber(value), text);
  assert.equal(formatNumber(null), '–');
  assert.ok(Number.isNaN(numberOf('nan')));
  assert.equal(numberOf('-inf'), -Infinity);
});

test('ticks of durations stand where a clock is round, and say no more than they need', () => {
  const told = (until: number, count: number): string[] => roundDurations(until, count).map(formatDurationTick);
  assert.deepEqual(told(931, 9), ['0', '2 min', '4 min', '6 min', '8 min', '10 min', '12 min', '14 min']);
  assert.deepEqual(told(50, 6), ['0', '10 s', '20 s', '30 s', '40 s', '50 s']);
  assert.deepEqual(told(2 * 86_400, 8), ['0', '6 h', '12 h', '18 h', '1 d', '1 d 6 h', '1 d 12 h', '1 d 18 h', '2 d']);
  assert.deepEqual(told(0.01, 5), [], 'too short for a clock');
  assert.equal(formatDurationTick(200), '3 min 20 s');
});

test('a plan says what its numbers of trials do not', () => {
  const plain: Plan = {
    ladder: [3, 9, 27], brackets: [{ index: 0, s: 2, trimmed: false, rungs: [{ resource: 3, trials: 9 }], total_resource: 60 }], trials: 9,
    total_resource: 60, model_resource: 0, front_resource: 0, audit_resource: 0, total_resource_without_stopping: 243,
    restarts: false, learning_rate: null, early_work: 1, exact: false,
  };
  assert.deepEqual(planNotes(plain), []);
  assert.deepEqual(planNotes({ ...plain, audit_resource: 40 }), ['Up to about 100 if the lower rungs turn out to mislead, and new trials start above them.']);
  assert.deepEqual(planNotes({ ...plain, restarts: true, ladder: [27] }), [], 'one rung begins from nothing in any case');
  const trees = planNotes({ ...plain, restarts: true, learning_rate: { parameter: 'eta', min: 0.0123456, max: 0.25 }, early_work: 0.4 });
  assert.deepEqual(trees, [
    'Each rung is a training of its own, from nothing.',
    'New trials begin with eta 0.0123456 to 0.25, and go on with what their curves call for.',
    'Below 27 with fewer folds, which takes 40 % of the time.',
  ]);
});

test('ticks have as many digits as tell them apart', () => {
  const texts = (ticks: number[]): string[] => ticks.map(tickFormat(ticks));
  assert.deepEqual(texts([0, 0.25, 0.5]), ['0', '0.25', '0.5']);
  assert.deepEqual(texts([0.9999, 0.99992, 0.99994]), ['0.9999', '0.99992', '0.99994']);
  assert.deepEqual(texts([12300, 12310, 12320]), ['12300', '12310', '12320']);
  assert.deepEqual(texts([1000.1, 1000.2]), ['1000.1', '1000.2']);
  assert.deepEqual(texts([10000, 20000]), ['10k', '20k']);
});

test('a name that is made of another keeps its ending within 64 characters', () => {
  assert.equal(namedAfter('job', '-2'), 'job-2');
  assert.equal(namedAfter('x'.repeat(64), '-around-7'), `${'x'.repeat(55)}-around-7`);
});

test('durations and shares', () => {
  assert.deepEqual([-294.797, 0, 0.002, 0.5, 7.25, 59, 59.6, 90, 119.7, 3599.8, 3720, 90000].map(formatDuration), ['0 ms', '0 ms', '2 ms', '0.50 s', '7.3 s', '59 s', '1 min 0 s', '1 min 30 s', '2 min 0 s', '1 h 0 min', '1 h 2 min', '1 d 1 h']);
  assert.deepEqual([0, 1, 2].map((count) => formatCount(count, 'trial')), ['0 trials', '1 trial', '2 trials']);
  assert.deepEqual([0, 1.2e-15, 0.0004, 0.004, 0.5, 1].map(formatShare), ['0 %', '< 0.01 %', '0.040 %', '0.40 %', '50 %', '100 %']);
});

test('over time a value counts from when it came, not from when its trial ended', () => {
  const rows = [
    rowOf({ number: 0, state: 'stopped', objective: 0.5, started: 0, arrived: 2, ended: 9 }),
    rowOf({ number: 1, state: 'paused', objective: 0.7, started: 1, arrived: 4, ended: null }),
    rowOf({ number: 2, state: 'running', objective: null, started: 5, ended: null }),
  ];
  const found = bestSoFar(rows, judged('maximize', 1), 'time', 10);
  assert.deepEqual(found.steps.map((step) => [step.cost, step.value]), [[2, 0.5], [4, 0.7]]);
  assert.equal(found.end, 10);
});

test('a trial keeps its note when it is told of without one', () => {
  const told = { number: 3, state: 'running', objective: null, violation: 0, more_objectives: [], started_at: null, ended_at: null } as unknown as Trial;
  assert.equal(rowOfTrial(told, 0).note, '');
  assert.equal(rowOfTrial(told, 0, 'odd').note, 'odd');
  assert.equal(rowOfTrial({ ...told, note: 'new' }, 0, 'odd').note, 'new');
});

test('of several objectives the best trial has a value of each', () => {
  const told = (values: (number | string)[], metrics: string[]): string =>
    furtherValuesOf({ more_objectives: values } as Trial, { more_objectives: metrics.map((metric) => ({ metric, goal: 'minimize' })) } as Job);
  assert.equal(told([], []), '');
  assert.equal(told([115.5], ['latency']), 'latency 115.5');
  assert.equal(told([115.5, 3], ['latency', 'size']), 'latency 115.5 and size 3');
  assert.equal(told([], ['latency']), '');
});

test('the best trial is told with how far its training came, and with which of its rounds counts', () => {
  const told = (trial: Partial<Trial>, completed = 0, ended_at: string | null = null): string =>
    trainingOf({ state: 'stopped', resource: 27, until_resource: 27, objective_resource: 27, kept_resource: 0, ...trial } as Trial, { ended_at, max_resource: 81, resource_name: 'rounds', trials: { completed } } as Job);
  assert.equal(told({}), '27 rounds of 81: no trial has come to the end yet');
  assert.equal(told({}, 1), '27 rounds of 81');
  assert.equal(told({}, 0, '2026-03-01T12:00:00.000Z'), '27 rounds of 81: no trial came to the end');
  assert.equal(told({ kept_resource: 20 }), '27 rounds of 81 (the value and the model are of round 20, its best): no trial has come to the end yet');
  assert.equal(told({ kept_resource: 27 }, 1), '27 rounds of 81');
  assert.equal(told({ state: 'completed', resource: 81, until_resource: 81, objective_resource: 81, kept_resource: 80 }, 1), '81 rounds (the value and the model are of round 80, its best)');
  assert.equal(told({ state: 'cancelled', resource: 30, until_resource: 81, objective_resource: 81, kept_resource: 30 }), '30 rounds of 81, when its job ended');
  assert.equal(told({ state: 'cancelled', resource: 30, until_resource: 81, kept_resource: 9 }, 1), '27 rounds of 81 (the value and the model are of round 9, its best)', 'on its way to 81, of which nothing counts');
});

const toldAt = (at: number): Told => ({ at, resource: 10 * at, workerSeconds: at });

test('a trial that is told of has arrived when it waits at its rung, and keeps that when it is told again', () => {
  const table = tableOf([{ number: 0, state: 'running', started: 0, ended: null }]);
  table.put(rowOf({ number: 0, state: 'paused', objective: 0.5, ended: null }), {}, toldAt(3));
  assert.equal(table.row(0)?.arrived, 3);
  assert.equal(table.row(0)?.resourceSoFar, 30, 'the whole job had spent so much');
  table.put(rowOf({ number: 0, state: 'stopped', objective: 0.5, ended: 8 }), {}, toldAt(8));
  assert.equal(table.row(0)?.arrived, 3);
  const other = tableOf([{ number: 0, state: 'running', started: 0, ended: null }]);
  other.put(rowOf({ number: 0, state: 'running', rung: 1, objective: 0.5, ended: null }), {}, toldAt(4));
  assert.equal(other.row(0)?.arrived, 4, 'it went straight on');
  other.put(rowOf({ number: 0, state: 'running', rung: 1, objective: 0.5, ended: null }), {}, toldAt(5));
  assert.equal(other.row(0)?.arrived, 4);
});

test('the best so far counts at the highest resource alone, by what was spent until then', () => {
  const rows = [
    rowOf({ number: 0, state: 'stopped', objective: 0.99, objectiveResource: 3, resource: 3, ended: 1 }),
    rowOf({ number: 1, state: 'completed', objective: 0.7, objectiveResource: 9, resource: 9, ended: 2 }),
    rowOf({ number: 2, state: 'completed', objective: 0.6, objectiveResource: 9, resource: 9, ended: 3 }),
    rowOf({ number: 3, state: 'completed', objective: NaN, objectiveResource: 9, resource: 9, ended: 4 }),
    rowOf({ number: 4, state: 'completed', objective: 0.8, objectiveResource: 9, resource: 9, ended: 5, violation: 0.1 }),
    rowOf({ number: 5, state: 'completed', objective: 0.75, objectiveResource: 9, resource: 9, ended: 6 }),
  ];
  const found = bestSoFar(rows, judged('maximize', 9), 'resource', 10);
  assert.deepEqual(found.steps.map((step) => [step.trial, step.cost]), [[1, 12], [5, 48]]);
  assert.deepEqual(found.anywhere.map((step) => step.trial), [0]);
  assert.equal(found.end, 48);
  assert.deepEqual(bestSoFar(rows, judged('minimize', 9), 'time', 10).steps.map((step) => [step.trial, step.cost]), [[1, 2], [2, 3]]);
});

test('values of fewer folds are no part of the best so far once there is one of all, and come after it in the table', () => {
  const lower = rowOf({ number: 0, state: 'stopped', objective: 0.99, objectiveResource: 3, resource: 3, ended: 1 });
  const rows = [
    lower,
    rowOf({ number: 1, state: 'completed', objective: 0.7, objectiveResource: 9, resource: 9, ended: 2, results: [{ at: 1, value: 0.98, resource: 3, resourceSoFar: 3, workerSecondsSoFar: 1 }] }),
    rowOf({ number: 2, state: 'completed', objective: 0.8, objectiveResource: 9, resource: 9, ended: 3 }),
    rowOf({ number: 3, state: 'completed', objective: 0.95, objectiveResource: 9, resource: 9, ended: 4, violation: 0.1 }),
  ];
  const job = judged('maximize', 9, false, { count: 5, early: 2 });
  const found = bestSoFar(rows, job, 'time', 10);
  assert.ok(found.alone);
  assert.deepEqual([found.steps, found.anywhere, found.points].map((list) => list.map((one) => one.trial)), [[1, 2], [1, 2], [1, 2]]);
  assert.deepEqual(bestSoFar([lower], job, 'time', 10).steps.map((step) => step.trial), [0], 'there is no other yet');
  assert.deepEqual(bestSoFar(rows, judged('maximize', 9, false, 5), 'time', 10).anywhere.map((step) => step.trial), [1, 0], 'all rungs have as many');
  const column = { value: (index: number) => rows[index]?.objective ?? null, standing: (index: number) => standingIn(job)(rows[index] ?? lower) } as Column;
  assert.deepEqual(sortedRows([0, 1, 2, 3], column, true), [2, 1, 0, 3]);
  assert.deepEqual(sortedRows([0, 1, 2, 3], column, false), [1, 2, 0, 3]);
});

test('a level that only values without meaning have come to does not count', () => {
  const rows = [
    rowOf({ number: 0, state: 'completed', objective: NaN, objectiveResource: 9, resource: 9, ended: 1 }),
    rowOf({ number: 1, state: 'completed', objective: 0.8, objectiveResource: 9, resource: 9, ended: 2, violation: 0.1 }),
    rowOf({ number: 2, state: 'stopped', objective: 0.7, objectiveResource: 3, resource: 3, ended: 3 }),
  ];
  const found = bestSoFar(rows, judged('maximize', 9), 'time', 10);
  assert.equal(found.resource, 3);
  assert.deepEqual(found.steps.map((step) => step.trial), [2]);
});

test('the best so far is made of what a trial had at each of its rungs, when it had it', () => {
  const earlier = { at: 1, value: 0.8, resource: 3, resourceSoFar: 3, workerSecondsSoFar: 0.3 };
  const rows = [
    rowOf({ number: 0, state: 'completed', objective: 0.9, objectiveResource: 9, arrived: 7, ended: 7, resourceSoFar: 21, results: [earlier] }),
    rowOf({ number: 1, state: 'stopped', objective: 0.85, objectiveResource: 3, arrived: 4, ended: 8, resourceSoFar: 12 }),
  ];
  const compared = bestSoFar(rows, judged('maximize', 9, true), 'resource', 10);
  assert.deepEqual(compared.steps, [{ cost: 3, value: 0.8, trial: 0 }, { cost: 12, value: 0.85, trial: 1 }, { cost: 21, value: 0.9, trial: 0 }]);
  assert.equal(compared.points.length, 2, 'a point a trial');
  const full = bestSoFar(rows, judged('maximize', 9), 'time', 10);
  assert.deepEqual(full.steps, [{ cost: 7, value: 0.9, trial: 0 }]);
  assert.deepEqual(full.anywhere.map((step) => step.cost), [1, 4, 7]);
});

test('a trial that comes to its next rung while it is looked at keeps what it had before', () => {
  const table = tableOf([]);
  const told = (at: number) => ({ at, resource: 3 * at, workerSeconds: at });
  table.put(rowOf({ number: 0, state: 'paused', rung: 0, objective: 0.8, objectiveResource: 3, ended: null }), {}, told(2));
  table.put(rowOf({ number: 0, state: 'running', rung: 1, objective: 0.8, objectiveResource: 3, ended: null }), {}, told(3));
  table.put(rowOf({ number: 0, state: 'completed', rung: 1, objective: 0.7, objectiveResource: 9, ended: 5 }), {}, told(5));
  assert.deepEqual(bestSoFar(table.rows, judged('maximize', 9, true), 'time', 9).steps, [{ cost: 2, value: 0.8, trial: 0 }]);
  table.put(rowOf({ number: 0, state: 'completed', rung: 1, objective: 0.7, objectiveResource: 9, violation: 1, ended: 5 }), {}, told(5));
  assert.deepEqual(bestSoFar(table.rows, judged('maximize', 9, true), 'time', 9).steps, [], 'what breaks a constraint further on is gone');
});

test('a trial that is told of before what its job has spent with it counts with that', () => {
  const table = tableOf([]);
  const put = (number: number, spent: number) => table.put(rowOf({ number, state: 'completed', objective: number + 1, objectiveResource: 9 }), {}, { at: number, resource: spent, workerSeconds: spent });
  put(0, 0);
  table.settle(9, 0.9);
  put(1, 9);
  table.settle(18, 1.8);
  for (const axis of ['resource', 'worker_time'] as const) {
    const scale = axis === 'resource' ? 1 : 10;
    assert.deepEqual(bestSoFar(table.rows, judged('maximize', 9), axis, 9).steps.map((step) => step.cost * scale), [9, 18]);
  }
});

test('a value that is told before its trial has arrived counts from its arrival', () => {
  const table = tableOf([]);
  const told = (at: number) => ({ at, resource: at, workerSeconds: at });
  table.put(rowOf({ number: 0, state: 'running', rung: 1, objective: 0.8, objectiveResource: 3, ended: null }), {}, told(3));
  table.put(rowOf({ number: 0, state: 'running', rung: 1, objective: 0.9, objectiveResource: 9, ended: null }), {}, told(50));
  table.put(rowOf({ number: 0, state: 'completed', rung: 1, objective: 0.9, objectiveResource: 9, ended: 50 }), {}, told(50));
  assert.deepEqual(bestSoFar(table.rows, judged('maximize', 9, true), 'time', 60).steps.map((step) => [step.cost, step.value]), [[3, 0.8], [50, 0.9]]);
});

test('where rungs compare the best so far is what trials keep, from any rung, as the server ranks them', () => {
  const table = tableOf([
    { number: 0, state: 'completed', objective: 0.7, keptValue: 0.72, objectiveResource: 9, ended: 1 },
    { number: 1, state: 'stopped', objective: 0.8, keptValue: 0.8, objectiveResource: 3, ended: 2 },
    { number: 2, state: 'completed', objective: 0.71, keptValue: 0.9, objectiveResource: 9, ended: 3 },
  ]);
  const best = (compare: boolean): [number, number][] => bestSoFar(table.rows, judged('maximize', 9, compare), 'time', 10).steps.map((step) => [step.trial, step.value]);
  assert.deepEqual(best(true), [[0, 0.72], [1, 0.8], [2, 0.9]]);
  assert.deepEqual(best(false), [[0, 0.72], [2, 0.9]]);
  assert.deepEqual([...table.byMerit('maximize')], [2, 1, 0]);
});

test('a configuration that changes on the way is the one that is shown', () => {
  const table = tableOf([{ number: 0, state: 'paused', parameters: { eta: 0.3, depth: 4 } }, { number: 1, state: 'running', parameters: { eta: 0.1, depth: 2 } }]);
  table.put(rowOf({ number: 0, state: 'running' }), { eta: 0.05, depth: 4 });
  assert.deepEqual(table.configuration(0), { eta: 0.05, depth: 4 });
  assert.deepEqual(table.configuration(1), { eta: 0.1, depth: 2 });
});

test('a sorted table has what is missing at its end, both ways', () => {
  const values = [3, null, 1, NaN, 2, 1];
  const column = { value: (index: number) => values[index] ?? null } as Column;
  assert.deepEqual(sortedRows([0, 1, 2, 3, 4, 5], column, false), [2, 5, 4, 0, 1, 3]);
  assert.deepEqual(sortedRows([0, 1, 2, 3, 4, 5], column, true), [0, 4, 2, 5, 1, 3]);
  assert.deepEqual(parseSort('-objective', { column: 'trial', descending: false }), { column: 'objective', descending: true });
});

test('a CSV has no cell that a spreadsheet would run', () => {
  const text = csvOf({ columns: ['a', 'b'], rows: [['=cmd()', 1.5], ['say "hi", twice', null], ['+1+1', NaN]] });
  assert.equal(text, 'a,b\r\n\'=cmd(),1.5\r\n"say ""hi"", twice",\r\n\'+1+1,nan\r\n');
});

test('a CSV guards the texts that the one of the server guards', () => {
  const cell = (text: string): string => csvOf({ columns: [text], rows: [] }).slice(0, -2);
  for (const text of ['=1+1', "+cmd|' /C calc'!A0", '-2+3', '@SUM(A1)', '\t=1', "'=", "''=1", "'-1", '+-1', '++1', '- 1', '-0x10', '-', '.+']) {
    assert.equal(cell(text), /^'*[=+\-@\t]/.test(text) ? `'${text}` : text, text);
  }
  assert.deepEqual(['\r=1', '\n=1'].map(cell), ['"\'\r=1"', '"\'\n=1"']);
  for (const text of ['', 'a', '-0.5', '+3', '-1e-9', '-.5', '+5.', '-inf', '-Infinity', '+nan', '-1e999', 'nan', '1=2', 'a-b', "'", "'a", 'mail@example.org']) {
    assert.equal(cell(text), text);
  }
});

test('an address survives names with every sign', () => {
  const href = hrefOf(['jobs', 'a/b?c#d', 'trials', 3], { filter: 'eta < 0.1 and `x&y` = "ü"' });
  const place = parsePlace(href);
  assert.deepEqual(place.path, ['jobs', 'a/b?c#d', 'trials', '3']);
  assert.equal(place.query.get('filter'), 'eta < 0.1 and `x&y` = "ü"');
  assert.deepEqual(parsePlace('#/jobs/%zz').path, ['jobs', '%zz']);
});

test('a value of a document is found at the path that the server names', () => {
  const text = '{"name": "x", "search_space": {"eta": {"min": 0.1, "max": 3}}, "enqueue": [{"eta": 1}, {"eta": "two"}]}';
  const at = (path: string): string => {
    const span = placeOfPath(jsonPlaces(text), path);
    return span ? text.slice(span.from, span.to) : '';
  };
  assert.equal(at('search_space.eta.max'), '3');
  assert.equal(at('enqueue[1].eta'), '"two"');
  assert.equal(at('search_space.eta.scale'), '{"min": 0.1, "max": 3}'); // it is missing: what it would be in
  assert.equal(at('nothing.of.this'), text);
  assert.equal(placeOfPath(jsonPlaces('{"a": 1, "b" 2}'), 'a')?.from, 6); // up to a fault
});

test('a merge patch makes one document of another', () => {
  assert.deepEqual(mergePatch({ a: 1, b: { c: 2, d: 3 }, e: [1] }, { a: 1, b: { c: 4 }, e: [1, 2], f: 5 }), { b: { c: 4, d: null }, e: [1, 2], f: 5 });
});

test('fields are set, made and taken away without touching the document that was given', () => {
  const before = { a: { b: 1 } };
  assert.deepEqual(withField(before, ['a', 'c', 'd'], 2), { a: { b: 1, c: { d: 2 } } });
  assert.deepEqual(withField(before, ['a', 'b'], undefined), { a: {} });
  assert.deepEqual(before, { a: { b: 1 } });
});

test('a space around a configuration is within the one before', () => {
  const space = { eta: { type: 'float', min: 0.001, max: 1, scale: 'log' }, depth: { type: 'int', min: 1, max: 11 }, kind: { type: 'categorical', values: ['a', 'b'] } };
  const around = documentAround({ name: 'j', search_space: space, enqueue: [{ eta: 0.5 }] }, { eta: 1, depth: 6, kind: 'b' }, 7);
  assert.equal(around.name, 'j-around-7');
  assert.equal(around.search_space['eta']?.max, 1);
  assert.ok((around.search_space['eta']?.min ?? 0) > 0.3 && (around.search_space['eta']?.min ?? 1) < 0.4);
  assert.deepEqual([around.search_space['depth']?.min, around.search_space['depth']?.max], [4, 8]);
  assert.deepEqual(around.search_space['kind'], space.kind);
  assert.deepEqual(around['enqueue'], [{ eta: 1, depth: 6, kind: 'b' }]);
});

test('a space around a configuration keeps to the steps, to what a scale can have, and without candidates', () => {
  const around = documentAround({
    name: 'j', candidates: [{ batch: 16 }],
    search_space: { batch: { type: 'int', min: 16, max: 256, step: 16 }, rate: { type: 'float', min: 0, max: 1, step: 0.1 }, momentum: { type: 'float', min: 0.5, max: 0.99999, scale: 'reverse_log' } },
  }, { batch: 48, rate: 0.5, momentum: 0.9999 }, 1);
  assert.deepEqual([around.search_space['batch']?.min, around.search_space['batch']?.max], [16, 96]);
  assert.deepEqual([around.search_space['rate']?.min, around.search_space['rate']?.max], [0.3, 0.7]);
  assert.ok((around.search_space['momentum']?.max ?? 1) < 1 && (around.search_space['momentum']?.max ?? 0) > 0.9999);
  assert.equal('candidates' in around, false);
});

test('a space of whole numbers around a configuration is within the one before, however its bounds round', () => {
  for (const min of [1, 3, 7]) {
    for (let max = min + 1; max <= 100; max += 1) {
      for (const depth of [min, max]) {
        const around = documentAround({ name: 'j', search_space: { depth: { type: 'int', min, max, scale: 'log' } } }, { depth }, 1);
        const bounds = around.search_space['depth'] as { min: number; max: number };
        assert.ok(min <= bounds.min && bounds.min <= depth && depth <= bounds.max && bounds.max <= max, `${depth} of ${min} to ${max}: ${bounds.min} to ${bounds.max}`);
      }
    }
  }
});

test('a space around a configuration has it in it, however many digits its bounds have', () => {
  for (const scale of ['linear', 'log', 'reverse_log']) {
    for (const eta of [0.05, 0.0500001, 0.123456789, 0.33333]) {
      const around = documentAround({ name: 'j', search_space: { eta: { type: 'float', min: 0.05, max: 0.33333, scale } } }, { eta }, 1);
      const { min, max } = around.search_space['eta'] as { min: number; max: number };
      assert.ok(0.05 <= min && min <= eta && eta <= max && max <= 0.33333, `${scale} ${eta}: ${min} to ${max}`);
    }
  }
});

test('the front is of those that no other equals or betters in both', () => {
  const points = [[3, 1], [1, 5], [2, 5], [2, 4], [2, 3], [4, 1], [5, NaN]].map(([a, b]) => ({ a: a as number, b: b as number }));
  assert.deepEqual(frontOf(points, 'minimize').map(({ a, b }) => [a, b]), [[1, 5], [2, 3], [3, 1]]);
  assert.deepEqual(frontOf(points, 'maximize').map(({ a, b }) => [a, b]), [[1, 5]]);
});

test('documents differ where their values do', () => {
  assert.deepEqual(differences([{ a: { b: 1, c: 2 }, d: [1] }, { a: { b: 1, c: 3 } }]), [{ path: 'a.c', values: [2, 3] }, { path: 'd', values: [[1], undefined] }]);
});

test('of what earlier jobs saw their names are compared, not the thousands of results', () => {
  const warm = { name: 'b', warm_start: { jobs: ['a'], observations: [{ configuration: { eta: 0.1 }, result: -1 }] } };
  assert.deepEqual(differences([{ name: 'b' }, warm]), [{ path: 'warm_start', values: [undefined, ['a']] }]);
  assert.deepEqual(differences([{ warm_start: { ...warm.warm_start, jobs: ['c'] } }, { warm_start: warm.warm_start }]), [{ path: 'warm_start', values: [['c'], ['a']] }]);
  assert.deepEqual(differences([warm, { ...warm, warm_start: { jobs: ['a'], observations: [] } }]), []);
});

function commandLine(configuration: Configuration, argv: string[], space: string[] = []): string {
  return asCommandLine(configuration, { name: 'j', search_space: Object.fromEntries(space.map((name) => [name, { type: 'float' }])), trainer: { type: 'command', argv } });
}

test('a command line has the arguments that a worker gives', () => {
  const configuration = { 'learning-rate': 0.1, 'net.depth': 3, eta: 0.5 };
  assert.equal(commandLine(configuration, ['--lr={learning-rate}', '--depth={net.depth}']), '--lr=0.1 --depth=3');
  assert.equal(commandLine(configuration, ['{{eta}}', '{ print $1; }', '{}', '{eta', 'eta}', 'a{{b}}c{eta}', '{{{eta}}}']), "'{eta}' '{ print $1; }' '{}' '{eta' 'eta}' 'a{b}c0.5' '{0.5}'");
  assert.equal(commandLine({ eta: 0.5 }, ['train', '--drop={rate_drop}', '--eta={eta}', '{toString}'], ['eta', 'rate_drop']), "train --eta=0.5 '{toString}'");
});

test('a configuration is pasted as it is meant', () => {
  assert.equal(commandLine({ rate: 0.1, name: "it's" }, ['train', '--rate={rate}', '{name}', '{until_resource}']), "train --rate=0.1 'it'\\''s' '{until_resource}'");
  assert.match(asXgboostPython({ rounds: 81, exact: true, parameters: { eta: 0.1, objective: 'binary:logistic', flag: true } }), /"eta": 0.1,\n.*"binary:logistic",\n.*"flag": True,\n\}\nbooster = .*num_boost_round=81/);
  const counted = (parameters: Record<string, string | number>) => asXgboostPython({ rounds: 81, exact: true, parameters }).includes('"num_class": int(dtrain.get_label().max()) + 1,');
  assert.ok(counted({ objective: 'multi:softprob' }));
  assert.ok(!counted({ objective: 'multi:softprob', num_class: 3 }));
  assert.ok(!counted({ objective: 'binary:logistic' }));
});

test('what importance waits for: results, or one that is finite and meets the constraints', () => {
  const waitsFor = (results: number, measured: number, notFinite: number, violating: number): string => {
    const summary = { trials_measured: measured, trials_not_finite: notFinite, trials_violating: violating } as Costs;
    return importanceWaitsFor({ importance: { results, results_needed: 10 }, summary });
  };
  assert.equal(waitsFor(9, 9, 0, 9), 'Known when 10 trials have a value at one level: 9 have.');
  assert.equal(waitsFor(10, 12, 0, 12), 'Known when a trial meets the constraints: none of the 12 trials with a result does.');
  assert.equal(waitsFor(10, 12, 12, 0), 'Known when a trial has a finite value: none of the 12 trials with a result does.');
  assert.equal(waitsFor(10, 12, 5, 7), 'Known when a trial has a finite value and meets the constraints: none of the 12 trials with a result does.');
  assert.equal(waitsFor(10, 12, 0, 11), 'Being computed…');
  assert.equal(waitsFor(10, 0, 0, 0), 'Being computed…');
});

test('constraints are told with how many trials are within', () => {
  const told = (constraints: Job['constraints'], violating: number): string =>
    withinText({ constraints } as Job, { trials_measured: 40, trials_violating: violating } as Costs);
  assert.equal(told([{ metric: 'size', min: null, max: 6 }], 3), 'size at most 6: 37 of 40 trials');
  assert.equal(told([{ metric: 'size', min: 1, max: 6 }, { metric: 'recall', min: 0.8, max: null }], 40), 'size from 1 to 6 and recall at least 0.8: 0 of 40 trials');
});

test('a crowded end of a range is told as on the command line', () => {
  assert.equal(crowdedText({ parameter: 'eta', end: 'max', bound: 0.5, trials: 29, of: 30 }), 'eta = 0.5, its max: 29 of the best 30 trials lie within 2 % of it.');
});

test('what stopping saved may be nothing, no time, or less than training anew cost', () => {
  const told = (resource: number, seconds: number, ended = true): string =>
    savedText({ resource_saved: resource, training_seconds_saved: seconds } as Costs, { resource_name: 'rounds', ended_at: ended ? '2026-01-01T00:00:00Z' : null } as Job);
  assert.equal(told(12, 7.25), '12 rounds and about 7.3 s of training not spent.');
  assert.equal(told(12, -1), '12 rounds not spent, but no time: to begin anew took as long.');
  assert.equal(told(0, 0), 'Nothing.');
  assert.equal(told(-1, -3), 'Nothing: to train anew at each rung cost 1 round more than was saved.');
  assert.equal(told(-1, -3, false), 'Nothing so far: to train anew at each rung cost 1 round more than was saved.');
});
