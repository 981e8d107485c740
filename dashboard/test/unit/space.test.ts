import assert from 'node:assert/strict';
import { test } from 'node:test';
import { placeOf, searchedParameters, ticksOf, valueAt, type Parameter } from '../../src/data/space.ts';

const parameter = (rest: Partial<Parameter>): Parameter => ({ name: 'p', scale: 'linear', integer: false, min: 0, max: 1, values: [], ...rest });
const close = (actual: number, expected: number): void => assert.ok(Math.abs(actual - expected) < 1e-9, `${actual} is not ${expected}`);

test('a place on an axis is the share of the way in the scale of the parameter', () => {
  close(placeOf(parameter({ min: 2, max: 10 }), 4), 0.25);
  close(placeOf(parameter({ scale: 'log', min: 0.01, max: 1 }), 0.1), 0.5);
  close(placeOf(parameter({ scale: 'reverse_log', min: 0.9, max: 0.999 }), 0.99), 0.5);
  close(placeOf(parameter({ scale: 'categories', values: ['a', 'b', 'c'] }), 'b'), 0.5);
});

test('value and place are the inverse of each other', () => {
  for (const scale of ['linear', 'log', 'reverse_log'] as const) {
    const one = parameter({ scale, min: 0.1, max: 0.9 });
    for (const place of [0, 0.2, 0.7, 1]) close(placeOf(one, valueAt(one, place)), place);
  }
});

test('what is not there, or not of the space, has no place', () => {
  assert.ok(Number.isNaN(placeOf(parameter({}), null)));
  assert.ok(Number.isNaN(placeOf(parameter({ scale: 'categories', values: ['a', 'b'] }), 'z')));
});

test('whole numbers have whole ticks, each once', () => {
  assert.deepEqual(ticksOf(parameter({ integer: true, min: 1, max: 3 }), 4, 8).map((tick) => tick.text), ['1', '2', '3']);
});

test('a log axis over several powers of ten has its ticks there, and at its ends', () => {
  const texts = (min: number, max: number, most = 8): string[] => ticksOf(parameter({ scale: 'log', min, max }), 4, most).map((tick) => tick.text);
  assert.deepEqual(texts(0.001, 1), ['0.001', '0.01', '0.1', '1']);
  assert.deepEqual(texts(0.003, 9), ['0.003', '0.01', '0.1', '1', '9']);
  assert.deepEqual(texts(0.0009, 1.1), ['0.0009', '0.01', '0.1', '1.1'], 'one that would touch an end is left out');
  assert.equal(texts(1e-12, 1).length, 5);
  assert.deepEqual(texts(1, 10), ['1', '1.78', '3.16', '5.62', '10']);
});

test('an axis that is fine near 1 has a tick at its end', () => {
  const ticks = ticksOf(parameter({ scale: 'reverse_log', min: 0.5, max: 0.9999 }), 4, 8);
  assert.deepEqual(ticks.map((tick) => tick.text), ['0.5', '0.941', '0.9929', '0.99916', '0.9999']);
  close(ticks.at(-1)?.place ?? NaN, 1);
});

test('a parameter that cannot vary is not searched', () => {
  const names = searchedParameters({
    fixed: 3 as never, one: { type: 'categorical', values: ['a'] }, same: { type: 'float', min: 1, max: 1 },
    eta: { type: 'float', min: 0, max: 1 }, depth: { type: 'int', min: 1, max: 2, scale: 'log' },
  }).map((one) => one.name);
  assert.deepEqual(names, ['eta', 'depth']);
});
