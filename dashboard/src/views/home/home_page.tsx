// All jobs with what they have found, and the workers with what they do.
import type { JSX } from 'preact';
import { useSignal } from '@preact/signals';
import { useEffect, useMemo } from 'preact/hooks';
import type { Job, Worker } from '../../api/shapes.ts';
import { formatAgo, formatNumber, formatShare } from '../../data/numbers.ts';
import { FaultNotice } from '../../parts/notice.tsx';
import { StateLabel, StateMark } from '../../parts/state_mark.tsx';
import { choose, chosen, go, hrefOf } from '../../state/place.ts';
import { chosenOption, Switch } from '../../parts/switch.tsx';
import { ServerStore } from '../../state/server_store.ts';
import { trialStates } from '../../api/shapes.ts';
import { Live } from '../job/live.tsx';
import { Welcome } from './welcome.tsx';

const stateOptions = [['', 'all'], ['running', 'running'], ['completed', 'completed'], ['stopped', 'stopped'], ['failed', 'failed']] as const;
const sortOptions = [['newest', 'newest'], ['name', 'name'], ['spent', 'most training']] as const;

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
      {jobs.value.length === 0 ? <Welcome /> : <Jobs jobs={jobs.value} more={store.more.value} />}
      <h2>Workers</h2>
      <Workers workers={workers.value} jobs={jobs.value} />
    </>
  );
}

function shownJobs(jobs: readonly Job[]): Job[] {
  const word = chosen('q').toLowerCase();
  const state = chosenOption('state', stateOptions);
  const sort = chosenOption('sort', sortOptions);
  const shown = jobs.filter((job) => (state === '' || job.state === state || (state === 'running' && job.state === 'stopping')) && job.name.toLowerCase().includes(word));
  if (sort === 'name') shown.sort((a, b) => a.name.localeCompare(b.name));
  if (sort === 'spent') shown.sort((a, b) => b.training_seconds - a.training_seconds);
  return shown;
}

function Jobs({ jobs, more }: { jobs: readonly Job[]; more: boolean }): JSX.Element {
  const marked = useSignal<ReadonlySet<string>>(new Set());
  const shown = shownJobs(jobs);
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
        {marked.value.size > 1 && <button type="button" class="primary" onClick={() => go(['compare'], { jobs: [...marked.value].join(',') })}>Compare {marked.value.size} jobs</button>}
        <span class="muted count">{shown.length === jobs.length ? `${jobs.length} jobs` : `${shown.length} of ${jobs.length} jobs`}{more ? ', the newest' : ''}</span>
      </div>
      <div class="scroll" tabIndex={0} role="region" aria-label="Jobs">
        <table class="plain jobs">
          <thead>
            <tr>
              <th scope="col"><span class="hidden">compare</span></th><th scope="col">job</th><th scope="col">state</th><th scope="col">trials</th>
              <th scope="col">best</th><th scope="col">so far</th><th scope="col">created</th>
            </tr>
          </thead>
          <tbody>{shown.map((job) => <JobRow key={job.id} job={job} marked={marked.value.has(job.name)} mark={() => mark(job.name)} />)}</tbody>
        </table>
      </div>
      {shown.length === 0 && <p class="muted">No job is left by the search.</p>}
    </>
  );
}

function JobRow({ job, marked, mark }: { job: Job; marked: boolean; mark: () => void }): JSX.Element {
  const best = job.best ?? job.best_anywhere;
  const { created, planned } = job.trials;
  const ended = job.trials.completed + job.trials.stopped + job.trials.failed + job.trials.cancelled;
  return (
    <tr>
      <td><input type="checkbox" checked={marked} onChange={mark} aria-label={`Mark ${job.name} to compare it`} /></td>
      <td><a class="job-name" href={hrefOf(['jobs', job.name])}>{job.name}</a> <span class="muted">{job.scheduler.replaceAll('_', ' ')}</span></td>
      <td><StateLabel state={job.state} />{job.reason !== '' && <div class="muted reason">{job.reason}</div>}</td>
      <td>
        {job.state === 'running' && planned ? <progress max={planned} value={ended} aria-label={`${formatShare(ended / planned)} of the trials ended`} /> : null}
        <span class="nowrap">{trialStates.filter((state) => job.trials[state] > 0).map((state) => <span class="small-count" title={state}><StateMark state={state} />{job.trials[state]}</span>)}</span>
        {created === 0 && <span class="muted">none yet</span>}
      </td>
      <td class="number"><b>{best ? formatNumber(best.value) : '–'}</b> <span class="muted">{job.objective.metric}</span></td>
      <td class="muted">{best ? `trial ${best.trial}, ${best.resource} ${job.resource_name}` : ''}</td>
      <td class="muted nowrap" title={job.created_at}>{formatAgo(job.created_at, Date.now())}</td>
    </tr>
  );
}

function Workers({ workers, jobs }: { workers: readonly Worker[]; jobs: readonly Job[] }): JSX.Element {
  const nameOf = (id: number | null): string => jobs.find((job) => job.id === id)?.name ?? `job ${id}`;
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
          </li>
        ))}
      </ul>
    </>
  );
}
