// What somebody wrote beside a job or a trial: text, and never anything else.
import type { JSX } from 'preact';
import type { Signal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { transport } from '../api/transport.ts';
import { FaultNotice } from './notice.tsx';
import { useAttempt } from './use_attempt.ts';

export type Draft = Signal<string | null>; // null: nobody writes

interface NoteProps {
  of: string; // "the job", "trial 3"
  text: string;
  draft: Draft;
  save: (text: string) => Promise<void>;
}

// Where there is none yet, among the other things that can be done.
export function AddNote({ text, draft }: { text: string; draft: Draft }): JSX.Element | null {
  if (text !== '' || draft.value !== null || !transport.live) return null;
  return <button type="button" onClick={() => { draft.value = ''; }}>Add a note</button>;
}

export function Note({ of, text, draft, save }: NoteProps): JSX.Element | null {
  const { busy, fault, run: keep } = useAttempt(async () => {
    await save(draft.peek() ?? '');
    draft.value = null;
  });
  const area = useRef<HTMLTextAreaElement>(null);
  const opened = draft.value !== null;
  useEffect(() => { if (opened) area.current?.focus(); }, [opened]);
  if (text === '' && !opened) return null;
  const onKey = (event: KeyboardEvent): void => {
    if (event.key === 'Escape') draft.value = null;
    if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) void keep();
  };
  if (!opened) {
    return (
      <section class="note" aria-label={`Note on ${of}`}>
        <p class="note-text">{text}</p>
        {transport.live && <button type="button" class="small" onClick={() => { draft.value = text; }}>Edit the note</button>}
      </section>
    );
  }
  return (
    <section class="note" aria-label={`Note on ${of}`}>
      <label class="field">
        <span>Note on {of}: for everybody who looks at it</span>
        <textarea rows={4} ref={area} value={draft.value ?? ''} onInput={(event) => { draft.value = event.currentTarget.value; }} onKeyDown={onKey} />
      </label>
      {fault.value && <FaultNotice fault={fault.value} />}
      <div class="buttons">
        <button type="button" class="primary" disabled={busy.value} onClick={() => void keep()}>Save the note</button>
        <button type="button" onClick={() => { draft.value = null; }}>Cancel</button>
      </div>
    </section>
  );
}
