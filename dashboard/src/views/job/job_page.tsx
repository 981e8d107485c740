// A job: the answer, what is chosen, and one of its views.
import type { JSX } from 'preact';
import { useSignal } from '@preact/signals';
import { useEffect, useMemo } from 'preact/hooks';
import type { JobDetail } from '../../api/shapes.ts';
import { isWatched } from '../../data/tensors.ts';
import { FaultNotice, Panel } from '../../parts/notice.tsx';
import { JobStateLabel } from '../../parts/state_mark.tsx';
import { JobStore } from '../../state/job_store.ts';
import { hrefOf, place } from '../../state/place.ts';
import { hovered } from '../../state/selection.ts';
import { RuleWarnings } from '../debugger/rule_warnings.tsx';
import { DebuggerView } from '../debugger/debugger_view.tsx';
import { TrialPage } from '../trial/trial_page.tsx';
import { Answer, Warnings } from './answer.tsx';
import { Choices } from './choices.tsx';
import { JobContext, makeJobView } from './context.ts';
import { CurvesView } from './curves_view.tsx';
import { Focus } from './focus.tsx';
import { HistoryView } from './history_view.tsx';
import { JobActions } from './job_actions.tsx';
import { Live } from './live.tsx';
import { AddNoteTo, NoteOf } from './notes.tsx';
import { ParametersView } from './parameters_view.tsx';
import { RungsView } from './rungs_view.tsx';
import { TimelineView } from './timeline_view.tsx';
import { TradeoffsView } from './tradeoffs_view.tsx';
import { TrialsTable } from './trials_table.tsx';
import { DocumentView } from './document_view.tsx';

interface View {
  id: string;
  caption: string;
  show: () => JSX.Element;
  where?: (job: JobDetail) => boolean; // left out: in every job
}

const views: View[] = [
  { id: '', caption: 'Overview', show: Overview },
  { id: 'curves', caption: 'Curves', show: () => <CurvesView height={560} detail="many" /> },
  { id: 'rungs', caption: 'Rungs', show: RungsView },
  { id: 'parameters', caption: 'Parameters', show: ParametersView },
  { id: 'tradeoffs', caption: 'Trade-offs', show: TradeoffsView },
  { id: 'timeline', caption: 'Timeline', show: TimelineView },
  { id: 'table', caption: 'Trials', show: () => <TrialsTable height={720} /> },
  { id: 'debugger', caption: 'Debugger', show: DebuggerView, where: (job) => isWatched(job) },
  { id: 'document', caption: 'Document', show: DocumentView },
];

function Overview(): JSX.Element {
  return (
    <>
      <div class="pair">
        <Panel><HistoryView height={300} /></Panel>
        <Panel><CurvesView height={300} detail="few" /></Panel>
      </div>
      <Panel><TrialsTable height={460} /></Panel>
    </>
  );
}

export function JobPage({ name }: { name: string }): JSX.Element {
  const store = useMemo(() => new JobStore(name), [name]);
  useEffect(() => {
    hovered.value = null;
    return () => store.close();
  }, [store]);
  const view = useMemo(() => makeJobView(store), [store]);
  useEffect(() => view.close, [view]);
  const draft = useSignal<string | null>(null);
  const job = store.job.value;
  const fault = store.fault.value;
  useEffect(() => { document.title = job ? `${job.name} – Tuneband` : 'Tuneband'; }, [job?.name]);
  if (fault) return <FaultNotice fault={fault} />;
  if (!job) return <p class="muted">Loading {name}…</p>;
  const [, , viewId = '', trial] = place.value.path;
  return (
    <JobContext.Provider value={view}>
      <header class="page-head">
        <h1>{viewId === 'trials' ? <a href={hrefOf(['jobs', name], place.value.query)}>{job.name}</a> : job.name}</h1>
        <JobStateLabel job={job} />
        <Live store={store} />
        <JobActions store={store}>{viewId !== 'trials' && <AddNoteTo store={store} trial={null} draft={draft} />}</JobActions>
      </header>
      {viewId !== 'trials' && <NoteOf store={store} trial={null} draft={draft} />}
      {viewId === 'trials' && trial !== undefined ? <TrialBody store={store} trial={Number(trial)} /> : <JobBody store={store} viewId={viewId} />}
    </JobContext.Provider>
  );
}

// Another trial is another page: nothing that was begun on one is left on the next.
function TrialBody({ store, trial }: { store: JobStore; trial: number }): JSX.Element {
  return store.trials.value ? <TrialPage key={trial} trial={trial} /> : <p class="muted">Loading the trials…</p>;
}

function JobBody({ store, viewId }: { store: JobStore; viewId: string }): JSX.Element {
  const job = store.job.value;
  const there = views.filter((one) => job && (one.where?.(job) ?? true));
  const shown = there.find((one) => one.id === viewId) ?? (views[0] as View);
  const Shown = shown.show;
  return (
    <>
      <Panel><Answer store={store} /></Panel>
      <Warnings store={store} />
      {job && isWatched(job) && shown.id !== 'debugger' && <Panel><RuleWarnings store={store} /></Panel>}
      <nav class="tabs" aria-label="Views of the job">
        {there.map((one) => (
          <a href={hrefOf(one.id === '' ? ['jobs', store.name] : ['jobs', store.name, one.id], place.value.query)} aria-current={one === shown ? 'page' : undefined}>
            {one.caption}
          </a>
        ))}
      </nav>
      {store.trials.value ? (
        <>
          <Choices />
          <div class="with-focus">
            <div class="views" data-testid={`view-${shown.id || 'overview'}`}><Panel key={shown.id}><Shown /></Panel></div>
            <Panel><Focus /></Panel>
          </div>
        </>
      ) : (
        <p class="muted">Loading the trials…</p>
      )}
    </>
  );
}
