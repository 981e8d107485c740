// A trial: its curve among its peers, why it is where it is, what it printed, and what can be made of it.
import type { JSX } from 'preact';
import { useSignal } from '@preact/signals';
import { useEffect, useMemo } from 'preact/hooks';
import { transport } from '../../api/transport.ts';
import type { Trial } from '../../api/shapes.ts';
import { units } from '../../data/explain.ts';
import { formatDuration, formatTime } from '../../data/numbers.ts';
import { shortWorker } from '../../data/segments.ts';
import { isWatched } from '../../data/tensors.ts';
import { CopyButton } from '../../parts/copy_button.tsx';
import { FaultNotice, Panel } from '../../parts/notice.tsx';
import { StateLabel } from '../../parts/state_mark.tsx';
import { hrefOf, place } from '../../state/place.ts';
import { selected, select } from '../../state/selection.ts';
import { Copies } from '../job/answer.tsx';
import { useJob } from '../job/context.ts';
import { TensorsView } from '../debugger/tensors_view.tsx';
import { TrialRules } from '../debugger/trial_rules.tsx';
import { CurvesView } from '../job/curves_view.tsx';
import type { Draft } from '../../parts/note.tsx';
import { StopTrialButton } from '../job/job_actions.tsx';
import { AddNoteTo, NoteOf } from '../job/notes.tsx';
import { FilesView } from './files_view.tsx';
import { LogView } from './log_view.tsx';
import { SegmentsView } from './segments_view.tsx';
import { Parameters, TrialValue, useTrial, Why } from './trial_parts.tsx';

export function TrialPage({ trial }: { trial: number }): JSX.Element {
  const { store, job } = useJob();
  const { value, fault } = useTrial(trial);
  useEffect(() => { if (!selected.peek().includes(trial)) select([trial]); }, [trial]);
  const draft = useSignal<string | null>(null);
  if (fault) return <FaultNotice fault={fault} />;
  if (!value) return <p class="muted">Loading trial {trial}…</p>;
  const { detail, explanation } = value;
  const hasModel = detail.state === 'completed' || store.summary.value?.best?.trial.number === trial;
  return (
    <>
      <TrialHead detail={detail} draft={draft} />
      <NoteOf store={store} trial={trial} draft={draft} />
      <div class="pair">
        <section class="card" aria-label="Why">
          <h2>Why it is where it is</h2>
          <Why explanation={explanation} />
          <Times detail={detail} />
        </section>
        <section class="card" aria-label="Configuration">
          <h2>Configuration</h2>
          <Parameters detail={detail} />
          <Copies store={store} trial={detail} model={hasModel && store.job.value?.spec.trainer?.type === 'xgboost' ? '' : null} />
          {transport.live && <Again detail={detail} />}
        </section>
      </div>
      <Panel><CurvesView height={320} detail="few" /></Panel>
      {isWatched(job) && <Panel><TrialRules detail={detail} /></Panel>}
      {isWatched(job) && <Panel><TensorsView detail={detail} /></Panel>}
      {transport.live && <Panel><SegmentsView detail={detail} /></Panel>}
      {transport.live && <Panel><FilesView detail={detail} /></Panel>}
      {transport.live && <Panel><LogView job={store.key} trial={trial} running={detail.state === 'running'} ranks={detail.replicas} /></Panel>}
    </>
  );
}

function TrialHead({ detail, draft }: { detail: Trial; draft: Draft }): JSX.Element {
  const { table, store } = useJob();
  const numbers = useMemo(() => table.rows.map((row) => row.number).sort((a, b) => a - b), [table.count]);
  const at = numbers.indexOf(detail.number);
  const link = (to: number | undefined, caption: string): JSX.Element | false =>
    to !== undefined && <a class="button small" href={hrefOf(['jobs', store.name, 'trials', to], place.value.query)}>{caption}</a>;
  return (
    <header class="page-head">
      <h2>Trial {detail.number}</h2>
      <StateLabel state={detail.state} />
      <TrialValue detail={detail} />
      <span class="actions"><StopTrialButton store={store} trial={detail} /><AddNoteTo store={store} trial={detail.number} draft={draft} />{link(numbers[at - 1], '← previous')}{link(numbers[at + 1], 'next →')}</span>
    </header>
  );
}

function Times({ detail }: { detail: Trial }): JSX.Element {
  const { job } = useJob();
  const rows: [string, string][] = [
    ['bracket, rung', `${detail.bracket}, ${detail.rung}`],
    ['trained', `${units(detail.resource, job.resource_name)} in ${formatDuration(detail.training_seconds)}`],
    ['waited', formatDuration(detail.queue_seconds)],
    ['started', formatTime(detail.started_at)],
    ['ended', formatTime(detail.ended_at)],
    ['attempts, segments', `${detail.attempts}, ${detail.segments}`],
    [detail.workers.length > 1 ? 'workers' : 'worker', detail.workers.map(shortWorker).join(', ') || '–'],
  ];
  if (detail.exit_class) rows.push(['exit class', detail.exit_class.replaceAll('_', ' ')]);
  if (detail.origin !== 'sampler') rows.push(['origin', detail.origin]);
  return <dl class="parameters wide">{rows.map(([name, text]) => <div><dt>{name}</dt><dd>{text}</dd></div>)}</dl>;
}

// Jobs that begin from this trial: the same configuration again, or a search around it.
function Again({ detail }: { detail: Trial }): JSX.Element {
  const { job } = useJob();
  const trial = String(detail.number);
  return (
    <div class="buttons">
      <a class="button small" href={hrefOf(['new'], { like: job.name, trial, mode: 'again' })}>Run it again</a>
      <a class="button small" href={hrefOf(['new'], { like: job.name, trial, mode: 'around' })}>Make a job around it</a>
      <CopyButton caption="Copy explain command" text={() => `tuneband explain ${job.name} ${trial}`} />
    </div>
  );
}
