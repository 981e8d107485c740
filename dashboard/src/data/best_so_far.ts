// The best value so far over what it cost: time, resource or worker time. It counts at max_resource; while no trial has come so
// far, at the highest resource that any has reached; where rungs compare, at any. The best at any resource is told apart: a lower
// rung may flatter a trial. Values of fewer folds are left out once there is one of all.
import type { Job, JobDetail, TrialState } from '../api/shapes.ts';
import { hasFewerFoldsBelow } from './folds.ts';
import { better, valueOf, type TrialRow } from './trials.ts';

export type CostAxis = 'time' | 'resource' | 'worker_time';

export interface Step {
  cost: number;
  value: number;
  trial: number;
}

export interface Point extends Step {
  state: TrialState;
  counts: boolean;
}

export interface BestSoFar {
  steps: Step[]; // of what counts, each better than the one before
  anywhere: Step[]; // of all values
  points: Point[]; // all trials with a value, in the order of cost
  end: number; // the cost of everything so far
  resource: number; // the level that counts; 0: any
  alone: boolean; // what does not count is left out
}

type Judged = Pick<JobDetail, 'max_resource' | 'rungs_compare' | 'spec'> & { objective: Pick<Job['objective'], 'goal'> };

export function levelThatCounts(rows: readonly TrialRow[], job: Judged): number {
  if (job.rungs_compare) return 0;
  let highest = 0;
  for (const row of rows) if (valueThatCounts(row) !== null) highest = Math.max(highest, row.objectiveResource);
  return Math.min(job.max_resource, highest);
}

// Finite, of a trial that meets the constraints.
function valueThatCounts(row: TrialRow): number | null {
  const value = valueOf(row);
  return value !== null && Number.isFinite(value) && row.violation <= 0 ? value : null;
}

export function bestSoFar(rows: readonly TrialRow[], job: Judged, axis: CostAxis, now: number): BestSoFar {
  const { goal } = job.objective;
  const resource = levelThatCounts(rows, job);
  const alone = resource === job.max_resource && hasFewerFoldsBelow(job.spec);
  // By when the values came: a trial may wait long at its rung, while others are trained.
  const at = (row: TrialRow): number => row.arrived ?? row.ended ?? now;
  const byArrival = rows.filter((row) => row.started !== null).sort((a, b) => at(a) - at(b) || a.number - b.number);
  const points: Point[] = [];
  const earlier: (Step & { counts: boolean })[] = []; // values that trials had before those of their rows
  let spent = 0;
  for (const row of byArrival) {
    const before = axis === 'resource' ? row.resourceSoFar : row.workerSecondsSoFar;
    spent = before ?? spent + (axis === 'resource' ? row.resource : row.trainingSeconds * row.replicas);
    for (const its of row.violation > 0 ? [] : row.results) {
      const cost = axis === 'time' ? its.at : axis === 'resource' ? its.resourceSoFar : its.workerSecondsSoFar;
      const counts = its.resource >= resource;
      if (cost !== null && (counts || !alone)) earlier.push({ cost, value: its.value, trial: row.number, counts });
    }
    const value = valueThatCounts(row);
    if (value === null) continue;
    const counts = row.objectiveResource >= resource;
    if (counts || !alone) points.push({ cost: axis === 'time' ? at(row) : spent, value, trial: row.number, state: row.state, counts });
  }
  const all = [...earlier, ...points].sort((a, b) => a.cost - b.cost);
  const steps = improvements(all.filter((point) => point.counts), goal);
  const last = byArrival.at(-1);
  return { steps, anywhere: improvements(all, goal), points, end: axis === 'time' ? (last ? Math.max(...byArrival.map((row) => row.ended ?? now)) : 0) : spent, resource, alone };
}

function improvements(points: readonly Step[], goal: Job['objective']['goal']): Step[] {
  const steps: Step[] = [];
  for (const { cost, value, trial } of points) {
    const best = steps.at(-1);
    if (!best || better(value, best.value, goal)) steps.push({ cost, value, trial });
  }
  return steps;
}
