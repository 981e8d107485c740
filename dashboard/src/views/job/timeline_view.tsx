import type { JSX } from 'preact';
import { useMemo } from 'preact/hooks';
import { getTimeline } from '../../api/routes.ts';
import type { Timeline } from '../../api/columns.ts';
import { FaultNotice } from '../../parts/notice.tsx';
import { useLoaded } from '../../parts/use_loaded.ts';
import { Plot } from '../../plot/plot.tsx';
import { startsOf } from '../../data/segments.ts';
import { isLoss, timelineHeight, timelineScene } from '../../plot/timeline_scene.ts';
import { useJob } from './context.ts';

export function TimelineView(): JSX.Element {
  const { store, job, table } = useJob();
  void table.version.value;
  // Asked again when a segment more was begun or ended: their number and the trials under way tell.
  const generation = table.rows.reduce((sum, row) => sum + row.segments * 1000 + row.rung + (row.state === 'running' ? 1 : 0), 0);
  const loaded = useLoaded(() => getTimeline(store.name), [generation, job.state]);
  const { value, fault } = loaded.value;
  if (fault) return <FaultNotice fault={fault} />;
  if (!value) return <p class="muted">Loading…</p>;
  if (value.trial.length === 0) return <p class="muted">No segment was begun yet.</p>;
  return <TimelinePlot timeline={value} />;
}

function TimelinePlot({ timeline }: { timeline: Timeline }): JSX.Element {
  const { job, table, shownRows } = useJob();
  const rows = shownRows.value;
  const scene = useMemo(() => {
    const shown = new Set(rows.map((row) => row.number));
    const now = ((job.ended_at ? Date.parse(job.ended_at) : Date.now()) - table.createdAt) / 1000;
    return timelineScene({ timeline, createdAt: table.createdAt, now, resourceName: job.resource_name, shown: (trial) => shown.has(trial) });
  }, [timeline, rows]);
  const starts = useMemo(() => startsOf(timeline), [timeline]);
  const lost = timeline.outcome.filter((outcome) => isLoss(timeline.outcomes[outcome] ?? '')).length;
  return (
    <Plot
      title="Workers over time"
      finding={`${timeline.trial.length} segments on ${timeline.workers.length} workers, ${lost} failed`}
      height={timelineHeight(timeline.workers.length)}
      scene={scene}
      file={`${job.name}-timeline`}
      table={() => ({
        columns: ['worker', 'trial', 'rank', 'from', 'until', 'start', 'began', 'ended', 'outcome', 'attempt'],
        rows: timeline.trial.map((trial, i) => [
          timeline.workers[timeline.worker[i] as number] ?? '', trial, timeline.rank[i] ?? 0, timeline.from_resource[i] ?? null, timeline.until_resource[i] ?? null,
          starts[i] ?? null, timeline.began[i] ?? null, timeline.ended[i] ?? null, timeline.outcomes[timeline.outcome[i] as number] ?? 'under way', timeline.attempt[i] ?? 1,
        ]),
      })}
      note="A row a worker, a bar a segment with its trial's number. A light notch: it went straight on with the trial that it had in memory; a dark one: from the trial's checkpoint. Thin bars failed or were lost. Empty places had nothing of this job, shaded ones on no worker: point at them."
    />
  );
}
