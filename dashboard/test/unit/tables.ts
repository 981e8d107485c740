// Tables of trials for tests.
import type { Job, ParameterValue, TrialState } from '../../src/api/shapes.ts';
import { TrialTable, type TrialRow } from '../../src/data/trials.ts';

export interface GivenTrial extends Partial<Omit<TrialRow, 'number'>> {
  number: number;
  state: TrialState;
  parameters?: Record<string, ParameterValue>;
}

export function rowOf({ parameters: _parameters, ...given }: GivenTrial): TrialRow {
  return {
    bracket: 0, rung: 0, resource: 1, objective: null, objectiveResource: 1, keptValue: null, moreObjectives: [], violation: 0, started: 0, arrived: null, ended: 1,
    trainingSeconds: 1, replicas: 1, attempts: 1, segments: 1, worker: 'local-0', resourceSoFar: null, workerSecondsSoFar: null, results: [], note: '', ...given,
  };
}

export function tableOf(trials: readonly GivenTrial[]): TrialTable {
  const table = new TrialTable(0);
  for (const trial of trials) table.put(rowOf(trial), trial.parameters ?? {});
  return table;
}

// A job, as far as its trials are judged by it.
export function judged(goal: Job['objective']['goal'], maxResource: number, rungsCompare = false, folds?: unknown) {
  const spec = { name: 'j', search_space: {}, trainer: { type: 'xgboost', data: { folds } } };
  return { objective: { goal }, max_resource: maxResource, rungs_compare: rungsCompare, spec };
}
