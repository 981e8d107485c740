import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseFilter } from '../../src/data/filter.ts';
import { visibleTrials } from '../../src/data/visible.ts';
import { tableOf } from './tables.ts';

const table = tableOf([
  { number: 0, state: 'completed', objective: 0.9, parameters: { eta: 0.1, booster: 'gbtree', 'odd name': 1 } },
  { number: 1, state: 'stopped', objective: 0.5, parameters: { eta: 0.4, booster: 'dart', 'odd name': 2 } },
  { number: 2, state: 'failed', objective: null, parameters: { eta: 0.2, booster: 'gbtree', 'odd name': 3 } },
  { number: 3, state: 'stopped', objective: NaN, parameters: { booster: 'gblinear', 'odd name': 4 } },
]);

function left(text: string): number[] {
  const parsed = parseFilter(text, table.parameters.keys());
  assert.ok(parsed.ok, parsed.ok ? '' : parsed.message);
  const shows = parsed.test(table);
  return table.rows.map((_, index) => index).filter(shows);
}

test('names that every object has are names like others', () => {
  const odd = tableOf([{ number: 0, state: 'completed', parameters: { constructor: 1, kind: 'toString' } }, { number: 1, state: 'completed', parameters: { constructor: 2, kind: 'x' } }]);
  const parsed = (text: string) => {
    const found = parseFilter(text, odd.parameters.keys());
    assert.ok(found.ok);
    return odd.rows.map((_, index) => index).filter(found.test(odd));
  };
  assert.deepEqual(parsed('constructor = 2'), [1]);
  assert.deepEqual(parsed('kind = toString'), [0]);
});

test('a filter keeps the rows that it is true of', () => {
  const cases: [string, number[]][] = [
    ['', [0, 1, 2, 3]],
    ['eta < 0.2', [0]],
    ['eta <= 0.2', [0, 2]],
    ['eta > 0.1 and eta < 0.4', [2]],
    ['state = stopped', [1, 3]],
    ['state != stopped', [0, 2]],
    ['state in (completed, failed)', [0, 2]],
    ['not state = stopped', [0, 2]],
    ['state = completed or eta = 0.4 and booster = dart', [0, 1]],
    ['(state = completed or eta = 0.4) and booster = dart', [1]],
    ['booster ~ "GBL"', [3]],
    ['`odd name` >= 3', [2, 3]],
    ['objective = nan', [3]],
    ['objective = none', [2]],
    ['objective > 0.5', [0]],
    ['trial in (1, 2) && !(eta = 0.2)', [1]],
  ];
  for (const [text, rows] of cases) assert.deepEqual(left(text), rows, text);
});

test('the objective of a trial that keeps its best round is the value of that, as trials are ranked by it', () => {
  const kept = tableOf([{ number: 0, state: 'completed', objective: 0.7, keptValue: 0.8 }]);
  const { count } = visibleTrials(kept, [], 'objective > 0.75', []);
  assert.equal(count, 1);
});

test('what a trial does not have is neither above nor below anything', () => {
  assert.deepEqual(left('eta >= 0 or eta < 0'), [0, 1, 2]);
});

test('a filter that cannot be read says where and what is known', () => {
  const fault = (text: string): { message: string; at: number } => {
    const parsed = parseFilter(text, table.parameters.keys());
    assert.ok(!parsed.ok, text);
    return parsed;
  };
  assert.match(fault('lr < 1').message, /no column “lr”; there are .*eta/);
  assert.equal(fault('eta < ').at, 6);
  assert.match(fault('eta 3').message, /comparison/);
  assert.match(fault('eta < 1 eta > 2').message, /and, or/);
  assert.match(fault('(eta < 1').message, /“\)”/);
  assert.match(fault('eta in 3').message, /“\(”/);
  assert.match(fault('eta < 1 %').message, /cannot read “%”/);
});
