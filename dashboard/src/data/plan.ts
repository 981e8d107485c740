// What a plan says beside its numbers of trials, a sentence each.
import type { Plan } from '../api/shapes.ts';
import { formatNumber, formatShare } from './numbers.ts';

export function planNotes(plan: Plan): string[] {
  const { ladder, learning_rate: rate } = plan;
  const notes: [boolean, string][] = [
    [plan.model_resource > 0, `Of that about ${plan.model_resource} where the sampler's model expects to learn most, in trials of its choice; about twice as much in all where lower rungs mislead, as curves that cross do.`],
    [plan.audit_resource > 0, `Up to about ${plan.total_resource + plan.audit_resource} if the lower rungs turn out to mislead, and new trials start above them.`],
    [plan.front_resource > 0, `Up to about ${plan.total_resource + plan.front_resource} where many are the best in one of the objectives: at the end they all go on.`],
    [plan.brackets[0]?.rungs[0]?.trials === 0, `The first trials of several workers start at ${ladder[0]}, until one has come to ${ladder[1]}.`],
    [plan.restarts && ladder.length > 1, 'Each rung is a training of its own, from nothing.'],
    [rate !== null, `New trials begin with ${rate?.parameter} ${formatNumber(rate?.min)} to ${formatNumber(rate?.max)}, and go on with what their curves call for.`],
    [plan.early_work < 1, `Below ${ladder.at(-1)} with fewer folds, which takes ${formatShare(plan.early_work)} of the time.`],
  ];
  return notes.filter(([holds]) => holds).map(([, note]) => note);
}
