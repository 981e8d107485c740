import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import type { Finding, TensorEntry } from '../../src/api/shapes.ts';
import { chosenBy, firstTensor, isOf, pointsBeside, pointsOf, reductions } from '../../src/data/tensors.ts';
import { SvgPen } from '../../src/plot/svg_pen.ts';
import { tensorScene, type TensorInput } from '../../src/plot/tensor_scene.ts';
import { palette } from '../../src/state/theme.ts';

const entry = (name: string): TensorEntry => ({ name, collection: name.split('/')[0] as string, mode: null, scalar: true, dtype: 'float64', shape: [], whole: false, steps: 1, first_step: 1, last_step: 1 });
const finding = (tensor: string): Finding => ({ trial: 0, rule: 'r', tensor, step: 2, value: 'nan', threshold: 0, message: '', remedy: '', action: 'note', at: '', webhook: null });

test('the tensor that is shown first is what a rule found, else the objective, a loss, or any', () => {
  const tensors = ['gradients/a', 'losses/train', 'metrics/auc', 'metrics/error'].map(entry);
  assert.equal(firstTensor(tensors, [finding(''), finding('gone'), finding('gradients/a')], 'auc')?.name, 'gradients/a');
  assert.equal(firstTensor(tensors, [], 'auc')?.name, 'metrics/auc');
  assert.equal(firstTensor(tensors, [], 'loss')?.name, 'losses/train');
  assert.equal(firstTensor([entry('weights/w')], [], 'loss')?.name, 'weights/w');
  assert.equal(firstTensor([], [], 'loss'), undefined);
});

test('a finding belongs to the tensor of its mode, one without a mode to all of its name', () => {
  const [train, validation] = (['train', 'validation'] as const).map((mode) => ({ ...entry('losses/ce'), mode })) as [TensorEntry, TensorEntry];
  const found: Finding = { ...finding('losses/ce'), mode: 'validation' };
  assert.deepEqual([train, validation, entry('losses/ce')].map((one) => isOf(found, one)), [false, true, false]);
  assert.deepEqual([train, validation, entry('losses/other')].map((one) => isOf(finding('losses/ce'), one)), [true, true, false]);
  assert.equal(firstTensor([train, validation], [found], 'auc'), validation);
  assert.deepEqual(chosenBy(found), { tensor: 'losses/ce', mode: 'validation' });
  assert.deepEqual(chosenBy(finding('')), {});
});

test('a number is shown by its value, an array by a reduction, and what is not saved by nothing', () => {
  const series = { name: 'a', steps: [{ step: 1, value: 'nan' as const, reductions: { mean: 'nan' as const } }, { step: 3, reductions: { mean: 2, max: 5 } }, { step: 4, reductions: {} }] };
  assert.deepEqual(pointsOf(series, 7, 'max'), { trial: 7, steps: [1, 3], values: [NaN, 5] });
  assert.deepEqual(pointsBeside({ trials: [7, 9], steps: [{ step: 1, values: [0, null] }, { step: 2, values: [0.5, '-inf'] }] }), [
    { trial: 7, steps: [1, 2], values: [0, 0.5] }, { trial: 9, steps: [2], values: [-Infinity] },
  ]);
});

test('the reductions to choose from are those of the server', () => {
  const source = readFileSync('../debugger/reductions.cpp', 'utf8'); // the tests run in dashboard/
  const names = /kNames\{([^}]*)\}/.exec(source)?.[1]?.match(/"([a-z0-9_]+)"/g)?.map((name) => name.slice(1, -1)) ?? [];
  assert.deepEqual([...reductions].sort(), [...names].sort());
});

test('a curve is broken where it is no number, which is said at the edge, and a finding has a ring', () => {
  const input: TensorInput = {
    series: [{ trial: 3, steps: [1, 2, 3, 4], values: [1, 2, NaN, 4] }, { trial: 5, steps: [2, 9], values: [8, 0] }],
    resource: 'steps', label: 'losses/train', found: [2], x: 'linear', y: 'linear',
  };
  const scene = tensorScene(input)({ width: 500, height: 300, palette: palette.value });
  const pen = new SvgPen(500, 300, () => ({ width: 10 }) as TextMetrics);
  scene.draw(pen);
  const text = pen.text('#fff');
  assert.match(text, />NaN<\/text>/);
  assert.match(text, />losses\/train<\/text>/);
  assert.equal(text.match(/stroke-width="2"[^>]*stroke-dasharray/g), null);
  const x = (step: number): number => 62 + ((486 - 62) * (step - 1)) / 8;
  const tip = scene.hit?.(x(2), 250);
  const near = [...Array(280).keys()].map((y) => scene.hit?.(x(2), y)).find((hit) => hit) ?? tip;
  assert.deepEqual(near?.lines, ['steps: 2', 'trial 3: 2', 'trial 5: 8']);
  assert.equal(scene.hit?.(10, 10), null);
  assert.deepEqual(scene.order?.(), [1, 2, 3, 4, 9], 'the arrow keys go through every step');
  assert.deepEqual(scene.tell?.(9), { key: 9, x: x(9), y: 258, lines: ['steps: 9', 'trial 5: 0'] });
  assert.equal(scene.tell?.(5), null);
  const without = new SvgPen(500, 300, () => ({ width: 10 }) as TextMetrics);
  tensorScene({ ...input, found: [] })({ width: 500, height: 300, palette: palette.value }).draw(without);
  assert.ok(text.length > without.text('#fff').length, 'the ring');
});
