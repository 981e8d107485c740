// Objectives against each other, and quality against time by the number of replicas.
import type { JSX } from 'preact';
import { useMemo } from 'preact/hooks';
import type { Summary } from '../../api/shapes.ts';
import { units } from '../../data/explain.ts';
import { frontOf } from '../../data/front.ts';
import { formatCount, formatDuration, formatNumber } from '../../data/numbers.ts';
import { valueOf } from '../../data/trials.ts';
import { chosenOption, Switch } from '../../parts/switch.tsx';
import { Plot } from '../../plot/plot.tsx';
import { pointsScene, type Point } from '../../plot/points_scene.ts';
import { palette } from '../../state/theme.ts';
import { useJob } from './context.ts';

const timeOptions = [['training', 'training time'], ['worker', 'worker time']] as const;

export function TradeoffsView(): JSX.Element {
  const { store, job } = useJob();
  const summary = store.summary.value;
  if (!summary) return <p class="muted">Loading…</p>;
  return (
    <>
      {job.more_objectives.length > 0 && <ParetoView summary={summary} />}
      <QualityView summary={summary} />
      {summary.replicas.totals.length > 1 && <ReplicasTable summary={summary} />}
    </>
  );
}

function ParetoView({ summary }: { summary: Summary }): JSX.Element {
  const { job, shownRows } = useJob();
  const rows = shownRows.value;
  const second = job.more_objectives[0];
  const several = job.more_objectives.length > 1; // whose front is no line in two of them
  const scene = useMemo(() => {
    const front = new Set(summary.pareto.map((point) => point.trial));
    const points: Point[] = rows.flatMap((row) =>
      row.objective === null || row.moreObjectives[0] === undefined
        ? []
        : [{ trial: row.number, state: row.state, a: row.objective, b: row.moreObjectives[0], faint: !front.has(row.number) }],
    );
    return pointsScene({
      x: { label: job.objective.metric, kind: 'linear' }, y: { label: second?.metric ?? '', goal: second?.goal ?? 'minimize' }, points,
      fronts: several ? [] : [{ trials: summary.pareto.map((point) => point.trial), color: null }],
    });
  }, [rows, summary]);
  const where = several ? `Strong marks, of ${job.more_objectives.length + 1} objectives of which the first two are drawn` : 'On the line';
  return (
    <Plot
      title="Pareto front"
      finding={`${formatCount(summary.pareto.length, 'trial')} that none dominates`}
      height={380}
      scene={scene}
      file={`${job.name}-pareto`}
      table={() => ({
        columns: ['trial', job.objective.metric, ...job.more_objectives.map((one) => one.metric)],
        rows: summary.pareto.map((point) => [point.trial, ...point.values]),
      })}
      note={`${where}: no other trial is at least as good in every objective and better in one, at ${units(job.max_resource, job.resource_name)}.${summary.pareto_left_out > 0 ? ` ${summary.pareto_left_out} more are left out.` : ''}`}
    />
  );
}

function QualityView({ summary }: { summary: Summary }): JSX.Element {
  const { job, shownRows } = useJob();
  const rows = shownRows.value;
  const workerTime = chosenOption('timeof', timeOptions) === 'worker';
  const colors = palette.value.series;
  const replicas = summary.replicas.totals.map((total) => total.replicas);
  const scene = useMemo(() => {
    const points: Point[] = rows.flatMap((row) => {
      const value = valueOf(row) ?? NaN;
      if (!Number.isFinite(value) || row.trainingSeconds <= 0) return [];
      const color = replicas.length > 1 ? colors[replicas.indexOf(row.replicas) % colors.length] : undefined;
      return [{ trial: row.number, state: row.state, a: row.trainingSeconds * (workerTime ? row.replicas : 1), b: value, faint: row.state !== 'completed' || row.violation > 0, ...(color ? { color } : {}) }];
    });
    const line = frontOf(points.filter((point) => !point.faint), job.objective.goal);
    return pointsScene({
      x: { label: workerTime ? 'worker time' : 'training time', kind: 'log', format: formatDuration }, y: { label: job.objective.metric, goal: job.objective.goal }, points,
      fronts: [{ trials: line.map((point) => point.trial), color: null }],
    });
  }, [rows, summary, workerTime, colors]);
  return (
    <Plot
      title="Quality against time"
      finding={`${formatCount(rows.length, 'trial')} by how long they trained`}
      height={340}
      scene={scene}
      file={`${job.name}-quality`}
      table={() => ({ columns: ['trial', 'replicas', 'training seconds', 'worker seconds', job.objective.metric], rows: rows.map((row) => [row.number, row.replicas, row.trainingSeconds, row.trainingSeconds * row.replicas, valueOf(row)]) })}
      tools={<Switch label="Time" name="timeof" options={timeOptions} />}
      note={
        <>
          Strong marks are trials at {units(job.max_resource, job.resource_name)}{job.constraints.length > 0 && ', within the constraints'}; on the line, nothing is at least as good and as fast.
          {replicas.length > 1 && replicas.map((count, index) => <span class="legend"><span class={`swatch series-${(index % colors.length) + 1}`} /> {formatCount(count, 'replica')}</span>)}
        </>
      }
    />
  );
}

function ReplicasTable({ summary }: { summary: Summary }): JSX.Element {
  return (
    <section class="plot" aria-label="By number of replicas">
      <h3>By number of replicas</h3>
      <table class="plain">
        <thead><tr><th scope="col">replicas</th><th scope="col">trials</th><th scope="col">training</th><th scope="col">worker time</th><th scope="col">a unit</th><th scope="col">best</th></tr></thead>
        <tbody>
          {summary.replicas.totals.map((total) => (
            <tr>
              <td>{total.replicas}</td><td>{total.trials}</td><td>{formatDuration(total.training_seconds)}</td><td>{formatDuration(total.worker_seconds)}</td>
              <td>{total.seconds_per_unit === null ? '–' : formatDuration(total.seconds_per_unit)}</td>
              <td>{total.best ? `${formatNumber(total.best.objective)}, trial ${total.best.trial} in ${formatDuration(total.best.training_seconds)}` : '–'}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}
