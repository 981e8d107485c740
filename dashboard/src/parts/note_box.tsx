// What people want to remember about a job or a trial, kept by the server.
import type { JSX } from 'preact';
import { useSignal } from '@preact/signals';
import { getNotes, putNote } from '../api/routes.ts';
import { ApiError, transport } from '../api/transport.ts';
import { formatTime } from '../data/numbers.ts';
import { FaultNotice } from './notice.tsx';
import { useLoaded } from './use_loaded.ts';

export function NoteBox({ job, trial }: { job: string; trial?: number }): JSX.Element | null {
  const saved = useSignal(0);
  const text = useSignal<string | null>(null); // as it is being changed
  const fault = useSignal<ApiError | null>(null);
  const loaded = useLoaded(() => getNotes(job), [job, trial, saved.value]);
  const notes = loaded.value.value;
  if (!notes) return null;
  const note = trial === undefined ? notes.job : (notes.trials.find((one) => one.trial === trial) ?? null);
  const save = async (): Promise<void> => {
    try {
      await putNote(job, trial, text.peek() ?? '');
      text.value = null;
      fault.value = null;
      saved.value += 1;
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      fault.value = error;
    }
  };
  if (text.value === null) {
    return (
      <div class="note" data-testid="note">
        {note && <p class="note-text">{note.text} <span class="muted">{formatTime(note.at)}</span></p>}
        {transport.live && <button type="button" class="small" onClick={() => { text.value = note?.text ?? ''; }}>{note ? 'Change the note' : 'Add a note'}</button>}
      </div>
    );
  }
  return (
    <div class="note" data-testid="note">
      <textarea aria-label="Note" rows={3} value={text.value} onInput={(event) => { text.value = event.currentTarget.value; }} />
      {fault.value && <FaultNotice fault={fault.value} />}
      <div class="buttons">
        <button type="button" class="small primary" onClick={() => void save()}>Save the note</button>
        <button type="button" class="small" onClick={() => { text.value = null; }}>Cancel</button>
      </div>
    </div>
  );
}
