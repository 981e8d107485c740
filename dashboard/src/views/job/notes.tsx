// Notes of a job and of its trials, kept by the server.
import type { JSX } from 'preact';
import { putNote } from '../../api/routes.ts';
import { AddNote, Note, type Draft } from '../../parts/note.tsx';
import type { JobStore } from '../../state/job_store.ts';

interface NotesProps {
  store: JobStore;
  trial: number | null; // null: of the job
  draft: Draft;
}

function textOf(store: JobStore, trial: number | null): string {
  if (trial === null) return store.job.value?.note ?? '';
  void store.trials.value?.version.value;
  return store.trials.value?.row(trial)?.note ?? '';
}

export function NoteOf({ store, trial, draft }: NotesProps): JSX.Element {
  const save = async (text: string): Promise<void> => {
    const note = await putNote(store.key, trial, text.trim());
    store.onNote({ trial, note });
  };
  return <Note of={trial === null ? 'the job' : `trial ${trial}`} text={textOf(store, trial)} draft={draft} save={save} />;
}

export const AddNoteTo = ({ store, trial, draft }: NotesProps): JSX.Element => <AddNote text={textOf(store, trial)} draft={draft} />;
