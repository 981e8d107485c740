// The trial that was selected last: why it is where it is, in words.
import type { JSX } from 'preact';
import { FaultNotice } from '../../parts/notice.tsx';
import { StateLabel } from '../../parts/state_mark.tsx';
import { hrefOf, place } from '../../state/place.ts';
import { focused, selected } from '../../state/selection.ts';
import { Parameters, TrialValue, useTrial, Why } from '../trial/trial_parts.tsx';
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
  const { store, table } = useJob();
  const { value, fault } = useTrial(trial);
  if (fault) return <FaultNotice fault={fault} />;
  if (!value) return <p class="muted">Loading trial {trial}…</p>;
  const { detail, explanation } = value;
  const note = table.row(trial)?.note ?? '';
  return (
    <>
      <h3>
        <a href={hrefOf(['jobs', store.name, 'trials', trial], place.value.query)}>Trial {trial}</a> <StateLabel state={detail.state} />
      </h3>
      <p><TrialValue detail={detail} /></p>
      {note !== '' && <p class="note-text">{note}</p>}
      <Why explanation={explanation} />
      <Parameters detail={detail} />
    </>
  );
}
