// What can be done to a job: stop it, or one of its trials; delete it, with its name typed.
import type { ComponentChildren, JSX } from 'preact';
import { useSignal } from '@preact/signals';
import { useRef } from 'preact/hooks';
import * as api from '../../api/routes.ts';
import type { Trial } from '../../api/shapes.ts';
import { ApiError, transport } from '../../api/transport.ts';
import { FaultNotice } from '../../parts/notice.tsx';
import { ended, type JobStore } from '../../state/job_store.ts';
import { go, hrefOf } from '../../state/place.ts';

export function JobActions({ store, children }: { store: JobStore; children: ComponentChildren }): JSX.Element | null {
  const job = store.job.value;
  if (!job || !transport.live) return null;
  return (
    <div class="actions">
      {children}
      <a class="button" href={hrefOf(['compare'], { jobs: job.name })}>Compare</a>
      {ended(job) ? <DeleteButton store={store} /> : job.state === 'running' && <StopButton store={store} />}
    </div>
  );
}

function StopButton({ store }: { store: JobStore }): JSX.Element {
  return (
    <Dialog
      caption="Stop"
      title={`Stop ${store.name}?`}
      act={async () => { await api.stopJob(store.name); }}
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
      act={async () => { await api.stopTrial(store.name, trial.number); }}
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
  children: () => JSX.Element;
}

function Dialog({ caption, title, confirm, act, allowed = () => true, children }: DialogProps): JSX.Element {
  const dialog = useRef<HTMLDialogElement>(null);
  const fault = useSignal<ApiError | null>(null);
  const busy = useSignal(false);
  const run = async (): Promise<void> => {
    busy.value = true;
    try {
      await act();
      dialog.current?.close();
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      fault.value = error;
    } finally {
      busy.value = false;
    }
  };
  return (
    <>
      <button type="button" onClick={() => { fault.value = null; dialog.current?.showModal(); }}>{caption}</button>
      <dialog ref={dialog} aria-label={title}>
        <h2>{title}</h2>
        {children()}
        {fault.value && <FaultNotice fault={fault.value} />}
        <div class="buttons">
          <button type="button" class="danger" disabled={busy.value || !allowed()} onClick={() => void run()}>{confirm}</button>
          <button type="button" onClick={() => dialog.current?.close()}>Keep it</button>
        </div>
      </dialog>
    </>
  );
}
