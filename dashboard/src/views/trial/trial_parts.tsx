// What is shown of a trial on its page and where it is selected.
import type { JSX } from 'preact';
import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { getExplanation, getTrial } from '../../api/routes.ts';
import type { Trial } from '../../api/shapes.ts';
import { furtherValuesOf, units } from '../../data/explain.ts';
import { formatNumber, formatValue, numberOf } from '../../data/numbers.ts';
import { trainedFor } from '../../data/trials.ts';
import { useLoaded, type Loaded } from '../../parts/use_loaded.ts';
import { useJob } from '../job/context.ts';

export interface Explained {
  detail: Trial;
  explanation: string[];
}

// As it stands, asked for again whenever it has moved.
export function useTrial(trial: number): Loaded<Explained> {
  const { store, table } = useJob();
  void table.version.value;
  const row = table.row(trial);
  useEffect(() => { void store.ensureTrial(trial); }, [trial, table]);
  const load = async (): Promise<Explained> => {
    const [detail, explanation] = await Promise.all([getTrial(store.key, trial), getExplanation(store.key, trial)]);
    return { detail, explanation };
  };
  return useLoaded(load, [trial, row?.state, row?.rung, row?.segments, row?.attempts]).value;
}

export function TrialValue({ detail }: { detail: Trial }): JSX.Element {
  const { job } = useJob();
  const none = detail.ended_at === null ? 'no value yet' : 'no value';
  const value = detail.kept_value ?? detail.objective; // of the model that it has
  const further = furtherValuesOf(detail, job);
  const violation = numberOf(detail.violation);
  return (
    <span>
      <b>{value === null ? none : formatNumber(numberOf(value))}</b>{' '}
      <span class="muted">
        {job.objective.metric}{further !== '' && `, ${further}`} after {units(trainedFor(detail) || detail.resource, job.resource_name)}
        {detail.kept_value !== null && `, its model after ${detail.kept_resource}`}
        {violation > 0 && `; outside of the constraints${Number.isFinite(violation) ? ` by ${formatNumber(violation)}` : ': a metric is missing'}`}
      </span>
    </span>
  );
}

export function Why({ explanation }: { explanation: readonly string[] }): JSX.Element {
  return (
    <ol class="why" data-testid="why">
      {explanation.map((sentence) => <li>{sentence}</li>)}
      {explanation.length === 0 && <li>Nothing was decided about it yet.</li>}
    </ol>
  );
}

// `first`: so many, until all are asked for: what stands below is not to be pushed off the page.
export function Parameters({ detail, first = Infinity }: { detail: Trial; first?: number }): JSX.Element {
  const whole = useSignal(false);
  const all = Object.entries(detail.configuration);
  const shown = whole.value ? all : all.slice(0, first);
  return (
    <>
      <dl class="parameters">
        {shown.map(([name, parameter]) => (
          <div><dt>{name}</dt><dd title={String(parameter)}>{formatValue(parameter)}</dd></div>
        ))}
      </dl>
      {shown.length < all.length && <p><button type="button" class="small" onClick={() => { whole.value = true; }}>all {all.length} parameters</button></p>}
    </>
  );
}
