// The trial that was selected last: why it is where it is, in words.
import type { JSX } from 'preact';
import { useEffect } from 'preact/hooks';
import { getDecisions, getTrial } from '../../api/routes.ts';
import { explainDecision, explainState } from '../../data/explain.ts';
import { formatNumber, formatValue, numberOf } from '../../data/numbers.ts';
import { FaultNotice } from '../../parts/notice.tsx';
import { StateLabel } from '../../parts/state_mark.tsx';
import { useLoaded } from '../../parts/use_loaded.ts';
import { hrefOf, place } from '../../state/place.ts';
import { focused, selected } from '../../state/selection.ts';
import { useJob } from './context.ts';
import { Difference } from './difference.tsx';

export function Focus(): JSX.Element | null {
  const trial = focused.value;
  if (trial === null) return null;
  return (
    <aside class="card focus" aria-label="Selected trials">
      {selected.value.length > 1 && <Difference />}
      <Story trial={trial} />
    </aside>
  );
}

function Story({ trial }: { trial: number }): JSX.Element {
  const { store, job, table } = useJob();
  useEffect(() => { void store.ensureTrial(trial); }, [trial, table]);
  const row = table.row(trial);
  void table.version.value;
  const state = row?.state ?? '';
  const loaded = useLoaded(() => Promise.all([getTrial(store.name, trial), getDecisions(store.name, trial)]), [trial, state, row?.rung, row?.segments]);
  const { value, fault } = loaded.value;
  if (fault) return <FaultNotice fault={fault} />;
  if (!value) return <p class="muted">Loading trial {trial}…</p>;
  const [detail, decisions] = value;
  return (
    <>
      <h3>
        <a href={hrefOf(['jobs', store.name, 'trials', trial], place.value.query)}>Trial {trial}</a> <StateLabel state={detail.state} />
      </h3>
      <p>
        <b>{detail.objective === null ? 'no value' : formatNumber(numberOf(detail.objective))}</b>{' '}
        <span class="muted">{job.objective.metric}, {detail.resource} {job.resource_name}</span>
      </p>
      {row && row.note !== '' && <p class="note-text">{row.note}</p>}
      <ol class="why" data-testid="why">
        {decisions.map((decision) => <li>{explainDecision(decision, job)}</li>)}
        {explainState(detail, job).map((sentence) => <li>{sentence}</li>)}
      </ol>
      <dl class="parameters">
        {Object.entries(detail.configuration).map(([name, parameter]) => (
          <div><dt>{name}</dt><dd title={String(parameter)}>{formatValue(parameter)}</dd></div>
        ))}
      </dl>
    </>
  );
}
