// What the debugger saved of a trial, and how its rules stand, as the page shows it.
import type { Finding, JobDetail, NumberText, RuleWord, TensorBeside, TensorEntry, TensorSeries } from '../api/shapes.ts';
import { numberOf } from './numbers.ts';

export const ruleCaptions: Record<RuleWord, string> = {
  in_progress: 'in progress',
  no_issues_found: 'no issues found',
  issues_found: 'issues found',
  not_judged: 'not judged',
  stopped: 'stopped',
  error: 'error',
};

// The sign of a trial's state that stands for it.
export const ruleMarks: Record<RuleWord, string> = {
  in_progress: 'running',
  no_issues_found: 'completed',
  issues_found: 'stopped',
  not_judged: 'pending',
  stopped: 'cancelled',
  error: 'failed',
};

export const isWatched = (job: JobDetail): boolean => job.spec['debug'] !== undefined && job.spec['debug'] !== null;

// Of an array: those of the server.
export const reductions = [
  'mean', 'min', 'max', 'std', 'variance', 'sum', 'prod', 'l1_norm', 'l2_norm', 'abs_min', 'abs_max', 'abs_mean', 'abs_std', 'abs_variance',
  'abs_sum', 'abs_prod', 'abs_l1_norm', 'abs_l2_norm', 'count', 'nans', 'infs', 'zeros',
] as const;

export function shapeText(tensor: TensorEntry): string {
  return tensor.scalar ? 'number' : `${tensor.dtype} (${tensor.shape.join(', ')})`;
}

// Whether it was found in this tensor: of a finding without a mode in any of its name.
export const isOf = (finding: Finding, entry: TensorEntry): boolean =>
  finding.tensor === entry.name && (finding.mode === undefined || finding.mode === entry.mode);

// What leads to the tensor of a finding.
export const chosenBy = (finding: Finding): Record<string, string> =>
  finding.tensor === '' ? {} : { tensor: finding.tensor, ...(finding.mode === undefined ? {} : { mode: finding.mode }) };

// The one that is shown when nobody has chosen: what a rule found, else the objective, a loss, or whatever there is.
export function firstTensor(tensors: readonly TensorEntry[], findings: readonly Finding[], metric: string): TensorEntry | undefined {
  const found = findings.map((finding) => tensors.find((tensor) => isOf(finding, tensor))).find((tensor) => tensor !== undefined);
  return found ?? tensors.find(({ name }) => name === `metrics/${metric}`) ?? tensors.find(({ name }) => name.startsWith('losses/')) ?? tensors[0];
}

export interface SeriesPoints {
  trial: number;
  steps: number[];
  values: number[];
}

// Of a number its value, of an array one of its reductions.
export function pointsOf(series: TensorSeries, trial: number, reduction: string): SeriesPoints {
  const points: SeriesPoints = { trial, steps: [], values: [] };
  for (const { step, value, reductions: reduced } of series.steps) {
    const shown: NumberText | undefined = value ?? reduced[reduction];
    if (shown === undefined) continue;
    points.steps.push(step);
    points.values.push(numberOf(shown));
  }
  return points;
}

export function pointsBeside(beside: TensorBeside): SeriesPoints[] {
  return beside.trials.map((trial, side) => {
    const steps = beside.steps.filter(({ values }) => values[side] !== null && values[side] !== undefined);
    return { trial, steps: steps.map(({ step }) => step), values: steps.map(({ values }) => numberOf(values[side] as NumberText)) };
  });
}
