import type { JSX } from 'preact';
import { useMemo } from 'preact/hooks';
import { secondsOf } from '../../api/clock.ts';
import type { JobDetail } from '../../api/shapes.ts';
import { bestSoFar, type BestSoFar, type CostAxis } from '../../data/best_so_far.ts';
import { units } from '../../data/explain.ts';
import { formatDuration, formatDurationTick, formatNumber } from '../../data/numbers.ts';
import { chosenOption, Switch, yLinearOrLog } from '../../parts/switch.tsx';
import type { ScaleKind } from '../../plot/axes.ts';
import { historyScene, type HistoryInput } from '../../plot/history_scene.ts';
import { Plot } from '../../plot/plot.tsx';
import { useJob } from './context.ts';

export const costAxes = [['time', 'time'], ['resource', 'resource'], ['worker_time', 'worker time']] as const;

export function costAxis(axis: CostAxis, resourceName: string): HistoryInput['cost'] {
  if (axis === 'resource') return { label: `${resourceName} spent`, format: formatNumber, say: (value) => units(value, resourceName) };
  return { label: axis === 'time' ? 'time since the job was created' : 'training time of all workers', format: formatDurationTick, say: formatDuration, durations: true };
}

function noteOn({ points, resource, alone }: BestSoFar, job: JobDetail): string | undefined {
  if (resource === 0) return job.rungs_compare ? 'What each trial keeps, from any rung.' : undefined;
  const level = units(resource, job.resource_name);
  const rest = alone ? 'Values below are of fewer folds, and left out.' : 'Dashed: the best at any rung.';
  return `${thickLine(points.filter((point) => point.counts).length)} to ${level}. ${rest}`;
}

function thickLine(trials: number): string {
  if (trials === 0) return 'No trial with a value came';
  return trials === 1 ? 'Thick: the one trial that came' : `Thick: the best of the ${trials} trials that came`;
}

export function HistoryView({ height }: { height: number }): JSX.Element {
  const { job, shownRows } = useJob();
  const axis = chosenOption('cost', costAxes) as CostAxis;
  const y = chosenOption('y', yLinearOrLog) as ScaleKind;
  const rows = shownRows.value;
  const { history, scene } = useMemo(() => {
    const found = bestSoFar(rows, job, axis, secondsOf(job));
    const series = [{ ...found, name: '', dash: [], color: (palette: { best: string }) => palette.best }];
    const cost = costAxis(axis, job.resource_name);
    return { history: found, scene: historyScene({ series, metric: job.objective.metric, cost, x: 'linear', y, goal: job.objective.goal, linked: true, ended: job.ended_at !== null }) };
  }, [rows, axis, y, job.state]);
  const last = history.steps.at(-1);
  return (
    <Plot
      title="Best so far"
      finding={last ? `${formatNumber(last.value)} by trial ${last.trial}, in ${history.steps.length} steps` : 'no value yet'}
      height={height}
      scene={scene}
      file={`${job.name}-best-so-far`}
      table={() => ({ columns: [costAxis(axis, job.resource_name).label, job.objective.metric, 'trial'], rows: history.steps.map((step) => [step.cost, step.value, step.trial]) })}
      tools={<Switch label="Over" name="cost" options={costAxes} />}
      note={noteOn(history, job)}
    />
  );
}
