// Jobs over each other: what they found by what they spent, and in what their documents differ.
import type { JSX } from 'preact';
import { useEffect, useMemo } from 'preact/hooks';
import { secondsOf } from '../../api/clock.ts';
import * as api from '../../api/routes.ts';
import type { JobDetail } from '../../api/shapes.ts';
import { bestSoFar, type CostAxis } from '../../data/best_so_far.ts';
import { differences } from '../../data/documents.ts';
import { units } from '../../data/explain.ts';
import { formatDuration, formatNumber } from '../../data/numbers.ts';
import { FaultNotice, Panel } from '../../parts/notice.tsx';
import { JobStateLabel } from '../../parts/state_mark.tsx';
import { chosenOption, Switch, xLinearOrLog, yLinearOrLog } from '../../parts/switch.tsx';
import { useLoaded } from '../../parts/use_loaded.ts';
import type { ScaleKind } from '../../plot/axes.ts';
import { historyScene } from '../../plot/history_scene.ts';
import { Plot } from '../../plot/plot.tsx';
import { CompareStore, type Compared } from '../../state/compare_store.ts';
import { choose, chosen, hrefOf } from '../../state/place.ts';
import type { Palette } from '../../state/theme.ts';
import { costAxes, costAxis } from '../job/history_view.tsx';
import { Live } from '../job/live.tsx';

export const jobsMost = 6; // as many as there are colours and dashes to tell them apart
const dashes = [[], [8, 4], [2, 3], [10, 3, 2, 3], [5, 5], [1, 4]];

export function ComparePage(): JSX.Element {
  const names = chosen('jobs').split(',').filter((name) => name !== '').slice(0, jobsMost);
  useEffect(() => { document.title = 'Compare jobs – Tuneband'; }, []);
  return names.length === 0 ? (
    <>
      <header class="page-head"><h1>Compare jobs</h1><JobPicker names={names} /></header>
      <p class="muted">Choose two jobs or more.</p>
    </>
  ) : <Comparison names={names} />;
}

function Comparison({ names }: { names: readonly string[] }): JSX.Element {
  const store = useMemo(() => new CompareStore(names), [names.join(',')]);
  useEffect(() => () => store.close(), [store]);
  const compared = store.compared.value;
  const remove = (name: string): void => choose({ jobs: names.filter((one) => one !== name).join(',') });
  return (
    <>
      <header class="page-head"><h1>Compare jobs</h1><Live store={store} /><JobPicker names={names} /></header>
      {store.fault.value && <FaultNotice fault={store.fault.value} />}
      {store.missing.value.map((name) => <p class="notice" role="alert">There is no job “{name}”. <button type="button" class="small" onClick={() => remove(name)}>Remove</button></p>)}
      {compared && compared.length > 0 && (
        <>
          <h2 class="hidden">What they found</h2>
          <Panel><Histories compared={compared} /></Panel>
          <Panel><Bests compared={compared} remove={remove} /></Panel>
          {compared.length > 1 && <Panel><Documents jobs={compared.map((one) => one.job)} /></Panel>}
        </>
      )}
    </>
  );
}

function JobPicker({ names }: { names: readonly string[] }): JSX.Element | null {
  const loaded = useLoaded(() => api.listJobs(), []);
  const others = (loaded.value.value?.jobs ?? []).filter((job) => !names.includes(job.name));
  if (names.length >= jobsMost) return <span class="muted">{jobsMost} jobs at most</span>;
  return (
    <select aria-label="Add a job" value="" onChange={(event) => choose({ jobs: [...names, event.currentTarget.value].join(',') }, true)}>
      <option value="">Add a job…</option>
      {others.map((job) => <option value={job.name}>{job.name}</option>)}
    </select>
  );
}

function Histories({ compared }: { compared: readonly Compared[] }): JSX.Element {
  const axis = chosenOption('cost', costAxes) as CostAxis;
  const x = chosenOption('x', xLinearOrLog) as ScaleKind;
  const y = chosenOption('y', yLinearOrLog) as ScaleKind;
  const first = (compared[0] as Compared).job;
  const series = useMemo(() => compared.map(({ job, rows }, index) => {
    const color = (palette: Palette): string => palette.series[index] ?? palette.text;
    return { ...bestSoFar(rows, job, axis, secondsOf(job)), name: job.name, dash: dashes[index] ?? [], color };
  }), [compared, axis]);
  const sameResource = compared.every(({ job }) => job.resource_name === first.resource_name);
  const cost = costAxis(axis, sameResource ? first.resource_name : 'units');
  const scene = useMemo(() => historyScene({ series, metric: first.objective.metric, cost, x, y, goal: first.objective.goal, linked: false, ended: compared.every(({ job }) => job.ended_at !== null) }), [series, x, y]);
  const alike = compared.every(({ job }) => job.objective.metric === first.objective.metric && job.objective.goal === first.objective.goal);
  return (
    <Plot
      title="Best so far"
      finding={series.map((one) => `${one.name} ${formatNumber(one.steps.at(-1)?.value)}`).join(', ')}
      height={400}
      scene={scene}
      file="compare-best-so-far"
      table={() => ({ columns: ['job', cost.label, first.objective.metric, 'trial'], rows: series.flatMap((one) => one.steps.map((step) => [one.name, step.cost, step.value, step.trial])) })}
      tools={<><Switch label="Over" name="cost" options={costAxes} /><Switch label="Horizontal axis" name="x" options={xLinearOrLog} /><Switch label="Vertical axis" name="y" options={yLinearOrLog} /></>}
      note={
        <>
          {series.map((one, index) => <span class="legend"><span class={`swatch series-${index + 1}`} /> {one.name}</span>)}
          <br />Thick: at the most resource, or what trials keep; dotted: at any rung.
          {!alike && <b> These jobs have other objectives: their values cannot be compared.</b>}
          {axis === 'resource' && !sameResource && <b> They count other resources: what they spent cannot be compared.</b>}
        </>
      }
    />
  );
}

function Bests({ compared, remove }: { compared: readonly Compared[]; remove: (name: string) => void }): JSX.Element {
  return (
    <section class="plot" aria-label="Results">
      <h3>Results</h3>
      <div class="scroll" tabIndex={0} role="region" aria-label="Results of the jobs">
        <table class="plain">
          <thead><tr><th scope="col">job</th><th scope="col">state</th><th scope="col">best</th><th scope="col">trial</th><th scope="col">trials</th><th scope="col">spent</th><th scope="col">training</th><th scope="col">from start to end</th><th scope="col"><span class="hidden">remove</span></th></tr></thead>
          <tbody>
            {compared.map(({ job }, index) => (
              <tr>
                <td><span class={`swatch series-${index + 1}`} /> <a href={hrefOf(['jobs', job.name])}>{job.name}</a></td>
                <td><JobStateLabel job={job} /></td>
                <td><b>{job.best ? formatNumber(job.best.value) : '–'}</b> <span class="muted">{job.objective.metric}</span></td>
                <td>{job.best ? <a href={hrefOf(['jobs', job.name, 'trials', job.best.trial])}>{job.best.trial}</a> : '–'}</td>
                <td>{job.trials.created}</td>
                <td>{units(job.resource_spent, job.resource_name)}</td>
                <td>{formatDuration(job.training_seconds)}</td>
                <td>{formatDuration(secondsOf(job))}</td>
                <td><button type="button" class="quiet" aria-label={`Remove ${job.name}`} onClick={() => remove(job.name)}>×</button></td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </section>
  );
}

function Documents({ jobs }: { jobs: readonly JobDetail[] }): JSX.Element {
  const found = useMemo(() => differences(jobs.map((job) => job.spec)).filter(({ path }) => path !== 'name'), [jobs]);
  return (
    <section class="plot" aria-label="Differences">
      <h3>What differs in their documents</h3>
      {found.length === 0 ? <p class="muted">Nothing but the name.</p> : (
        <div class="scroll" tabIndex={0} role="region" aria-label="Differences of the documents">
          <table class="plain differences">
            <thead><tr><th scope="col">field</th>{jobs.map((job) => <th scope="col">{job.name}</th>)}</tr></thead>
            <tbody>
              {found.map(({ path, values }) => (
                <tr><th scope="row">{path}</th>{values.map((value) => <td><code>{value === undefined ? '–' : shorten(JSON.stringify(value))}</code></td>)}</tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </section>
  );
}

const textMost = 160;
const shorten = (text: string): string => (text.length > textMost ? `${text.slice(0, textMost)}…` : text);
