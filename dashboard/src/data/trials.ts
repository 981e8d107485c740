// The trials of a job as columns: a row a trial, found by its number. Rows are added and changed in place as the job goes on;
// `version` tells whoever draws them.
import { signal } from '@preact/signals';
import type { Job, ParameterValue, Trial, TrialState } from '../api/shapes.ts';
import { numberOf } from './numbers.ts';

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
  ended: number | null;
  trainingSeconds: number;
  replicas: number;
  attempts: number;
  segments: number;
  worker: string;
}

export class TrialTable {
  readonly version = signal(0);
  readonly rows: TrialRow[] = [];
  readonly parameters = new Map<string, (ParameterValue | null)[]>(); // by row
  private readonly rowOf = new Map<number, number>();

  constructor(readonly createdAt: number) {} // milliseconds

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

  put(row: TrialRow, configuration: Record<string, ParameterValue>): void {
    const known = this.rowOf.get(row.number);
    const index = known ?? this.rows.length;
    this.rows[index] = row;
    this.rowOf.set(row.number, index);
    if (known !== undefined) return; // a configuration never changes
    for (const name of Object.keys(configuration)) {
      if (!this.parameters.has(name)) this.parameters.set(name, new Array<ParameterValue | null>(index).fill(null));
    }
    for (const [name, column] of this.parameters) column[index] = configuration[name] ?? null;
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
    this.version.value += 1;
  }
}

function secondsSince(start: number, at: string | null): number | null {
  return at === null ? null : (Date.parse(at) - start) / 1000;
}

export function rowOfTrial(trial: Trial, createdAt: number): TrialRow {
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
    ended: secondsSince(createdAt, trial.ended_at),
    trainingSeconds: trial.training_seconds,
    replicas: trial.replicas,
    attempts: trial.attempts,
    segments: trial.segments,
    worker: trial.worker,
  };
}

// Whether `a` is the better value; whatever is finite is better than what is not.
export function better(a: number, b: number, goal: Job['objective']['goal']): boolean {
  if (!Number.isFinite(b)) return Number.isFinite(a);
  return Number.isFinite(a) && (goal === 'maximize' ? a > b : a < b);
}
