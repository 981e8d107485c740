import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CurveStore } from '../../src/state/curve_store.ts';

test('of a trial that is trained anew the curve is that of the new training', () => {
  const store = new CurveStore(() => 'job');
  for (const resource of [1, 2, 3]) store.add(0, resource, resource / 10);
  for (const resource of [1, 2]) store.add(0, resource, resource);
  assert.deepEqual(store.curves.get(0), { resource: [1, 2], value: [1, 2] });
  for (const resource of [2, 4]) store.add(0, resource, resource * 10);
  assert.deepEqual(store.curves.get(0), { resource: [1, 2, 4], value: [1, 20, 40] }, 'from a checkpoint at 1');
});
