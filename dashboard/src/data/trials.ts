// The trials of a job as columns: a row a trial, found by its number. Rows are added and changed in place as the job goes on;
// `version` tells whoever draws them.
import { signal } from '@preact/signals';
import type { Job, JobDetail, ParameterValue, Trial, TrialState } from '../api/shapes.ts';
import { hasFewerFoldsBelow } from './folds.ts';
import { numberOf } from './numbers.ts';
import { placeOf, type Parameter } from './space.ts';

// A value that a trial came to, where its row has a later one or may have.
export interface Result {
  at: number; // seconds since the job was created
  value: number;
  resource: number;
  resourceSoFar: number | null; // as of TrialRow
  workerSecondsSoFar: number | null;
}

export interface TrialRow {
  number: number;
  state: TrialState;
  bracket: number;
  rung: number;
  resource: number;
  objective: number | null; // null: none yet; NaN and infinities are values
  objectiveResource: number;
  keptValue: number | null; // of the trial's model, the best of its rungs; null: its last value
  moreObjectives: number[];
  violation: number;
  started: number | null; // seconds since the job was created
  arrived: number | null; // at its rung, or at the end: when its value came
  ended: number | null;
  trainingSeconds: number;
  replicas: number;
  attempts: number;
  segments: number;
  worker: string;
  resourceSoFar: number | null; // what the whole job had spent when its value came; null: not told
  workerSecondsSoFar: number | null;
  results: readonly Result[]; // finite: all of those that the best so far may be made of, in order
  note: string;
}

// What trials are ranked by, here as on the server: the value of the model that a trial has.
export function valueOf(row: TrialRow): number | null {
  return row.keptValue ?? row.objective;
}

// As the server ranks them, what comes first whatever its value: 0 what counts, 1 a value of fewer folds, 2 what breaks constraints.
export function standingIn(job: Pick<JobDetail, 'max_resource' | 'spec'>): (row: TrialRow) => number {
  const fewerBelow = hasFewerFoldsBelow(job.spec);
  return (row) => (row.violation > 0 ? 2 : fewerBelow && row.objectiveResource < job.max_resource ? 1 : 0);
}

function resultOf(row: TrialRow): Result[] {
  const value = valueOf(row);
  if (row.arrived === null || value === null || !Number.isFinite(value)) return [];
  return [{ at: row.arrived, value, resource: row.objectiveResource, resourceSoFar: row.resourceSoFar, workerSecondsSoFar: row.workerSecondsSoFar }];
}

// A trial is told of when it has come to its rung, and when it goes on from there.
function hasArrived(row: TrialRow): boolean {
  return row.state === 'paused' || row.state === 'completed' || (row.state === 'running' && row.rung > 0);
}

// When something is told, and what the whole job had cost by then.
export interface Told {
  at: number; // seconds
  resource: number;
  workerSeconds: number;
}

export class TrialTable {
  readonly version = signal(0);
  readonly rows: TrialRow[] = [];
  readonly parameters = new Map<string, (ParameterValue | null)[]>(); // by row
  private readonly rowOf = new Map<number, number>();
  private readonly derived = new Map<string, unknown>(); // of this version
  private unsettled: TrialRow[] = []; // told of before what the job has spent with them

  // `leftOut`: trials of the job that are not in here.
  constructor(
    readonly createdAt: number, // milliseconds
    readonly leftOut = 0,
  ) {}

  get count(): number {
    return this.rows.length;
  }

  find(number: number): number | undefined {
    return this.rowOf.get(number);
  }

  row(number: number): TrialRow | undefined {
    const index = this.rowOf.get(number);
    return index === undefined ? undefined : this.rows[index];
  }

  // `now`: seconds since the job was created, of a row that is told while the job runs.
  put(row: TrialRow, configuration: Record<string, ParameterValue>, told: Told | null = null): void {
    const known = this.rowOf.get(row.number);
    const before = known === undefined ? undefined : this.rows[known];
    const arrives = hasArrived(row) && !(before && before.rung === row.rung && before.state === row.state);
    const now = arrives ? told : null;
    row.arrived ??= now?.at ?? before?.arrived ?? null;
    row.resourceSoFar ??= now?.resource ?? before?.resourceSoFar ?? null;
    row.workerSecondsSoFar ??= now?.workerSeconds ?? before?.workerSecondsSoFar ?? null;
    if (before && row.results.length === 0) row.results = before.results;
    if (now) row.results = [...row.results, ...resultOf(row)];
    if (now) this.unsettled.push(row);
    const index = known ?? this.rows.length;
    this.rows[index] = row;
    this.rowOf.set(row.number, index);
    for (const name of Object.keys(configuration)) {
      if (!this.parameters.has(name)) this.parameters.set(name, new Array<ParameterValue | null>(index).fill(null));
    }
    for (const [name, column] of this.parameters) column[index] = configuration[name] ?? null;
  }

  // What the job has spent is told after the trials by which it has grown.
  settle(resource: number, workerSeconds: number): void {
    for (const row of this.unsettled) {
      row.resourceSoFar = resource;
      row.workerSecondsSoFar = workerSeconds;
      row.results = row.results.map((its, index) => (index + 1 < row.results.length ? its : { ...its, resourceSoFar: resource, workerSecondsSoFar: workerSeconds }));
    }
    this.unsettled = [];
  }

  // All rows at once, of a table that has none.
  fill(rows: readonly TrialRow[], parameters: Record<string, (ParameterValue | null)[]>): void {
    rows.forEach((row, index) => {
      this.rows[index] = row;
      this.rowOf.set(row.number, index);
    });
    for (const [name, column] of Object.entries(parameters)) this.parameters.set(name, column);
  }

  configuration(index: number): Record<string, ParameterValue> {
    const configuration: Record<string, ParameterValue> = {};
    for (const [name, column] of this.parameters) {
      const value = column[index];
      if (value !== null && value !== undefined) configuration[name] = value;
    }
    return configuration;
  }

  changed(): void {
    this.derived.clear();
    this.version.value += 1;
  }

  // What follows from the rows alone is computed once for all who draw them.
  derive<T>(name: string, make: () => T): T {
    let found = this.derived.get(name) as T | undefined;
    if (found === undefined) this.derived.set(name, (found = make()));
    return found;
  }

  // By row: the place of its value on the parameter's axis, 0 to 1; NaN without one.
  placesOf(parameter: Parameter): Float64Array {
    return this.derive(`place ${parameter.name}`, () => {
      const column = this.parameters.get(parameter.name) ?? [];
      return Float64Array.from({ length: this.count }, (_, index) => placeOf(parameter, column[index]));
    });
  }

  // By row, what it is ranked by; NaN where it is missing or not finite.
  objectives(): Float64Array {
    return this.derive('objective', () =>
      Float64Array.from(this.rows, (row) => {
        const value = valueOf(row) ?? NaN;
        return Number.isFinite(value) ? value : NaN;
      }),
    );
  }

  // The rows from the best value to the worst, those without one last.
  byMerit(goal: Job['objective']['goal']): Uint32Array {
    return this.derive(`merit ${goal}`, () => {
      const values = this.objectives();
      const sign = goal === 'maximize' ? -1 : 1;
      const cost = values.map((value) => (Number.isNaN(value) ? Infinity : sign * value));
      return Uint32Array.from(cost.keys()).sort((a, b) => (cost[a] as number) - (cost[b] as number) || a - b);
    });
  }
}

function secondsSince(start: number, at: string | null): number | null {
  return at === null ? null : (Date.parse(at) - start) / 1000;
}

// `note`: the one that it has, where live updates leave it out.
export function rowOfTrial(trial: Trial, createdAt: number, note = ''): TrialRow {
  return {
    number: trial.number,
    state: trial.state,
    bracket: trial.bracket,
    rung: trial.rung,
    resource: trial.resource,
    objective: trial.objective === null ? null : numberOf(trial.objective),
    objectiveResource: trial.objective_resource,
    keptValue: trial.kept_value,
    moreObjectives: trial.more_objectives.map(numberOf),
    violation: numberOf(trial.violation),
    started: secondsSince(createdAt, trial.started_at),
    arrived: null,
    ended: secondsSince(createdAt, trial.ended_at),
    trainingSeconds: trial.training_seconds,
    replicas: trial.replicas,
    attempts: trial.attempts,
    segments: trial.segments,
    worker: trial.worker,
    resourceSoFar: null,
    workerSecondsSoFar: null,
    results: [],
    note: trial.note ?? note,
  };
}

// How far the training came that the trial's objective is of: to its rung, or as far as it was when its job ended.
export function trainedFor(trial: Trial): number {
  const unfinished = trial.state === 'cancelled' && trial.objective_resource === trial.until_resource;
  return unfinished ? trial.resource : trial.objective_resource;
}

// Whether `a` is the better value; whatever is finite is better than what is not.
export function better(a: number, b: number, goal: Job['objective']['goal']): boolean {
  if (!Number.isFinite(b)) return Number.isFinite(a);
  return Number.isFinite(a) && (goal === 'maximize' ? a > b : a < b);
}
