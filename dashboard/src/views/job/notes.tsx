// Notes of a job and of its trials, kept by the server.
import type { JSX } from 'preact';
import { putNote } from '../../api/routes.ts';
import { Note } from '../../parts/note.tsx';
import type { JobStore } from '../../state/job_store.ts';

export function JobNote({ store }: { store: JobStore }): JSX.Element {
  return <Note of="the job" text={store.job.value?.note ?? ''} save={(text) => writeNote(store, null, text)} />;
}

export function TrialNote({ store, trial }: { store: JobStore; trial: number }): JSX.Element {
  void store.trials.value?.version.value;
  return <Note key={trial} of={`trial ${trial}`} text={store.trials.value?.row(trial)?.note ?? ''} save={(text) => writeNote(store, trial, text)} />;
}

async function writeNote(store: JobStore, trial: number | null, text: string): Promise<void> {
  const note = await putNote(store.name, trial, text.trim());
  store.onNote({ trial, note });
}
