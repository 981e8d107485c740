// A new job: a form and its document side by side, with the server's faults where they are, and what it would do before it does.
import type { JSX } from 'preact';
import { useSignal, type Signal } from '@preact/signals';
import { useEffect, useMemo, useRef } from 'preact/hooks';
import * as api from '../../api/routes.ts';
import { ApiError } from '../../api/transport.ts';
import type { Fault, JobDocument, Plan } from '../../api/shapes.ts';
import { documentAgain, documentAround, mergePatch, namedAfter } from '../../data/documents.ts';
import { jsonPlaces, placeOfPath } from '../../data/json_places.ts';
import { FaultNotice } from '../../parts/notice.tsx';
import { useAttempt } from '../../parts/use_attempt.ts';
import { chosen, go } from '../../state/place.ts';
import { exampleDocument } from '../home/example.ts';
import { DocumentForm } from './document_form.tsx';
import { PlanPreview } from './plan_preview.tsx';

const askDelayMs = 400;
const askAgainMs = 2_000; // when there was no answer

interface Start {
  document: JobDocument;
  like: JobDocument | null; // the document that the server is to begin with: it knows what is masked here
}

async function startingDocument(): Promise<Start> {
  const like = chosen('like');
  if (like === '') return { document: exampleDocument, like: null };
  const spec = await api.getDocument(like);
  const trial = chosen('trial');
  if (trial === '') return { document: { ...spec, name: namedAfter(spec.name, '-2') }, like: spec };
  const { configuration } = await api.getTrial(like, Number(trial));
  const make = chosen('mode') === 'again' ? documentAgain : documentAround;
  return { document: make(spec, configuration, Number(trial)), like: spec };
}

export function SubmitPage(): JSX.Element {
  const start = useSignal<Start | null>(null);
  const fault = useSignal<ApiError | null>(null);
  useEffect(() => {
    document.title = 'New job – Tuneband';
    startingDocument().then((value) => { start.value = value; }, (error: unknown) => { fault.value = error as ApiError; });
  }, []);
  if (fault.value) return <FaultNotice fault={fault.value} />;
  return start.value ? <Editor start={start.value} /> : <p class="muted">Loading…</p>;
}

interface Checked {
  plan: Plan | null;
  faults: Fault[];
  lost?: ApiError; // why there is no answer
}

function parsed(text: string): JobDocument | null {
  try {
    const value = JSON.parse(text) as unknown;
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as JobDocument) : null;
  } catch {
    return null;
  }
}

// What is masked is only in the document that it is like: checked as it is submitted, by what was changed of it.
function submissionOf(text: string, baseDir: string, like: JobDocument | null): api.Submission {
  const document = like && parsed(text);
  return document ? { like: like.name, changes: mergePatch(like, document) } : { text, baseDir };
}

// What the server says of the document, asked again once it has not changed for a moment.
function useChecked(submission: api.Submission, workers: number, unitSeconds: number): Signal<Checked> {
  const checked = useSignal<Checked>({ plan: null, faults: [] });
  useEffect(() => {
    let wanted = true;
    const missed = (error: ApiError): void => {
      if (!wanted) return;
      checked.value = error.faults.length > 0 ? { plan: null, faults: error.faults } : { plan: null, faults: [], lost: error };
      if (checked.value.lost) timer = setTimeout(ask, askAgainMs);
    };
    const ask = (): void => {
      api.makePlan(submission, { workers, secondsPerUnit: unitSeconds })
        .then((plan) => { if (wanted) checked.value = { plan, faults: [] }; }, missed);
    };
    let timer = setTimeout(ask, askDelayMs);
    return () => { wanted = false; clearTimeout(timer); };
  }, [submission, workers, unitSeconds]);
  return checked;
}

// Where in the document a fault is.
function select(area: HTMLTextAreaElement | null, fault: Fault): void {
  const span = area && placeOfPath(jsonPlaces(area.value), fault.path);
  if (!span) return;
  area.focus();
  area.setSelectionRange(span.from, span.to);
  const line = area.value.slice(0, span.from).split('\n').length;
  area.scrollTop = (line - 4) * (area.scrollHeight / area.value.split('\n').length);
}

function Faults({ faults, show }: { faults: readonly Fault[]; show: (fault: Fault) => void }): JSX.Element | null {
  if (faults.length === 0) return null;
  return (
    <div class="notice bad" role="alert" data-testid="faults">
      <ul class="faults">
        {faults.map((fault) => (
          <li>
            {fault.path !== '' && <button type="button" class="small" onClick={() => show(fault)}>{fault.path}</button>} {fault.message}
            {fault.hint !== '' && <div class="muted">{fault.hint}</div>}
          </li>
        ))}
      </ul>
    </div>
  );
}

// What is being written is there again after a look elsewhere, in this tab.
function useDraft(begin: string): { text: Signal<string>; restored: boolean; forget: () => void } {
  const key = `tuneband draft ${location.hash}`;
  const kept = useMemo(() => sessionStorage.getItem(key), []);
  const text = useSignal(kept ?? begin);
  useEffect(() => {
    try {
      if (text.value === begin) sessionStorage.removeItem(key);
      else sessionStorage.setItem(key, text.value);
    } catch {
      sessionStorage.removeItem(key); // it is larger than what a browser keeps
    }
  }, [text.value]);
  return { text, restored: kept !== null, forget: () => { sessionStorage.removeItem(key); } };
}

function Editor({ start }: { start: Start }): JSX.Element {
  const begin = useMemo(() => JSON.stringify(start.document, null, 2), []);
  const { text, restored, forget } = useDraft(begin);
  const baseDir = useSignal('/');
  const workers = useSignal(2);
  const unitSeconds = useSignal(1);
  const submission = useMemo(() => submissionOf(text.value, baseDir.value, start.like), [text.value, baseDir.value]);
  const checked = useChecked(submission, workers.value, unitSeconds.value);
  const { busy, fault: refusal, run: submit } = useAttempt(async () => {
    const { job } = await api.createJob(submission);
    forget();
    go(['jobs', job.name]);
  });
  const area = useRef<HTMLTextAreaElement>(null);
  const document_ = useMemo(() => parsed(text.value), [text.value]);

  useEffect(() => { refusal.value = null; }, [text.value]); // it was of another document
  useEffect(() => {
    if (refusal.value) checked.value = { ...checked.peek(), faults: refusal.value.faults };
  }, [refusal.value]);

  const { faults, plan, lost } = checked.value;
  return (
    <>
      <header class="page-head">
        <h1>New job</h1>
        <div class="actions">
          <button type="button" class="primary" disabled={busy.value || !document_} onClick={() => void submit()}>Submit</button>
        </div>
      </header>
      {refusal.value && <FaultNotice fault={refusal.value} />}
      {restored && text.value !== begin && (
        <p class="notice">As you left it. <button type="button" class="small" onClick={() => { text.value = begin; }}>Begin anew</button></p>
      )}
      <div class="submit">
        <div class="submit-form">
          {document_ ? <DocumentForm document={document_} faults={faults} change={(next) => { text.value = JSON.stringify(next, null, 2); }} />
            : <p class="notice">The form is back as soon as the document is valid JSON.</p>}
          {!start.like && (
            <label class="field"><span>Folder on the server that relative paths begin at</span>
              <input type="text" value={baseDir.value} onInput={(event) => { baseDir.value = event.currentTarget.value; }} />
            </label>
          )}
        </div>
        <div>
          <label class="field"><span>Document</span>
            <textarea class="code editor" ref={area} spellcheck={false} rows={30} value={text.value} aria-invalid={faults.length > 0} onInput={(event) => { text.value = event.currentTarget.value; }} />
          </label>
        </div>
        <div>
          <Faults faults={faults} show={(fault) => select(area.current, fault)} />
          <PlanPreview plan={plan} lost={lost ?? null} faulty={faults.length > 0 || !document_} workers={workers} unitSeconds={unitSeconds} />
        </div>
      </div>
    </>
  );
}
