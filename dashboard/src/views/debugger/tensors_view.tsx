// What the debugger saved of a trial: its tensors by name, and one of them over its steps, beside another trial's if wanted.
import type { JSX } from 'preact';
import { useSignal } from '@preact/signals';
import { useMemo } from 'preact/hooks';
import { hasSeries, listFindings, listTensors, tensorBeside, tensorSeries } from '../../api/routes.ts';
import type { Finding, TensorEntry, Tensors, Trial } from '../../api/shapes.ts';
import { transport } from '../../api/transport.ts';
import { formatNumber } from '../../data/numbers.ts';
import { firstTensor, isOf, pointsBeside, pointsOf, reductions, shapeText, type SeriesPoints } from '../../data/tensors.ts';
import type { Table } from '../../parts/download.ts';
import { FaultNotice } from '../../parts/notice.tsx';
import { chosenOption, Switch, xLinearOrLog, yLinearOrLog } from '../../parts/switch.tsx';
import { TextInput } from '../../parts/text_input.tsx';
import { useLoaded } from '../../parts/use_loaded.ts';
import type { ScaleKind } from '../../plot/axes.ts';
import { Plot } from '../../plot/plot.tsx';
import { tensorScene } from '../../plot/tensor_scene.ts';
import { choose, chosen } from '../../state/place.ts';
import { useJob } from '../job/context.ts';

const restMs = 2_000;
const searchFrom = 12; // tensors

export function TensorsView({ detail }: { detail: Trial }): JSX.Element {
  const { store, job } = useJob();
  const wanted = Number(chosen('rank'));
  const rank = wanted > 0 && wanted < detail.replicas ? wanted : 0;
  const news = `${store.found.value} ${detail.state === 'running' ? store.curves.version.value : ''}`;
  const loaded = useLoaded(
    () => Promise.all([listTensors(store.key, detail.number, rank), listFindings(store.key, detail.number)]),
    [detail.number, detail.state, rank],
    { on: news, restMs },
  );
  const { value, fault } = loaded.value;
  const empty = value && value[0].tensors.length === 0;
  if (fault || !value || empty) {
    return (
      <section class="plot" aria-label="Tensors">
        <h3>Tensors</h3>
        {fault ? <FaultNotice fault={fault} /> : <p class="muted">{!value ? 'Loading…' : detail.state === 'running' || detail.state === 'pending' ? 'Nothing was saved yet.' : 'Nothing was saved.'}</p>}
      </section>
    );
  }
  const [saved, findings] = value;
  const asked = chosen('tensor');
  const mode = chosen('mode');
  const shown = saved.tensors.filter((tensor) => hasSeries(store.key, detail.number, tensor, rank));
  const entry = shown.find((tensor) => tensor.name === asked && tensor.mode === mode)
    ?? shown.find((tensor) => tensor.name === asked)
    ?? firstTensor(shown, findings, job.objective.metric);
  return (
    <>
      {entry && <TensorCurve detail={detail} entry={entry} rank={rank} findings={findings} />}
      <TensorList saved={saved} shown={shown} current={entry} findings={findings} />
    </>
  );
}

interface ListProps {
  saved: Tensors;
  shown: readonly TensorEntry[]; // whose curves there are
  current: TensorEntry | undefined;
  findings: readonly Finding[];
}

function TensorList({ saved, shown, current, findings }: ListProps): JSX.Element {
  const search = useSignal('');
  const found = saved.tensors.filter((tensor) => tensor.name.toLowerCase().includes(search.value.toLowerCase()));
  return (
    <section class="plot" aria-label="Tensors">
      <header class="plot-head">
        <h3>Tensors</h3>
        <div class="plot-tools">
          {saved.tensors.length >= searchFrom && (
            <label class="filter small"><span>Find</span><input type="search" value={search.value} onInput={(event) => { search.value = event.currentTarget.value; }} /></label>
          )}
        </div>
      </header>
      <div class="scroll tensors" tabIndex={0} role="region" aria-label="Tensors of the trial">
        <table class="plain">
          <thead><tr><th scope="col">tensor</th><th scope="col">mode</th><th scope="col">shape</th><th scope="col">kept</th><th scope="col" class="number">saved</th><th scope="col" class="number">steps</th></tr></thead>
          <tbody>
            {found.map((tensor) => (
              <tr class={tensor === current ? 'selected' : ''}>
                <td>
                  {shown.includes(tensor) ? <button type="button" class="link" aria-pressed={tensor === current} onClick={() => choose({ tensor: tensor.name, mode: tensor.mode })}>{tensor.name}</button> : tensor.name}
                  {findings.filter((one) => isOf(one, tensor)).map((one) => <span class="chip" title={one.message}>{one.rule}</span>)}
                </td>
                <td class="muted">{tensor.mode}</td>
                <td class="nowrap muted">{shapeText(tensor)}</td>
                <td class="muted">{tensor.scalar ? 'value' : tensor.whole ? 'whole' : 'reductions'}</td>
                <td class="number">{tensor.steps}</td>
                <td class="number nowrap">{tensor.first_step} to {tensor.last_step}</td>
              </tr>
            ))}
          </tbody>
        </table>
        {found.length === 0 && <p class="muted">No name has that in it.</p>}
      </div>
      {shown.length < saved.tensors.length && <p class="plot-note">The curves of {saved.tensors.length - shown.length} more found no room in the report: <code>tuneband tensors</code> shows them.</p>}
      {saved.dropped.rows > 0 && <p class="plot-note">{saved.dropped.rows} more found no room: <code>trial_megabytes_max</code> and <code>job_megabytes_max</code> in the job's section <code>debug</code> are the bounds.</p>}
    </section>
  );
}

interface CurveProps {
  detail: Trial;
  entry: TensorEntry;
  rank: number;
  findings: readonly Finding[];
}

function TensorCurve({ detail, entry, rank, findings }: CurveProps): JSX.Element {
  const { store, job } = useJob();
  const reduction = (reductions as readonly string[]).includes(chosen('reduction')) ? chosen('reduction') : 'mean';
  const other = /^\d+$/.test(chosen('beside')) && Number(chosen('beside')) !== detail.number ? Number(chosen('beside')) : null;
  const x = chosenOption('x', xLinearOrLog) as ScaleKind;
  const y = chosenOption('y', yLinearOrLog) as ScaleKind;
  const loaded = useLoaded<SeriesPoints[]>(
    async () => other !== null && transport.live
      ? pointsBeside(await tensorBeside(store.key, detail.number, other, entry, reduction, rank))
      : Promise.all([detail.number, ...(other === null ? [] : [other])]
        .map(async (trial) => pointsOf(await tensorSeries(store.key, trial, entry, rank), trial, reduction))),
    [detail.number, entry.name, entry.mode, reduction, other, rank],
    { on: entry.last_step + entry.steps, restMs },
  );
  const { value: series = [], fault } = loaded.value;
  const found = findings.filter((finding) => isOf(finding, entry)).map((finding) => finding.step);
  const label = entry.scalar ? entry.name : `${reduction} of ${entry.name}`;
  const scene = useMemo(() => tensorScene({ series, resource: job.resource_name, label, found, x, y }), [series, label, found.join(), x, y]);
  const last = series[0]?.values.at(-1);
  const numbers = (): Table => ({
    columns: [job.resource_name, ...series.map(({ trial }) => `trial ${trial}`)],
    rows: [...new Set(series.flatMap(({ steps }) => steps))].sort((a, b) => a - b)
      .map((step) => [step, ...series.map(({ steps, values }) => (steps.includes(step) ? (values[steps.indexOf(step)] as number) : null))]),
  });
  return (
    <>
      {fault && <FaultNotice fault={fault} />}
      <Plot
        title="Tensor"
        finding={`${label} at ${entry.steps} steps from ${entry.first_step} to ${entry.last_step}${last === undefined ? '' : `, at last ${formatNumber(last)}`}${found.length > 0 ? `; a rule found something at step ${found.join(', ')}` : ''}`}
        height={280}
        scene={scene}
        table={numbers}
        file={`${job.name}-${detail.number}-${entry.name.replaceAll('/', '-')}`}
        tools={
          <>
            {!entry.scalar && (
              <select aria-label="Reduction" value={reduction} onChange={(event) => choose({ reduction: event.currentTarget.value === 'mean' ? null : event.currentTarget.value })}>
                {reductions.map((one) => <option value={one}>{one}</option>)}
              </select>
            )}
            <label class="filter tiny"><span>Beside trial</span>
              <TextInput inputMode="numeric" value={other === null ? '' : String(other)} take={(text) => choose({ beside: /^\d+$/.test(text.trim()) ? text.trim() : null })} />
            </label>
            <Switch label="Horizontal axis" name="x" options={xLinearOrLog} />
            <Switch label="Vertical axis" name="y" options={yLinearOrLog} />
          </>
        }
        note={
          <>
            <code>{entry.name}</code>{entry.mode && ` (${entry.mode})`}{other !== null && `: trial ${detail.number} as a line, trial ${other} dashed`}.
            {found.length > 0 && ' A ring: a rule found something there.'}
          </>
        }
      />
    </>
  );
}
