// Decisions in words: the same sentences as `tuneband explain`.
import type { Decision, Job, Trial } from '../api/shapes.ts';
import { formatNumber, numberOf } from './numbers.ts';
import { better, trainedFor } from './trials.ts';

function joined(parts: string[]): string {
  return parts.length < 2 ? (parts[0] ?? '') : `${parts.slice(0, -1).join(', ')} and ${parts.at(-1)}`;
}

export function units(resource: number, name: string): string {
  return `${resource} ${resource === 1 ? name.replace(/s$/, '') : name}`;
}

// How far the best trial's training came, and which of its rounds counts.
export function trainingOf(best: Trial, job: Job): string {
  const trained = trainedFor(best);
  const share = trained < job.max_resource ? ` of ${job.max_resource}` : '';
  const itsJobEnded = trained < best.objective_resource ? ', when its job ended' : '';
  const kept = best.kept_resource > 0 && best.kept_resource !== trained ? ` (the value and the model are of ${best.kept_resource}, its best)` : '';
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

const byTheUser = 'stopped by the user';

const stopAfter = (text: string): string => (/[.?!]$/.test(text) ? '' : '.');

function aheadText(decision: Decision): string {
  const { ahead, rank, filled } = decision;
  if (ahead.length === 0) return rank === 1 && filled > 1 ? ' Nothing was ahead of it.' : '';
  const more = rank - 1 - ahead.length;
  const names = ahead.map(String).concat(more > 0 ? [`${more} more`] : []);
  return ` Ahead of it: ${rank === 2 ? 'trial' : 'trials'} ${joined(names)}.`;
}

function cutoffText(decision: Decision, job: Job): string {
  if (decision.cutoff === null || decision.value === null || decision.keep <= 0) return '';
  if (decision.verdict === 'stopped' && decision.rank <= decision.keep) return ''; // as good as those that went on
  const value = numberOf(decision.value);
  const cutoff = numberOf(decision.cutoff);
  if (!Number.isFinite(value)) return '';
  const said = formatNumber(cutoff);
  const gap = Math.abs(cutoff - value);
  if (gap === 0) {
    if (decision.verdict === 'promoted') return ` The last value to go on was ${said}: its own.`;
    return ` The last value to go on was ${said} too: of equals the lower trial number is ahead.`;
  }
  const beyond = better(value, cutoff, job.objective.goal);
  return ` The last value to go on was ${said}: its own was ${formatNumber(Number(gap.toPrecision(3)))} ${beyond ? 'better' : 'worse'}.`;
}

function rankText(decision: Decision): string {
  const missing = decision.slots - decision.filled;
  const text = `rank ${decision.rank} of ${decision.filled}`;
  return decision.slots > 0 && missing > 0 ? `${text} (${missing} still to come)` : text;
}

// " Its best round was 2 of 9, so ...": the note as a sentence of its own.
function noteText({ note }: Decision): string {
  return note ? ` ${note[0]!.toUpperCase()}${note.slice(1)}.` : '';
}

export function explainDecision(decision: Decision, job: Job): string {
  const where = `Rung ${decision.rung} of bracket ${decision.bracket} (${units(decision.resource, job.resource_name)}): `;
  if (decision.value === null && decision.rule.startsWith(byTheUser)) return `${where}${byTheUser} on the way; its slot was given up, as a failure's is.`;
  if (decision.value === null) return `${where}it ${decision.rule === '' ? 'did not come so far' : 'failed on the way'}, and its slot was given up.`;
  const value = `${job.objective.metric} was ${formatNumber(numberOf(decision.value))}`;
  if (decision.verdict === 'waiting') {
    return `${where}${value}. It waits: the verdict is not certain until more trials have arrived at this rung.`;
  }
  if (decision.verdict === 'stopped' && decision.rank === 0) return `${where}${value}. It was ${decision.rule || byTheUser}.`;
  const reason = decision.rule === '' ? '' : `: ${decision.rule.replace(': ', '; ')}`;
  const verdict = `${where}${value}, ${rankText(decision)}. It was ${decision.verdict}${reason}${stopAfter(reason)}`;
  return verdict + (decision.verdict === 'completed' ? '' : cutoffText(decision, job)) + aheadText(decision) + noteText(decision);
}

export function explainState(trial: Trial, job: Job): string[] {
  const soFar = units(trial.resource, job.resource_name);
  const sentences: string[] = [];
  if (trial.state === 'running') sentences.push(`It is running on ${trial.worker}: ${soFar} so far, until ${trial.until_resource}.`);
  if (trial.state === 'paused') sentences.push(`It is paused after ${soFar}.`);
  if (trial.state === 'pending') sentences.push('It is queued: no worker is free for it yet.');
  if (trial.state === 'cancelled') sentences.push(`It was cancelled after ${soFar}: the job ended before it could go on.`);
  if (trial.state === 'failed') {
    sentences.push(`It failed after ${soFar} (${trial.exit_class ?? 'unknown'}): ${trial.message}${stopAfter(trial.message)}`);
    if (trial.advice !== '') sentences.push(trial.advice);
  }
  if (trial.attempts > 1 && trial.state !== 'failed') {
    sentences.push(`A part of its training had to be started again: ${trial.attempts} attempts.`);
  }
  return sentences;
}
