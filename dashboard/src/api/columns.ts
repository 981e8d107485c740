// Replies that are columns: a list a field, a place in it a row. Times are seconds since the job was created.
import { numberOf } from '../data/numbers.ts';
import { TrialTable, type Result, type TrialRow } from '../data/trials.ts';
import type { Curve } from '../state/curve_store.ts';
import type { Decision, ServerEvent, NumberText, ParameterValue, TrialState, Verdict } from './shapes.ts';

export interface TrialColumns {
  created_at: string;
  states: TrialState[];
  workers: string[];
  trials: number;
  number: number[];
  state: number[];
  bracket: number[];
  rung: number[];
  resource: number[];
  objective: (NumberText | null)[];
  objective_resource: number[];
  kept_value: (number | null)[];
  violation?: NumberText[];
  more_objectives?: (NumberText | null)[][];
  started: (number | null)[];
  arrived: (number | null)[];
  ended: (number | null)[];
  training_seconds: number[];
  replicas?: number[];
  resource_so_far: (number | null)[];
  worker_seconds_so_far: (number | null)[];
  best_so_far: { seconds: number[]; trial: number[]; value: number[]; resource: number[]; resource_so_far: number[]; worker_seconds_so_far: number[] };
  left_out: number;
  attempts: number[];
  segments: number[];
  worker: number[];
  parameters: Record<string, (ParameterValue | null)[]>;
  notes: Record<string, string>; // by number
}

function resultsByTrial(best: TrialColumns['best_so_far']): Map<number, Result[]> {
  const results = new Map<number, Result[]>();
  best.trial.forEach((trial, index) => {
    const its = results.get(trial) ?? [];
    its.push({
      at: best.seconds[index] as number,
      value: best.value[index] as number,
      resource: best.resource[index] as number,
      resourceSoFar: best.resource_so_far[index] as number,
      workerSecondsSoFar: best.worker_seconds_so_far[index] as number,
    });
    results.set(trial, its);
  });
  return results;
}

export function tableOfColumns(columns: TrialColumns): TrialTable {
  const table = new TrialTable(Date.parse(columns.created_at), columns.left_out);
  const results = resultsByTrial(columns.best_so_far);
  const rows = columns.number.map((number, index): TrialRow => {
    const objective = columns.objective[index] ?? null;
    return {
      number,
      state: columns.states[columns.state[index] as number] ?? 'pending',
      bracket: columns.bracket[index] as number,
      rung: columns.rung[index] as number,
      resource: columns.resource[index] as number,
      objective: objective === null ? null : numberOf(objective),
      objectiveResource: columns.objective_resource[index] as number,
      keptValue: columns.kept_value[index] ?? null,
      moreObjectives: (columns.more_objectives ?? []).flatMap((column) => { const value = column[index] ?? null; return value === null ? [] : [numberOf(value)]; }),
      violation: numberOf(columns.violation?.[index] ?? 0),
      started: columns.started[index] ?? null,
      arrived: columns.arrived[index] ?? null,
      ended: columns.ended[index] ?? null,
      trainingSeconds: columns.training_seconds[index] as number,
      replicas: columns.replicas?.[index] ?? 1,
      attempts: columns.attempts[index] as number,
      segments: columns.segments[index] as number,
      worker: columns.workers[columns.worker[index] as number] ?? '',
      resourceSoFar: columns.resource_so_far[index] ?? null,
      workerSecondsSoFar: columns.worker_seconds_so_far[index] ?? null,
      results: results.get(number) ?? [],
      note: columns.notes[String(number)] ?? '',
    };
  });
  table.fill(rows, columns.parameters);
  return table;
}

export interface CurveColumns {
  trial: number[];
  begin: number[]; // of each trial's points; one more at the end
  resource: number[];
  value: NumberText[];
  left_out: number;
}

export function curvesOfColumns(columns: CurveColumns): Map<number, Curve> {
  return new Map(columns.trial.map((trial, index) => {
    const [from, to] = [columns.begin[index] as number, columns.begin[index + 1] as number];
    return [trial, { resource: columns.resource.slice(from, to), value: columns.value.slice(from, to).map(numberOf) }];
  }));
}

export interface DecisionColumns {
  verdicts: Verdict[];
  trial: number[];
  bracket: number[];
  rung: number[];
  resource: number[];
  value: (NumberText | null)[];
  violation?: NumberText[];
  verdict: number[];
  rank: number[];
  filled: number[];
  cutoff: (NumberText | null)[];
  left_out: number;
}

export function decisionsOfColumns(columns: DecisionColumns): Decision[] {
  return columns.trial.map((trial, index) => ({
    trial,
    bracket: columns.bracket[index] as number,
    rung: columns.rung[index] as number,
    resource: columns.resource[index] as number,
    value: columns.value[index] ?? null,
    verdict: columns.verdicts[columns.verdict[index] as number] ?? 'waiting',
    rank: columns.rank[index] as number,
    filled: columns.filled[index] as number,
    cutoff: columns.cutoff[index] ?? null,
    violation: columns.violation?.[index] ?? 0,
  }));
}

// Cells of segments, of which there may be several on a worker in one (`segments`, left out where each is one).
export interface Timeline {
  created_at: string;
  workers: string[];
  outcomes: string[];
  trial: number[];
  worker: number[]; // index
  rank: number[];
  from_resource: number[];
  until_resource: number[];
  began: number[];
  ended: (number | null)[]; // null: under way
  outcome: number[]; // index; -1: under way
  straight_on: number[]; // 1: its workers had the trial in memory
  attempt: number[];
  segments?: number[];
  losses?: number[]; // of those, how many failed or were lost
  merged: number; // segments that stand with others in a cell
  workers_left_out: number;
}

// Of all jobs, from `from` until `until`; `created_at` is `from`.
export interface WorkersTimeline extends Timeline {
  from: string;
  until: string;
  job: number[]; // ids
  jobs: { id: number; name: string; created_at: string; ended_at: string | null; max_parallel_trials: number | null }[];
  more_jobs: boolean;
  events: ServerEvent[];
  more_events: boolean;
  server_starts: { at: string; silent_since: string }[];
}
