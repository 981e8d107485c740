import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ClockDifference } from '../../src/api/clock.ts';

const start = Date.parse('2026-03-01T14:00:00.000Z');

// What answers tell of a server whose clock is `ahead` of the browser's, each asked for at such a time and 40 ms on its way.
function heard(ahead: number, times: readonly number[], difference = new ClockDifference()): ClockDifference {
  for (const at of times) difference.hear(new Date(start + at + 20 + ahead).toUTCString(), start + at, start + at + 40);
  return difference;
}

const moments = Array.from({ length: 20 }, (_, i) => i * 1_150);

test('clocks that differ by less than a second are taken for the same, and so they are before an answer came', () => {
  assert.equal(new ClockDifference().ms, 0);
  const without = new ClockDifference();
  without.hear(null, start, start + 40);
  assert.equal(without.ms, 0);
  for (const ahead of [-900, -300, 0, 300, 900]) assert.equal(heard(ahead, moments).ms, 0);
});

test('what the server is ahead or behind is told by one answer to about a second, and better by several', () => {
  for (const ahead of [-300_000, -5_300, 5_300, 86_400_000]) {
    assert.ok(Math.abs(heard(ahead, [400]).ms - ahead) <= 550, `${ahead}: ${heard(ahead, [400]).ms}`);
    assert.ok(Math.abs(heard(ahead, moments).ms - ahead) <= 80, `${ahead}: ${heard(ahead, moments).ms}`);
  }
});

test('an answer that was long on its way makes nothing worse', () => {
  const difference = heard(-300_000, moments);
  difference.hear(new Date(start - 250_000).toUTCString(), start + 30_000, start + 90_000);
  assert.ok(Math.abs(difference.ms + 300_000) <= 80, String(difference.ms));
});

test('a clock that was set is learned anew', () => {
  const difference = heard(-300_000, moments);
  assert.equal(heard(0, [30_000], difference).ms, 0);
  assert.ok(Math.abs(heard(60_000, [31_000, 32_150], difference).ms - 60_000) <= 550);
});
