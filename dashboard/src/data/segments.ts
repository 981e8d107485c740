// What follows from a job's segments: which went straight on, and when nothing ran.
import type { Timeline } from '../api/columns.ts';

// How a segment began: anew; straight on, on the worker that had just trained the one before it; or from a checkpoint.
export type Start = 'anew' | 'straight_on' | 'from_checkpoint';

export interface Gap {
  worker: number; // index
  from: number; // seconds
  until: number;
  before: number | null; // index of the segment that ended then
  after: number | null; // index of the one that began then
}

function byWorker(timeline: Timeline): number[][] {
  const lanes: number[][] = timeline.workers.map(() => []);
  timeline.worker.forEach((worker, index) => lanes[worker]?.push(index));
  for (const lane of lanes) lane.sort((a, b) => (timeline.began[a] as number) - (timeline.began[b] as number));
  return lanes;
}

export function startsOf(timeline: Timeline): Start[] {
  const starts = timeline.from_resource.map((from): Start => (from > 0 ? 'from_checkpoint' : 'anew'));
  for (const lane of byWorker(timeline)) {
    lane.forEach((index, place) => {
      const before = lane[place - 1];
      if (before === undefined || starts[index] !== 'from_checkpoint') return;
      const same = timeline.trial[before] === timeline.trial[index] && timeline.until_resource[before] === timeline.from_resource[index];
      if (same && timeline.outcomes[timeline.outcome[before] as number] === 'reached_rung') starts[index] = 'straight_on';
    });
  }
  return starts;
}

// The times in which a worker had nothing of this job, from the job's first segment to its last.
export function gapsOf(timeline: Timeline, now: number, least: number): Gap[] {
  const endOf = (index: number): number => timeline.ended[index] ?? now;
  const first = timeline.began.reduce((earliest, began) => Math.min(earliest, began), Infinity);
  const last = timeline.began.reduce((latest, _, index) => Math.max(latest, endOf(index)), 0);
  return byWorker(timeline).flatMap((lane, worker) => {
    const gaps: Gap[] = [];
    let [free, before]: [number, number | null] = [first, null];
    for (const index of lane) {
      const began = timeline.began[index] as number;
      if (began - free > least) gaps.push({ worker, from: free, until: began, before, after: index });
      if (endOf(index) >= free) [free, before] = [endOf(index), index];
    }
    if (last - free > least) gaps.push({ worker, from: free, until: last, before, after: null });
    return gaps;
  });
}

// The times, [from, until], in which no worker had anything of this job.
export function idleTimes(timeline: Timeline, now: number, least: number): [number, number][] {
  const order = timeline.began.map((_, index) => index).sort((a, b) => (timeline.began[a] as number) - (timeline.began[b] as number));
  const idle: [number, number][] = [];
  let end = order.length > 0 ? (timeline.began[order[0] as number] as number) : 0;
  for (const index of order) {
    const began = timeline.began[index] as number;
    if (began - end > least) idle.push([end, began]);
    end = Math.max(end, timeline.ended[index] ?? now);
  }
  return idle;
}
