// The answer first: the best trial and how to use it, what stopping saved, how far the job is and what it waits for.
import type { JSX } from 'preact';
import { ensemblePath, modelPath } from '../../api/routes.ts';
import { transport } from '../../api/transport.ts';
import type { Job, Summary, Trial } from '../../api/shapes.ts';
import { asCommandLine, asJson, asXgboostPython } from '../../data/copies.ts';
import { crowdedText, furtherValuesOf, savedText, trainingOf, units, withinText } from '../../data/explain.ts';
import { hasFolds } from '../../data/folds.ts';
import { formatCount, formatDuration, formatNumber, formatShare, numberOf } from '../../data/numbers.ts';
import { better } from '../../data/trials.ts';
import { CopyButton } from '../../parts/copy_button.tsx';
import { StateMark } from '../../parts/state_mark.tsx';
import { ended, type JobStore } from '../../state/job_store.ts';
import { hrefOf, place } from '../../state/place.ts';
import { pick } from '../../state/selection.ts';
import { trialStates } from '../../api/shapes.ts';
import { Parameters } from '../trial/trial_parts.tsx';

const parametersFirst = 24;

export function Answer({ store }: { store: JobStore }): JSX.Element | null {
  const summary = store.summary.value;
  const job = store.job.value;
  if (!job) return null;
  if (!summary) return <div class="answer"><section class="card best-card to-come"><p class="muted">Loading…</p></section></div>;
  return (
    <div class="answer">
      <BestCard store={store} summary={summary} job={job} />
      <ProgressCard summary={summary} job={job} />
      <CostCard summary={summary} job={job} />
    </div>
  );
}

function BestCard({ store, summary, job }: { store: JobStore; summary: Summary; job: Job }): JSX.Element {
  const best = summary.best?.trial;
  if (!best) {
    // Those that break the constraints are not shown as the best.
    const outside = job.constraints.length > 0 && (store.trials.value?.rows ?? []).some((row) => row.objective !== null);
    const none = outside ? 'None' : 'No value';
    const why = outside ? `No trial ${ended(job) ? 'met' : 'meets'} the constraints${ended(job) ? '' : ' yet'}.`
      : ended(job) ? 'The job ended before any trial had a value.' : `The first ${job.resource_name} are under way.`;
    return (
      <section class="card best-card" aria-label="Best trial">
        <h2>{ended(job) ? 'Best trial' : 'Best so far'}</h2>
        <p class="big muted">{ended(job) ? none : `${none} yet`}</p>
        <p class="muted">{why}</p>
        <Within job={job} summary={summary} />
      </section>
    );
  }
  const value = best.kept_value ?? numberOf(best.objective ?? 'nan');
  const further = furtherValuesOf(best, job);
  const lower = job.best_anywhere;
  const front = summary.pareto.length + summary.pareto_left_out;
  return (
    <section class="card best-card" aria-label="Best trial">
      <h2>{ended(job) ? 'Best trial' : 'Best so far'}</h2>
      <p class="big">
        <span data-testid="best-value">{formatNumber(value)}</span>{' '}
        {typeof best.standard_error === 'number' && <span class="unit" title="Standard error: with other rows to validate on the value would be as much higher or lower, two times of three.">± {formatNumber(Number(best.standard_error.toPrecision(2)))} </span>}
        <span class="unit">{job.objective.metric}</span>
      </p>
      {further !== '' && <p>{further}</p>}
      <p>
        <a href={hrefOf(['jobs', store.name, 'trials', best.number])}>trial {best.number}</a> after {trainingOf(best, job)}{' '}
        <button type="button" class="small" onClick={() => pick(best.number, false)}>select it</button>
      </p>
      <Within job={job} summary={summary} />
      {front > 1 && (
        <p>One of <a href={hrefOf(['jobs', store.name, 'tradeoffs'], place.value.query)}>{front} trials</a> that none dominates.</p>
      )}
      {best.kept_value === null && lower && better(lower.value, value, job.objective.goal) && (
        <p class="muted">A lower rung had {formatNumber(lower.value)}: <a href={hrefOf(['jobs', store.name, 'trials', lower.trial])}>trial {lower.trial}</a> at {units(lower.resource, job.resource_name)}.</p>
      )}
      {typeof summary.best?.test_value === 'number' && (
        <p title="Of the model above, on rows that neither a trial nor a choice between trials has seen. Whoever chooses by it spoils it.">
          <b data-testid="test-value">{formatNumber(summary.best.test_value)}</b> on the test rows
        </p>
      )}
      <Parameters detail={best} first={parametersFirst} />
      <Copies store={store} trial={best} model={summary.best?.model ?? null} />
      {ended(job) && best.kept_value !== null && transport.live && <JoinedModels store={store} />}
    </section>
  );
}

function Within({ job, summary }: { job: Job; summary: Summary }): JSX.Element | null {
  return job.constraints.length > 0 ? <p class="muted" data-testid="within">Within {withinText(job, summary.summary)}.</p> : null;
}

function JoinedModels({ store }: { store: JobStore }): JSX.Element {
  const { job } = store;
  return (
    <p>
      <a href={ensemblePath(store.key)} download={`${store.name}-ensemble.ubj`}>The best models joined into one</a>
      <span class="muted"> are often better on new rows.</span>
      {job.value && !hasFolds(job.value.spec) && (
        <>
          {' '}<a href={ensemblePath(store.key, { refit: true })} download={`${store.name}-ensemble-refit.ubj`}>The same, trained once more on all rows</a>
          <span class="muted">, those held out to validate on too: it comes after a training of each.</span>
        </>
      )}
    </p>
  );
}

interface CopiesProps {
  store: JobStore;
  trial: Trial;
  model: string | null;
}

export function Copies({ store, trial, model }: CopiesProps): JSX.Element {
  const spec = store.job.value?.spec;
  const { number, configuration, refit } = trial;
  return (
    <div class="buttons">
      <CopyButton caption="Copy JSON" text={() => asJson(configuration)} />
      {refit && <CopyButton caption="Copy Python" text={() => asXgboostPython(refit)} />}
      {spec && <CopyButton caption="Copy command line" text={() => asCommandLine(configuration, spec)} />}
      {model !== null && transport.live && <a class="button small" href={modelPath(store.key, number)} download>Download model</a>}
    </div>
  );
}

// From what was done and how long it took.
function secondsLeft(summary: Summary): number | null {
  const { resource_spent: spent, wall_seconds: wall } = summary.summary;
  const planned = summary.plan.total_resource;
  return spent > 0 && planned > spent ? (wall * (planned - spent)) / spent : null;
}

function ProgressCard({ summary, job }: { summary: Summary; job: Job }): JSX.Element {
  const done = ended(job);
  const { plan } = summary;
  const spent = summary.summary.resource_spent;
  const share = plan.total_resource > 0 ? Math.min(1, spent / plan.total_resource) : 0;
  const left = done || job.held ? null : secondsLeft(summary);
  const waiting = Object.entries(summary.job.waiting);
  return (
    <section class="card" aria-label="Progress">
      <h2>{done ? 'Trials' : 'Progress'}</h2>
      {!done && plan.trials !== null && (
        <>
          <progress max={1} value={share} aria-label={`${formatShare(share)} of the plan`} />
          <p>
            {spent} of {plan.exact ? '' : 'about '}{units(plan.total_resource, job.resource_name)}
            {left !== null && `, about ${formatDuration(left)} left`}
          </p>
        </>
      )}
      <ul class="counts">
        {trialStates.filter((state) => job.trials[state] > 0).map((state) => (
          <li><StateMark state={state} /> <b>{job.trials[state]}</b> {state === 'pending' ? 'queued' : state === 'stopped' ? 'stopped early' : state}</li>
        ))}
        {job.trials.created === 0 && <li class="muted">No trial yet</li>}
      </ul>
      <p class="muted">{job.trials.planned === null ? formatCount(job.trials.created, 'trial') : `${job.trials.created} of ${formatCount(job.trials.planned, 'trial')}`}, {job.scheduler.replaceAll('_', ' ')}</p>
      {waiting.length > 0 && !done && (
        <p><b>Waiting:</b> {waiting.map(([reason, count]) => `${formatCount(count, 'trial')}, ${reason}`).join('; ')}</p>
      )}
      {summary.job.queue_position !== null && summary.job.queue_position > 1 && <p>Place {summary.job.queue_position} in the queue for a free worker.</p>}
      {job.reason !== '' && <p class="muted reason" title={job.reason}>{job.reason}</p>}
    </section>
  );
}

function CostCard({ summary, job }: { summary: Summary; job: Job }): JSX.Element {
  const costs = summary.summary;
  const saved = costs.resource_without_stopping > 0 ? costs.resource_saved / costs.resource_without_stopping : 0;
  return (
    <section class="card" aria-label="Cost">
      <h2>Saved by stopping early</h2>
      <p class="big">
        {formatShare(Math.max(0, saved))} <span class="unit">of the {job.resource_name}</span>
      </p>
      <p>{savedText(costs, job)}</p>
      <dl class="parameters">
        <div><dt>spent</dt><dd>{units(costs.resource_spent, job.resource_name)}</dd></div>
        <div><dt>without stopping</dt><dd>{units(costs.resource_without_stopping, job.resource_name)}</dd></div>
        <div><dt>training</dt><dd>{formatDuration(costs.training_seconds)}</dd></div>
        <div><dt>from start to {ended(job) ? 'end' : 'now'}</dt><dd>{formatDuration(costs.wall_seconds)}</dd></div>
      </dl>
    </section>
  );
}

export function Warnings({ store }: { store: JobStore }): JSX.Element | null {
  const summary = store.summary.value;
  const job = store.job.value;
  if (!summary || !job) return null;
  const { trials_not_finite: bad, trials_measured: measured, first_not_finite: first } = summary.summary;
  return (
    <>
      {summary.failures.map((failure) => (
        <div class="notice bad">
          <p>
            <b>{formatCount(failure.trials, 'trial')} failed, {failure.exit_class.replaceAll('_', ' ')}:</b> {failure.message}{' '}
            <a href={hrefOf(['jobs', store.name, 'trials', failure.example])}>trial {failure.example}</a>
          </p>
          {failure.advice !== '' && <p>{failure.advice}</p>}
        </div>
      ))}
      {summary.crowded_bounds.length > 0 && (
        <div class="notice">
          {summary.crowded_bounds.map((bound) => <p>{crowdedText(bound)}</p>)}
          <p>Better ones may lie beyond: consider a wider range.{transport.live && <> <a href={hrefOf(['new'], { like: store.name })}>Make a job like it</a></>}</p>
        </div>
      )}
      {bad > 0 && (
        <div class="notice">
          <p>
            <b>{job.objective.metric} is NaN or infinite in {bad === measured ? 'every trial that has a value' : `${bad} of ${formatCount(measured, 'trial')}`}</b>; they rank last.{' '}
            {first !== null && <a href={hrefOf(['jobs', store.name, 'trials', first])}>trial {first} was the first</a>}
          </p>
        </div>
      )}
    </>
  );
}
