// What can be done to a job: hold and release it, change its share and limits, stop it, or one of its trials; delete it, with its
// name typed.
import type { ComponentChildren, JSX } from 'preact';
import { type Signal, useSignal } from '@preact/signals';
import { useRef } from 'preact/hooks';
import * as api from '../../api/routes.ts';
import type { Job, Trial } from '../../api/shapes.ts';
import { transport } from '../../api/transport.ts';
import { FaultNotice } from '../../parts/notice.tsx';
import { useAttempt } from '../../parts/use_attempt.ts';
import { ended, type JobStore } from '../../state/job_store.ts';
import { go, hrefOf } from '../../state/place.ts';

export function JobActions({ store, children }: { store: JobStore; children: ComponentChildren }): JSX.Element | null {
  const job = store.job.value;
  if (!job || !transport.live) return null;
  return (
    <div class="actions">
      {children}
      <a class="button" href={hrefOf(['compare'], { jobs: job.name })}>Compare</a>
      {ended(job) && <DeleteButton store={store} />}
      {job.state === 'running' && (
        <>
          <HoldButton store={store} held={job.held} />
          <ChangeButton store={store} job={job} />
          <StopButton store={store} />
        </>
      )}
    </div>
  );
}

function HoldButton({ store, held }: { store: JobStore; held: boolean }): JSX.Element {
  return (
    <Dialog
      caption={held ? 'Release' : 'Hold'}
      title={`${held ? 'Release' : 'Hold'} ${store.name}?`}
      act={async () => { await api.changeJob(store.key, { held: !held }); }}
      confirm={held ? 'Release the job' : 'Hold the job'}
      quiet
    >
      {() => <p>{held ? 'Its trials go on from their checkpoints.' : 'Nothing of it runs until it is released. Trials under way are given back to go on from their checkpoints.'}</p>}
    </Dialog>
  );
}

function ChangeButton({ store, job }: { store: JobStore; job: Job }): JSX.Element {
  const [weight, atOnce, seconds] = [useSignal(''), useSignal(''), useSignal('')];
  const changes = (): api.JobChanges => {
    const limits = {
      ...(atOnce.value !== '' && { max_parallel_trials: Number(atOnce.value) }),
      ...(seconds.value !== '' && { max_runtime_seconds: Number(seconds.value) }),
    };
    return { ...(weight.value !== '' && { weight: Number(weight.value) }), ...(Object.keys(limits).length > 0 && { limits }) };
  };
  const field = (caption: string, value: Signal<string>, now: number | null): JSX.Element => (
    <label class="field">
      <span>{caption}</span>
      <input type="number" min="0" step="any" value={value.value} placeholder={now === null ? 'none' : String(now)} onInput={(event) => { value.value = event.currentTarget.value; }} />
    </label>
  );
  return (
    <Dialog
      caption="Change"
      title={`Change ${store.name}`}
      act={async () => {
        await api.changeJob(store.key, changes());
        for (const value of [weight, atOnce, seconds]) value.value = '';
      }}
      confirm="Change the job"
      allowed={() => Object.keys(changes()).length > 0}
      quiet
    >
      {() => (
        <>
          {field('Weight against other jobs', weight, job.weight)}
          {field('Max parallel trials', atOnce, job.max_parallel_trials)}
          {field('Max runtime, seconds from the submission', seconds, job.max_runtime_seconds)}
        </>
      )}
    </Dialog>
  );
}

function StopButton({ store }: { store: JobStore }): JSX.Element {
  return (
    <Dialog
      caption="Stop"
      title={`Stop ${store.name}?`}
      act={async () => { await api.stopJob(store.key); }}
      confirm="Stop the job"
    >
      {() => <p>Trials under way end; what was found is kept.</p>}
    </Dialog>
  );
}

// Nothing where there is nothing to stop.
export function StopTrialButton({ store, trial }: { store: JobStore; trial: Trial }): JSX.Element | null {
  const goesOn = ['pending', 'running', 'paused'].includes(trial.state);
  if (!transport.live || !goesOn || store.job.value?.state !== 'running') return null;
  return (
    <Dialog
      caption="Stop this trial"
      title={`Stop trial ${trial.number}?`}
      act={async () => { await api.stopTrial(store.key, trial.number); }}
      confirm="Stop the trial"
    >
      {() => <p>It cannot be taken back. What it has reported is kept, and the job goes on.</p>}
    </Dialog>
  );
}

function DeleteButton({ store }: { store: JobStore }): JSX.Element {
  const typed = useSignal('');
  const name = store.job.value?.name ?? store.name;
  return (
    <Dialog
      caption="Delete"
      title={`Delete ${name}?`}
      act={async () => {
        await api.deleteJob(String(store.job.peek()?.id ?? store.name));
        go([]);
      }}
      confirm="Delete the job"
      allowed={() => typed.value === name}
    >
      {() => (
        <>
          <p>Its trials, logs, checkpoints and models are lost.</p>
          <label class="field">
            <span>Type <b>{name}</b> to go on</span>
            <input type="text" value={typed.value} autocomplete="off" onInput={(event) => { typed.value = event.currentTarget.value; }} />
          </label>
        </>
      )}
    </Dialog>
  );
}

interface DialogProps {
  caption: string;
  title: string;
  confirm: string;
  act: () => Promise<void>;
  allowed?: () => boolean;
  quiet?: boolean; // nothing is lost by it
  children: () => JSX.Element;
}

function Dialog({ caption, title, confirm, act, allowed = () => true, quiet = false, children }: DialogProps): JSX.Element {
  const dialog = useRef<HTMLDialogElement>(null);
  const { busy, fault, run } = useAttempt(async () => {
    await act();
    dialog.current?.close();
  });
  return (
    <>
      <button type="button" onClick={() => { fault.value = null; dialog.current?.showModal(); }}>{caption}</button>
      <dialog ref={dialog} aria-label={title}>
        <h2>{title}</h2>
        {children()}
        {fault.value && <FaultNotice fault={fault.value} />}
        <div class="buttons">
          <button type="button" class={quiet ? '' : 'danger'} disabled={busy.value || !allowed()} onClick={() => void run()}>{confirm}</button>
          <button type="button" onClick={() => dialog.current?.close()}>{quiet ? 'Cancel' : 'Keep it'}</button>
        </div>
      </dialog>
    </>
  );
}
