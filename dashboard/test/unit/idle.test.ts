import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { WorkersTimeline } from '../../src/api/columns.ts';
import type { ServerEvent } from '../../src/api/shapes.ts';
import { whyIdle } from '../../src/data/idle.ts';
import { lanesOf } from '../../src/data/segments.ts';
import { formatBytes, formatClock, roundTimes } from '../../src/data/numbers.ts';
import { sparkPath } from '../../src/parts/sparkline.tsx';

const start = Date.parse('2026-03-01T14:00:00.000Z');
const at = (seconds: number): string => new Date(start + seconds * 1000).toISOString();
const clock = (seconds: number): string => formatClock(start + seconds * 1000);
const span = (from: number, until: number): { from: number; until: number } => ({ from: start + from * 1000, until: start + until * 1000 });

type Told = [kind: string, worker: string, seconds: number, message?: string, job?: number];
type Ran = [worker: number, job: number, began: number, ended: number | null];

function timelineOf({ told = [], ran = [], jobs = [], starts = [] }: { told?: Told[]; ran?: Ran[]; jobs?: [number, string, number, number | null, number?][]; starts?: [number, number][] }): WorkersTimeline {
  const zeros = ran.map(() => 0);
  return {
    created_at: at(0), from: at(0), until: at(3600), workers: ['a', 'b'], outcomes: ['completed'], trial: zeros, worker: ran.map((one) => one[0]), rank: zeros, from_resource: zeros,
    until_resource: zeros, attempt: zeros, job: ran.map((one) => one[1]), began: ran.map((one) => one[2]), ended: ran.map((one) => one[3]), outcome: zeros, straight_on: zeros, merged: 0, workers_left_out: 0,
    jobs: jobs.map(([id, name, created, ended, most]) => ({ id, name, created_at: at(created), ended_at: ended === null ? null : at(ended), max_parallel_trials: most ?? null })),
    more_jobs: false, more_events: false, server_starts: starts.map(([silent, began]) => ({ at: at(began), silent_since: at(silent) })),
    events: told.map(([kind, worker, seconds, message = '', job], id): ServerEvent => ({ id, kind, job: job ?? null, job_name: null, trial: null, worker, message, at: at(seconds) })),
  };
}

const both: Told[] = [['worker_connected', 'a', 0], ['worker_connected', 'b', 0]];

test('nothing ran because no worker was there, and it says who went and who came', () => {
  const timeline = timelineOf({ told: [...both, ['worker_lost', 'a', 100, 'it did not report for 30 s'], ['worker_disconnected', 'b', 110], ['worker_connected', 'b', 200]] });
  assert.deepEqual(whyIdle(timeline, span(120, 200)), [
    `No worker was there: a was lost at ${clock(100)} (it did not report for 30 s), b went at ${clock(110)}; b came at ${clock(200)}.`,
  ]);
  assert.deepEqual(whyIdle(timeline, span(120, 200), ['a']), [`It was not there: a was lost at ${clock(100)} (it did not report for 30 s).`]);
  assert.deepEqual(whyIdle({ ...timelineOf({ told: [['worker_connected', 'a', 300]] }), workers: ['a'] }, span(0, 300)), [`No worker was there: a came at ${clock(300)}.`]);
  assert.deepEqual(whyIdle({ ...timelineOf({}), workers: [] }, span(0, 300)), ['No worker was there.']);
});

test('of workers that took each other\'s place the last one counts', () => {
  const [first, second] = ['w-0123456789abcdef', 'w-fedcba9876543210'];
  const timeline = timelineOf({ told: [['worker_connected', first, 0], ['worker_lost', first, 10, 'killed'], ['worker_connected', second, 11], ['worker_released', second, 50]] });
  assert.deepEqual(whyIdle({ ...timeline, workers: [first, second] }, span(50, 90)), [`No worker was there: w was let go at ${clock(50)}.`]);
});

test('nothing ran because no job was under way', () => {
  const timeline = timelineOf({ told: both, jobs: [[2, 'later', 500, null], [1, 'earlier', 0, 90]] });
  assert.deepEqual(whyIdle(timeline, span(90, 500)), [`No job that is still known was under way: earlier had ended at ${clock(90)}, later was submitted at ${clock(500)}.`]);
});

test('the server was not there', () => {
  const timeline = timelineOf({ told: both, jobs: [[1, 'demo', 0, null]], starts: [[100, 160]] });
  assert.match(whyIdle(timeline, span(95, 165))[0] ?? '', new RegExp(`^The server was started at ${clock(160)}; the last that is known of the one before is from ${clock(100)}`));
  assert.doesNotMatch(whyIdle(timeline, span(200, 300)).join(' '), /The server/);
});

test('a job that was under way had nothing to start, or may not start more', () => {
  const jobs: [number, string, number, number | null, number?][] = [[1, 'demo', 0, null, 1]];
  assert.match(whyIdle(timelineOf({ told: both, jobs }), span(10, 50)).join(' '), /^demo was under way and started nothing/);
  const running = timelineOf({ told: both, jobs, ran: [[0, 1, 5, 60]] });
  assert.deepEqual(whyIdle(running, span(10, 50), ['b']), ['demo ran 1 trial elsewhere, as many as its max_parallel_trials allows.']);
  const over = timelineOf({ told: [...both, ['job_starts_no_more', '', 20, 'max_runtime_seconds is over', 1]], jobs, ran: [[0, 1, 5, 60]] });
  assert.deepEqual(whyIdle(over, span(30, 50), ['b']), ['demo started no more trials (max_runtime_seconds is over): 1 trial of it still ran elsewhere.']);
});

test('of one job it is told which others had the workers', () => {
  const jobs: [number, string, number, number | null][] = [[2, 'other', 0, null], [1, 'demo', 0, null]];
  const timeline = timelineOf({ told: both, jobs, ran: [[0, 2, 0, 100], [1, 2, 0, 20]] });
  assert.deepEqual(whyIdle(timeline, span(0, 100), ['a'], 1), ['It trained other.']);
  assert.equal(whyIdle(timeline, span(0, 100), ['b'], 1).length, 2, 'most of the time it was free');
});

test('workers of one name that follow each other share a lane, those that overlap do not', () => {
  const timeline = { ...timelineOf({ ran: [[0, 1, 0, 10], [1, 1, 10, null], [2, 1, 5, 20], [3, 1, 0, 1]] }), workers: ['w-0123456789abcdef', 'w-fedcba9876543210', 'w-aaaaaaaaaaaaaaaa', 'v-2'] };
  const { lanes, laneOf } = lanesOf(timeline, 30);
  assert.deepEqual(lanes.map((lane) => lane.name), ['v-2', 'w', 'w']);
  assert.equal(laneOf[0], laneOf[1]);
  assert.notEqual(laneOf[0], laneOf[2]);
});

test('an axis of time has round moments', () => {
  const from = Date.parse('2026-03-01T14:01:10.000Z');
  assert.deepEqual(roundTimes(from, from + 240_000, 4).map((ms) => new Date(ms).toISOString().slice(14, 19)), ['02:00', '03:00', '04:00', '05:00']);
  assert.deepEqual(roundTimes(from, from + 500, 4).map((ms) => ms - from), [0, 200, 400]);
  assert.deepEqual(roundTimes(from, from + 100, 4), [], 'less than a tenth of a second apart none is round');
  assert.ok(roundTimes(from, from + 30 * 86_400_000, 10).length <= 10);
});

test('sizes are told in what a person counts in', () => {
  assert.deepEqual([0, 999, 1000, 12_345, 999_950, 5e9, 7e15].map(formatBytes), ['0 B', '999 B', '1.0 kB', '12 kB', '1000 kB', '5.0 GB', '7000 TB']);
});

test('a sparkline steps to each better value, goes on to the end, and has no place for what is not finite', () => {
  assert.equal(sparkPath([], [], 10), '');
  assert.equal(sparkPath([0], [NaN], 10), '');
  assert.equal(sparkPath([0, 5], [2, 1], 10), 'M3.0 3.0H60.0V25.0H117.0');
  assert.equal(sparkPath([5], [1], 10), 'M60.0 14.0H117.0');
  assert.doesNotMatch(sparkPath([0, 1], [-1e308, 1e308], 2), /Infinity|NaN/);
});
