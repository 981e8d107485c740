// All jobs with what they have found, how far they are and what they wait for; and the workers with what they do.
import type { JSX } from 'preact';
import { useSignal } from '@preact/signals';
import { useEffect, useMemo } from 'preact/hooks';
import { secondsOf, serverNow } from '../../api/clock.ts';
import type { Card, Worker } from '../../api/shapes.ts';
import { units } from '../../data/explain.ts';
import { formatAgo, formatCount, formatDuration, formatNumber, formatShare, formatTime } from '../../data/numbers.ts';
import { FaultNotice } from '../../parts/notice.tsx';
import { Sparkline } from '../../parts/sparkline.tsx';
import { JobStateLabel, StateMark } from '../../parts/state_mark.tsx';
import { choose, chosen, go, hrefOf } from '../../state/place.ts';
import { chosenOption, Switch } from '../../parts/switch.tsx';
import { ServerStore } from '../../state/server_store.ts';
import { trialStates } from '../../api/shapes.ts';
import { jobsMost } from '../compare/compare_page.tsx';
import { Live } from '../job/live.tsx';
import { Welcome } from './welcome.tsx';

const stateOptions = [['', 'all'], ['running', 'running'], ['completed', 'completed'], ['stopped', 'stopped'], ['failed', 'failed']] as const;
const sortOptions = [['newest', 'newest'], ['name', 'name'], ['spent', 'most training'], ['progress', 'progress']] as const;

export function HomePage(): JSX.Element {
  const store = useMemo(() => new ServerStore(), []);
  useEffect(() => () => store.close(), [store]);
  useEffect(() => { document.title = 'Tuneband'; }, []);
  const { fault, jobs, workers } = store;
  if (fault.value && !jobs.value) return <FaultNotice fault={fault.value} />;
  if (!jobs.value) return <p class="muted">Loading…</p>;
  return (
    <>
      {fault.value && <div class="notice bad" role="alert">{fault.value.message}; trying again…</div>}
      <header class="page-head">
        <h1>Jobs</h1>
        <Live store={store} />
        <a class="button primary" href={hrefOf(['new'])}>New job</a>
      </header>
      {jobs.value.length === 0 ? <Welcome /> : <Jobs store={store} jobs={jobs.value} />}
      <h2>Workers</h2>
      <Workers workers={workers.value} jobs={jobs.value} />
      <p><a href={hrefOf(['workers'])}>What all workers did over time</a></p>
    </>
  );
}

function shownJobs(jobs: readonly Card[]): Card[] {
  const word = chosen('q').toLowerCase();
  const state = chosenOption('state', stateOptions);
  const sort = chosenOption('sort', sortOptions);
  const found = (job: Card): boolean => job.name.toLowerCase().includes(word) || job.note.toLowerCase().includes(word);
  const shown = jobs.filter((job) => (state === '' || job.state === state || (state === 'running' && job.state === 'stopping')) && found(job));
  if (sort === 'name') shown.sort((a, b) => a.name.localeCompare(b.name));
  if (sort === 'spent') shown.sort((a, b) => b.training_seconds - a.training_seconds);
  if (sort === 'progress') shown.sort((a, b) => (a.progress ?? 0) - (b.progress ?? 0));
  return shown;
}

function Jobs({ store, jobs }: { store: ServerStore; jobs: readonly Card[] }): JSX.Element {
  useBeat();
  const marked = useSignal<ReadonlySet<string>>(new Set());
  const shown = shownJobs(jobs);
  const more = store.older.value !== null;
  const mark = (name: string): void => {
    const next = new Set(marked.value);
    if (!next.delete(name)) next.add(name);
    marked.value = next;
  };
  return (
    <>
      <div class="choices">
        <label class="filter"><span>Search</span><input type="search" value={chosen('q')} onInput={(event) => choose({ q: event.currentTarget.value })} /></label>
        <Switch label="State" name="state" options={stateOptions} />
        <Switch label="Order" name="sort" options={sortOptions} />
        {marked.value.size > 1 && <button type="button" class="primary" disabled={marked.value.size > jobsMost} onClick={() => go(['compare'], { jobs: [...marked.value].join(',') })}>Compare {marked.value.size} jobs</button>}
        {marked.value.size > jobsMost && <span class="muted">{jobsMost} at most</span>}
        <span class="muted count">{shown.length === jobs.length ? formatCount(jobs.length, 'job') : `${shown.length} of ${formatCount(jobs.length, 'job')}`}{more ? ', the newest' : ''}</span>
      </div>
      <div class="scroll" tabIndex={0} role="region" aria-label="Jobs">
        <table class="plain jobs stacked">
          <thead>
            <tr>
              <th scope="col"><span class="hidden">compare</span></th><th scope="col">job</th><th scope="col">state</th><th scope="col">progress</th>
              <th scope="col">best so far</th><th scope="col">over time</th><th scope="col">created</th>
            </tr>
          </thead>
          <tbody>{shown.map((job) => <JobRow key={job.id} job={job} marked={marked.value.has(job.name)} mark={() => mark(job.name)} />)}</tbody>
        </table>
      </div>
      {shown.length === 0 && <p class="muted">No job is left by the search.</p>}
      {more && <p><button type="button" onClick={() => void store.loadOlder()}>Show older jobs</button></p>}
    </>
  );
}

const beatMs = 5_000;

// Ages go on while nothing happens.
function useBeat(): void {
  const beat = useSignal(0);
  useEffect(() => {
    const timer = setInterval(() => { if (document.visibilityState === 'visible') beat.value += 1; }, beatMs);
    return () => clearInterval(timer);
  }, []);
  void beat.value;
}

function JobRow({ job, marked, mark }: { job: Card; marked: boolean; mark: () => void }): JSX.Element {
  const best = job.best ?? job.best_anywhere;
  const end = secondsOf(job);
  return (
    <tr>
      <td><input type="checkbox" checked={marked} onChange={mark} aria-label={`Mark ${job.name} to compare it`} /></td>
      <td class="wide-cell">
        <a class="job-name" href={hrefOf(['jobs', job.name])}>{job.name}</a> <span class="muted">{job.scheduler.replaceAll('_', ' ')}</span>
        {job.note !== '' && <div class="muted one-line" title={job.note}>{job.note}</div>}
      </td>
      <td>
        <JobStateLabel job={job} />
        {job.reason !== '' && <div class="muted reason" title={job.reason}>{job.reason}</div>}
        {job.waits_for !== '' && !job.held && <div class="muted reason">{job.waits_for}</div>}
      </td>
      <td class="progress-cell"><Progress job={job} /></td>
      <td>
        {best ? (
          <>
            <b>{formatNumber(best.value)}</b> <span class="muted">{job.objective.metric}</span>
            <div class="muted nowrap"><a href={hrefOf(['jobs', job.name, 'trials', best.trial])}>trial {best.trial}</a>{job.best ? '' : `, after ${units(best.resource, job.resource_name)}`}</div>
          </>
        ) : <span class="muted">{job.ended_at === null ? 'no value yet' : 'no value'}</span>}
      </td>
      <td><Sparkline seconds={job.sparkline.seconds} value={job.sparkline.value} end={end} /></td>
      <td class="muted nowrap" title={formatTime(job.created_at)}>{formatAgo(job.created_at, serverNow())}<div>{job.ended_at ? `took ${formatDuration(end)}` : `for ${formatDuration(end)}`}</div></td>
    </tr>
  );
}

function Progress({ job }: { job: Card }): JSX.Element {
  const { created, planned } = job.trials;
  const open = job.state === 'running' || job.state === 'stopping';
  return (
    <>
      {open && job.progress !== null && <progress max={1} value={job.progress} aria-label={`${formatShare(job.progress)} done`} />}
      <span class="nowrap">{trialStates.filter((state) => job.trials[state] > 0).map((state) => <span class="small-count" title={state}><StateMark state={state} /><span class="hidden">{state} </span>{job.trials[state]}</span>)}</span>
      {created === 0 ? <span class="muted">no trial yet</span> : open && planned !== null && <span class="muted nowrap">of {planned}</span>}
    </>
  );
}

export function Workers({ workers, jobs }: { workers: readonly Worker[]; jobs: readonly Card[] }): JSX.Element {
  const nameOf = (id: number): string => jobs.find((job) => job.id === id)?.name ?? String(id);
  if (workers.length === 0) return <p class="muted">No worker is here: jobs wait. Start the server with <code>--workers N</code>, or <code>tuneband-worker</code> on another machine.</p>;
  const busy = workers.filter((worker) => worker.state === 'executing').length;
  return (
    <>
      <p class="muted">{busy} of {workers.length} busy</p>
      <ul class="workers">
        {workers.map((worker) => (
          <li class={worker.state}>
            <b>{worker.name}</b>{' '}
            {worker.job === null ? <span class="muted">{worker.state}</span> : <a href={hrefOf(['jobs', nameOf(worker.job), 'trials', worker.trial ?? 0])}>{nameOf(worker.job)}, trial {worker.trial}{worker.rank === null ? '' : `, rank ${worker.rank}`}</a>}
            {worker.lacks.map((lack) => <div class="reason">Given nothing of {lack.job === null ? 'any job' : nameOf(lack.job)}: {lack.message}</div>)}
          </li>
        ))}
      </ul>
    </>
  );
}
