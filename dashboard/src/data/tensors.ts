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

// The one that is shown when nobody has chosen: what a rule found, else the objective, a loss, or whatever there is.
export function firstTensor(tensors: readonly TensorEntry[], findings: readonly Finding[], metric: string): string {
  const names = tensors.map((tensor) => tensor.name);
  const found = findings.map((finding) => finding.tensor).find((name) => names.includes(name));
  return found ?? names.find((name) => name === `metrics/${metric}`) ?? names.find((name) => name.startsWith('losses/')) ?? names[0] ?? '';
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
