import type { JSX } from 'preact';
import { useMemo } from 'preact/hooks';
import { endOf, serverNow } from '../../api/clock.ts';
import { getTimeline, getWorkersTimeline, type Window } from '../../api/routes.ts';
import type { Timeline, WorkersTimeline } from '../../api/columns.ts';
import { transport } from '../../api/transport.ts';
import { whyIdle } from '../../data/idle.ts';
import { idleTimes, lanesOf, startsOf } from '../../data/segments.ts';
import { IdleTable } from '../../parts/idle_table.tsx';
import { FaultNotice } from '../../parts/notice.tsx';
import { chooseWindow, chosenWindow, TimeWindow } from '../../parts/time_window.tsx';
import { useLoaded } from '../../parts/use_loaded.ts';
import { Plot } from '../../plot/plot.tsx';
import { lossesOf, segmentsOf, timelineHeight, timelineScene } from '../../plot/timeline_scene.ts';
import { ended } from '../../state/job_store.ts';
import { hrefOf } from '../../state/place.ts';
import { useJob } from './context.ts';

const restMs = 2_000; // of a job that runs much happens
const leastIdle = 1 / 200; // of what is shown: shorter times without anything are not listed

export function TimelineView(): JSX.Element {
  const { store, job, table } = useJob();
  void table.version.value;
  // Asked again when a segment more was begun or ended: their number and the trials under way tell.
  const generation = table.rows.reduce((sum, row) => sum + row.segments * 1000 + row.rung + (row.state === 'running' ? 1 : 0), 0);
  const window = chosenWindow();
  const whole: Window = [table.createdAt, Math.max(endOf(job), table.createdAt + 1)];
  const loaded = useLoaded(
    () => Promise.all([getTimeline(store.key, window), transport.live ? getWorkersTimeline(window ?? whole) : null]),
    [window?.join()],
    { on: `${generation} ${job.state}`, restMs },
  );
  const { value, fault } = loaded.value;
  const chosen = window && <TimeWindow shown={window} whole="The whole job" />;
  if (fault) return <><FaultNotice fault={fault} />{chosen}</>;
  if (!value) return <p class="muted">Loading…</p>;
  const [timeline, workers] = value;
  if (timeline.trial.length === 0) return <>{chosen}<p class="muted">{window ? 'Nothing of this job ran in this time.' : 'No segment was begun yet.'}</p></>;
  return <TimelinePlot timeline={timeline} workers={workers} window={window} />;
}

interface TimelinePlotProps {
  timeline: Timeline;
  workers: WorkersTimeline | null; // all jobs: why nothing of this one ran
  window: Window | null;
}

function TimelinePlot({ timeline, workers, window }: TimelinePlotProps): JSX.Element {
  const { job, table, shownRows } = useJob();
  const rows = shownRows.value;
  const { createdAt } = table;
  const now = (endOf(job) - createdAt) / 1000;
  const ms = (seconds: number): number => createdAt + seconds * 1000;
  const range = window && (window.map((at) => (at - createdAt) / 1000) as [number, number]);
  const why = (from: number, until: number, lane: readonly string[] = []): string[] => (workers ? whyIdle(workers, { from: ms(from), until: ms(until) }, lane, job.id) : []);
  const scene = useMemo(() => {
    const shown = new Set(rows.map((row) => row.number));
    return timelineScene({
      timeline, createdAt, now, range, nothing: 'nothing of this job',
      shown: (index) => shown.has(timeline.trial[index] as number),
      say: (index) => ({
        title: `trial ${timeline.trial[index]}`, trial: timeline.trial[index] as number,
        resource: `${job.resource_name} ${timeline.from_resource[index]} to ${timeline.until_resource[index]}`,
      }),
      why,
      ...(transport.live ? { zoom: (from: number, until: number) => chooseWindow([ms(from), ms(until)]) } : {}),
    });
  }, [timeline, workers, rows, window?.join()]);
  const starts = useMemo(() => startsOf(timeline), [timeline]);
  const lanes = useMemo(() => lanesOf(timeline, now).lanes.length, [timeline]);
  const [first, last] = range ?? [Math.min(...timeline.began), now];
  const idle = idleTimes(timeline, { now, least: (last - first) * leastIdle, ...(range ? { from: first, until: Math.min(last, now) } : {}) });
  const shownWindow: Window = window ?? [ms(first), ms(last)];
  return (
    <>
      <Plot
        title="Workers over time"
        finding={`${segmentsOf(timeline)} segments on ${lanes} workers, ${lossesOf(timeline)} failed`}
        height={timelineHeight(lanes)}
        scene={scene}
        file={`${job.name}-timeline`}
        tools={transport.live && <TimeWindow shown={shownWindow} whole="The whole job" />}
        table={() => ({
          columns: ['worker', 'trial', 'rank', 'from', 'until', 'start', 'began', 'ended', 'outcome', 'attempt', 'segments'],
          rows: timeline.trial.map((trial, i) => [
            timeline.workers[timeline.worker[i] as number] ?? '', trial, timeline.rank[i] ?? 0, timeline.from_resource[i] ?? null, timeline.until_resource[i] ?? null,
            starts[i] ?? null, timeline.began[i] ?? null, timeline.ended[i] ?? null, timeline.outcomes[timeline.outcome[i] as number] ?? 'under way', timeline.attempt[i] ?? 1,
            timeline.segments?.[i] ?? 1,
          ]),
        })}
        note={
          <>
            A row a worker, a bar a segment with its trial's number. A light notch: it went straight on with the trial that it had in memory; a dark one: from the trial's checkpoint.
            Thin bars failed or were lost. Empty places had nothing of this job, shaded ones on no worker: point at them.
            {transport.live && ' Sweep over a time to look closer.'}
            {timeline.merged > 0 && ` ${timeline.merged} segments are too short to be told apart here: neighbours stand together, with their number.`}
            {timeline.workers_left_out > 0 && ` ${timeline.workers_left_out} workers more trained earlier: look closer at their time.`}
          </>
        }
      />
      <IdleTable title="When nothing of this job ran" idle={idle.map(([from, until]) => [ms(from), ms(until)] as const)} why={(from, until) => why((from - createdAt) / 1000, (until - createdAt) / 1000)} />
      {transport.live && <p class="plot-note"><a href={hrefOf(['workers'], { from: new Date(shownWindow[0]).toISOString(), until: new Date(ended(job) ? shownWindow[1] : serverNow()).toISOString() })}>What all workers did in this time, for all jobs</a></p>}
    </>
  );
}
