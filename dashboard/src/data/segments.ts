// What follows from a job's segments: how each began, and when nothing ran.
import type { Timeline } from '../api/columns.ts';

// How a segment began: anew; straight on, in the memory of its workers; or from a checkpoint.
export type Start = 'anew' | 'straight_on' | 'from_checkpoint';

export interface Gap {
  worker: number; // the lane
  from: number; // seconds
  until: number;
  before: number | null; // index of the segment that ended then
  after: number | null; // index of the one that began then
}

// "local-1" of the id "local-1-a63184a1292cb8c6".
export const shortWorker = (id: string): string => id.replace(/-[0-9a-f]{16}$/, '');

// A row of the plot: a worker, or several of one name of which each took the place of the one before.
export interface Lane {
  name: string;
  workers: string[]; // ids
}

// Lanes in the order of their names, and the lane of each worker. Workers that were there at the same time have lanes of their own.
export function lanesOf(timeline: Timeline, now: number): { lanes: Lane[]; laneOf: number[] } {
  const times = timeline.workers.map(() => ({ from: Infinity, until: -Infinity }));
  timeline.worker.forEach((worker, index) => {
    const time = times[worker];
    if (!time) return;
    time.from = Math.min(time.from, timeline.began[index] as number);
    time.until = Math.max(time.until, timeline.ended[index] ?? now);
  });
  const order = timeline.workers.map((_, worker) => worker).sort((a, b) => (times[a]?.from ?? 0) - (times[b]?.from ?? 0));
  const found: (Lane & { until: number; members: number[] })[] = [];
  for (const worker of order) {
    const [id, time] = [timeline.workers[worker] as string, times[worker] as (typeof times)[number]];
    const lane = found.find((one) => one.name === shortWorker(id) && one.until <= time.from);
    if (lane) {
      lane.workers.push(id);
      lane.members.push(worker);
      lane.until = time.until;
    } else {
      found.push({ name: shortWorker(id), workers: [id], members: [worker], until: time.until });
    }
  }
  found.sort((a, b) => a.name.localeCompare(b.name, undefined, { numeric: true }));
  const laneOf: number[] = [];
  found.forEach((lane, index) => { for (const worker of lane.members) laneOf[worker] = index; });
  return { lanes: found.map(({ name, workers }) => ({ name, workers })), laneOf };
}

function byWorker(timeline: Timeline, laneOf: readonly number[] = timeline.workers.map((_, worker) => worker)): number[][] {
  const lanes: number[][] = Array.from({ length: Math.max(0, ...laneOf.map((lane) => lane + 1)) }, () => []);
  timeline.worker.forEach((worker, index) => lanes[laneOf[worker] ?? -1]?.push(index));
  for (const lane of lanes) lane.sort((a, b) => (timeline.began[a] as number) - (timeline.began[b] as number));
  return lanes;
}

// Of several in a cell nothing is told.
export function startsOf(timeline: Timeline): Start[] {
  return timeline.from_resource.map((from, index): Start => {
    if (from === 0 || (timeline.segments?.[index] ?? 1) > 1) return 'anew';
    return timeline.straight_on[index] === 1 ? 'straight_on' : 'from_checkpoint';
  });
}

export interface Within {
  now: number; // the end of what has none
  least: number; // seconds: what is shorter is no gap
  from?: number; // from the first segment's begin
  until?: number; // to the last one's end
  laneOf?: readonly number[]; // of each worker; a lane each
}

function endsOf(timeline: Timeline, { now, from, until }: Within): [number, number] {
  const first = timeline.began.reduce((earliest, began) => Math.min(earliest, began), Infinity);
  const last = timeline.began.reduce((latest, _, index) => Math.max(latest, timeline.ended[index] ?? now), -Infinity);
  return [from ?? first, until ?? last];
}

// The times in which a lane had nothing of what is here.
export function gapsOf(timeline: Timeline, within: Within): Gap[] {
  const endOf = (index: number): number => timeline.ended[index] ?? within.now;
  const [first, last] = endsOf(timeline, within);
  return byWorker(timeline, within.laneOf).flatMap((lane, worker) => {
    const gaps: Gap[] = [];
    let [free, before]: [number, number | null] = [first, null];
    for (const index of lane) {
      const began = timeline.began[index] as number;
      if (began - free > within.least) gaps.push({ worker, from: free, until: began, before, after: index });
      if (endOf(index) >= free) [free, before] = [endOf(index), index];
    }
    if (last - free > within.least) gaps.push({ worker, from: free, until: last, before, after: null });
    return gaps;
  });
}

// The times, [from, until], in which no worker had anything of what is here.
export function idleTimes(timeline: Timeline, within: Within): [number, number][] {
  const order = timeline.began.map((_, index) => index).sort((a, b) => (timeline.began[a] as number) - (timeline.began[b] as number));
  const [first, last] = endsOf(timeline, within);
  const idle: [number, number][] = [];
  let end = first;
  for (const index of order) {
    const began = timeline.began[index] as number;
    if (began - end > within.least) idle.push([end, began]);
    end = Math.max(end, timeline.ended[index] ?? within.now);
  }
  if (last - end > within.least) idle.push([end, last]);
  return idle;
}
