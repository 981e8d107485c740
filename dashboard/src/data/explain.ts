// Trials in words.
import type { Costs, CrowdedBound, Job, Summary, Trial } from '../api/shapes.ts';
import { formatCount, formatDuration, formatNumber, numberOf } from './numbers.ts';
import { trainedFor } from './trials.ts';

function joined(parts: string[]): string {
  return parts.length < 2 ? (parts[0] ?? '') : `${parts.slice(0, -1).join(', ')} and ${parts.at(-1)}`;
}

const oneOf = (name: string): string => name.replace(/s$/, '');

export function units(resource: number, name: string): string {
  return `${resource} ${resource === 1 ? oneOf(name) : name}`;
}

// How far the best trial's training came, and which of its rounds counts.
export function trainingOf(best: Trial, job: Job): string {
  const trained = trainedFor(best);
  const share = trained < job.max_resource ? ` of ${job.max_resource}` : '';
  const itsJobEnded = trained < best.objective_resource ? ', when its job ended' : '';
  const kept = best.kept_resource > 0 && best.kept_resource !== trained ? ` (the value and the model are of ${oneOf(job.resource_name)} ${best.kept_resource}, its best)` : '';
  const none = share !== '' && itsJobEnded === '' && job.trials.completed === 0;
  const nobody = !none ? '' : job.ended_at === null ? ': no trial has come to the end yet' : ': no trial came to the end';
  return `${units(trained, job.resource_name)}${share}${itsJobEnded}${kept}${nobody}`;
}

// Of several objectives the values of those after the first, "latency 115.5 and size 3".
export function furtherValuesOf(trial: Trial, job: Job): string {
  return joined(job.more_objectives.flatMap((objective, place) => {
    const value = trial.more_objectives[place];
    return value === undefined ? [] : [`${objective.metric} ${formatNumber(numberOf(value))}`];
  }));
}

// What the job bounds, and how many trials are within: "size at most 10 and recall at least 0.8: 37 of 40 trials".
export function withinText(job: Job, costs: Costs): string {
  const bounds = job.constraints.map(({ metric, min, max }) => {
    if (min !== null && max !== null) return `${metric} from ${formatNumber(min)} to ${formatNumber(max)}`;
    return min !== null ? `${metric} at least ${formatNumber(min)}` : `${metric} at most ${formatNumber(max)}`;
  });
  return `${joined(bounds)}: ${costs.trials_measured - costs.trials_violating} of ${formatCount(costs.trials_measured, 'trial')}`;
}

export function crowdedText({ parameter, end, bound, trials, of }: CrowdedBound): string {
  return `${parameter} = ${formatNumber(bound)}, its ${end}: ${trials} of the best ${of} trials lie within 2 % of it.`;
}

// Why there is no importance yet.
export function importanceWaitsFor({ importance, summary }: Pick<Summary, 'importance' | 'summary'>): string {
  const { results, results_needed: needed } = importance;
  if (results < needed) return `Known when ${needed} trials have a value at one level: ${results} have.`;
  const { trials_measured: measured, trials_not_finite: bad, trials_violating: violating } = summary;
  if (bad + violating < measured || measured === 0) return 'Being computed…';
  const wanted = bad === 0 ? 'meets the constraints' : violating === 0 ? 'has a finite value' : 'has a finite value and meets the constraints';
  return `Known when a trial ${wanted}: none of the ${formatCount(measured, 'trial')} with a result does.`;
}

export function savedText(costs: Costs, job: Job): string {
  const nothing = job.ended_at === null ? 'Nothing so far' : 'Nothing';
  if (costs.resource_saved === 0) return `${nothing}.`;
  if (costs.resource_saved < 0) return `${nothing}: to train anew at each rung cost ${units(-costs.resource_saved, job.resource_name)} more than was saved.`;
  const resource = units(costs.resource_saved, job.resource_name);
  if (costs.training_seconds_saved <= 0) return `${resource} not spent, but no time: to begin anew took as long.`;
  return `${resource} and about ${formatDuration(costs.training_seconds_saved)} of training not spent.`;
}
