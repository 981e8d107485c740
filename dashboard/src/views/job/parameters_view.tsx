// What the parameters do: how they go together, which of them matter, and how the objective depends on each.
import type { JSX } from 'preact';
import { useMemo } from 'preact/hooks';
import { getImportance } from '../../api/routes.ts';
import type { Importance } from '../../api/shapes.ts';
import { importanceWaitsFor, units } from '../../data/explain.ts';
import { formatCount, formatShare } from '../../data/numbers.ts';
import { searchedParameters, type Parameter } from '../../data/space.ts';
import { valueOf } from '../../data/trials.ts';
import { barsHeight, barsScene, type Bar } from '../../plot/bars_scene.ts';
import { Plot } from '../../plot/plot.tsx';
import { sliceScene } from '../../plot/slice_scene.ts';
import { FaultNotice, Panel } from '../../parts/notice.tsx';
import { useLoaded } from '../../parts/use_loaded.ts';
import { choose, chosen } from '../../state/place.ts';
import { useJob } from './context.ts';
import { PairView } from './pair_view.tsx';
import { ParallelView } from './parallel_view.tsx';

const slicesAtFirst = 10;
const interactionsShown = 5;

export function ParametersView(): JSX.Element {
  const { store, job } = useJob();
  const summary = store.summary.value;
  const results = summary?.importance;
  // Asked again when a tenth more is known: the forest takes a while.
  const generation = results ? Math.floor(Math.log(Math.max(1, results.results)) / Math.log(1.1)) : 0;
  const loaded = useLoaded(() => getImportance(store.key), [generation]);
  const importance = loaded.value.value ?? null;
  const ordered = orderedParameters(searchedParameters(job.spec.search_space), importance);
  return (
    <>
      <Panel><ParallelView height={420} /></Panel>
      <div class="pair">
        <Panel>
          {loaded.value.fault ? <FaultNotice fault={loaded.value.fault} />
            : importance ? <ImportanceView importance={importance} />
            : <section class="plot" aria-label="Importance"><h3>Importance</h3><p class="muted">{summary ? importanceWaitsFor(summary) : 'Being computed…'}</p></section>}
        </Panel>
        {ordered.length > 1 && <Panel><PairView parameters={ordered} importance={importance} /></Panel>}
      </div>
      <Slices parameters={ordered} importance={importance} />
    </>
  );
}

function orderedParameters(parameters: Parameter[], importance: Importance | null): Parameter[] {
  const shares = new Map(importance?.parameters.map((one) => [one.parameter, one.share]));
  return [...parameters].sort((a, b) => (shares.get(b.name) ?? 0) - (shares.get(a.name) ?? 0));
}

function ImportanceView({ importance }: { importance: Importance }): JSX.Element {
  const { job } = useJob();
  const bars: Bar[] = useMemo(() => [
    ...importance.parameters.map((one) => ({ name: one.parameter, share: one.share, deviation: one.deviation, faint: false })),
    ...importance.interactions.slice(0, interactionsShown).map((one) => ({ name: `${one.first} × ${one.second}`, share: one.share, deviation: one.deviation, faint: true })),
  ], [importance]);
  const scene = useMemo(() => barsScene(bars), [bars]);
  const first = importance.parameters[0];
  const weak = importance.explained < 0.3;
  return (
    <Plot
      title="Importance"
      finding={first ? `${first.parameter} matters most, ${formatShare(first.share)} of the variance` : 'nothing is known'}
      height={barsHeight(bars)}
      scene={scene}
      file={`${job.name}-importance`}
      table={() => ({ columns: ['parameter', 'share', 'deviation'], rows: bars.map((bar) => [bar.name, bar.share, bar.deviation]) })}
      note={
        <>
          Share of the variance over the whole space (functional ANOVA), of {importance.trials} trials at {units(importance.resource, job.resource_name)}.
          The forest explains <b>{formatShare(Math.max(0, importance.explained))}</b> of trials that it has not seen{weak ? ': so little that the shares say next to nothing.' : '.'}
        </>
      }
    />
  );
}

function Slices({ parameters, importance }: { parameters: Parameter[]; importance: Importance | null }): JSX.Element {
  const { job, table, shownRows } = useJob();
  const all = chosen('slices') === 'all';
  const shown = all ? parameters : parameters.slice(0, slicesAtFirst);
  const rows = shownRows.value;
  return (
    <>
      <div class="slices">
        {shown.map((parameter) => <Slice key={parameter.name} parameter={parameter} importance={importance} rows={rows} job={job} table={table} />)}
      </div>
      {parameters.length > shown.length && <button type="button" onClick={() => choose({ slices: 'all' })}>Show all {parameters.length} parameters</button>}
    </>
  );
}

type SliceProps = { parameter: Parameter; importance: Importance | null } & Pick<ReturnType<typeof useJob>, 'job' | 'table'> & { rows: ReturnType<typeof useJob>['shownRows']['value'] };

function Slice({ parameter, importance, rows, job, table }: SliceProps): JSX.Element {
  const dependence = importance?.dependence.find((one) => one.parameter === parameter.name);
  const scene = useMemo(() => sliceScene({ job, table, rows, parameter, dependence }), [rows, dependence]);
  return (
    <Plot
      title={parameter.name}
      finding={`${job.objective.metric} by ${parameter.name}, ${formatCount(rows.length, 'trial')}`}
      height={230}
      scene={scene}
      file={`${job.name}-${parameter.name}`}
      table={() => ({
        columns: ['trial', parameter.name, job.objective.metric],
        rows: rows.map((row) => [row.number, table.parameters.get(parameter.name)?.[table.find(row.number) ?? -1] ?? null, valueOf(row)]),
      })}
    />
  );
}
