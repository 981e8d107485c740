// All workers over all jobs: who does what, what they did, and why nothing was running at five past two.
import type { JSX } from 'preact';
import { useEffect, useMemo } from 'preact/hooks';
import { serverNow } from '../../api/clock.ts';
import * as api from '../../api/routes.ts';
import type { WorkersTimeline } from '../../api/columns.ts';
import { whyIdle } from '../../data/idle.ts';
import { idleTimes, lanesOf } from '../../data/segments.ts';
import { IdleTable } from '../../parts/idle_table.tsx';
import { FaultNotice, Panel } from '../../parts/notice.tsx';
import { chosenOption, Switch } from '../../parts/switch.tsx';
import { chooseWindow, chosenWindow, TimeWindow } from '../../parts/time_window.tsx';
import { useLoaded } from '../../parts/use_loaded.ts';
import { Plot } from '../../plot/plot.tsx';
import { lossesOf, segmentsOf, timelineHeight, timelineScene } from '../../plot/timeline_scene.ts';
import { hrefOf } from '../../state/place.ts';
import { ServerStore } from '../../state/server_store.ts';
import type { Palette } from '../../state/theme.ts';
import { Workers } from '../home/home_page.tsx';
import { Live } from '../job/live.tsx';

const restMs = 2_000; // much happens at once
const minuteMs = 60_000;
const spans = [['hour', 'hour'], ['quarter', '15 min'], ['day', 'day'], ['week', 'week']] as const;
const spanMs: Record<string, number> = { quarter: 15 * minuteMs, hour: 60 * minuteMs, day: 24 * 60 * minuteMs, week: 7 * 24 * 60 * minuteMs };
const leastIdle = 1 / 200; // of what is shown
const colors = 6;
const trialsOfAJob = 100_000_000; // more than one can have: a number for each trial of all jobs

export function WorkersPage(): JSX.Element {
  const store = useMemo(() => new ServerStore(), []);
  useEffect(() => () => store.close(), [store]);
  useEffect(() => { document.title = 'Workers – Tuneband'; }, []);
  const { fault, jobs, workers } = store;
  if (fault.value && !jobs.value) return <FaultNotice fault={fault.value} />;
  return (
    <>
      {fault.value && <div class="notice bad" role="alert">{fault.value.message}; trying again…</div>}
      <header class="page-head"><h1>Workers</h1><Live store={store} /></header>
      {jobs.value && <Workers workers={workers.value} jobs={jobs.value} />}
      <h2 class="hidden">Over time</h2>
      <Panel><Timeline store={store} /></Panel>
    </>
  );
}

function Timeline({ store }: { store: ServerStore }): JSX.Element {
  const window = chosenWindow();
  const span = spanMs[chosenOption('span', spans)] ?? spanMs['hour'] as number;
  // What is chosen lies still; the last hour goes on with what happens.
  const loaded = useLoaded(async () => api.getWorkersTimeline(window ?? await untilNow(span)), [window?.join() ?? '', span], { on: window ? 0 : store.heard.value, restMs });
  const { value, fault } = loaded.value;
  if (fault) return <><FaultNotice fault={fault} />{window && <TimeWindow shown={window} whole="Until now" />}</>;
  return value ? <TimelinePlot timeline={value} following={!window} /> : <p class="muted">Loading…</p>;
}

// As far back as anything has happened, and a minute at least.
async function untilNow(ms: number): Promise<api.Window> {
  const first = await api.firstEventAt();
  const now = serverNow();
  return [Math.max(now - ms, Math.min(first ?? -Infinity, now - minuteMs)), now];
}

function TimelinePlot({ timeline, following }: { timeline: WorkersTimeline; following: boolean }): JSX.Element {
  const shown: api.Window = [Date.parse(timeline.from), Date.parse(timeline.until)];
  const createdAt = shown[0];
  const now = (Math.min(serverNow(), Math.max(shown[1], createdAt)) - createdAt) / 1000;
  const range: [number, number] = [0, (shown[1] - createdAt) / 1000];
  const seen = useMemo(() => timeline.jobs.filter((job) => timeline.job.includes(job.id)).reverse(), [timeline]); // the oldest first: a new one changes no colour
  const place = useMemo(() => new Map(seen.map((job, index) => [job.id, index])), [seen]);
  const nameOf = (id: number): string => timeline.jobs.find((job) => job.id === id)?.name ?? String(id);
  const why = (from: number, until: number, workers: readonly string[] = []): string[] => whyIdle(timeline, { from, until }, workers);
  const { lanes } = useMemo(() => lanesOf(timeline, now), [timeline]);
  const scene = useMemo(() => timelineScene({
    timeline, createdAt, now, range, nothing: 'nothing',
    say: (index) => {
      const [id, trial] = [timeline.job[index] as number, timeline.trial[index] as number];
      const job = nameOf(id);
      return { title: `${job}, trial ${trial}`, trial: id * trialsOfAJob + trial, href: hrefOf(['jobs', job, 'trials', trial]), resource: `from ${timeline.from_resource[index]} to ${timeline.until_resource[index]}` };
    },
    color: (palette: Palette, index) => palette.series[(place.get(timeline.job[index] as number) ?? 0) % colors] ?? null,
    why: (from, until, workers) => why(createdAt + from * 1000, createdAt + until * 1000, workers),
    zoom: (from, until) => chooseWindow([createdAt + from * 1000, createdAt + until * 1000]),
  }), [timeline]);
  const idle = idleTimes(timeline, { now, least: range[1] * leastIdle, from: 0, until: Math.min(range[1], now) }).map(([from, until]) => [createdAt + from * 1000, createdAt + until * 1000] as const);
  return (
    <>
      <Plot
        title="All workers over time"
        finding={`${segmentsOf(timeline)} segments of ${seen.length} jobs on ${lanes.length} workers, ${lossesOf(timeline)} failed; nothing ran ${idle.length} times`}
        height={timelineHeight(lanes.length)}
        scene={scene}
        file="workers-timeline"
        tools={<>{following && <Switch label="The last" name="span" options={spans} />}<TimeWindow shown={shown} whole="Until now" /></>}
        table={() => ({
          columns: ['worker', 'job', 'trial', 'rank', 'from', 'until', 'began', 'ended', 'outcome', 'segments'],
          rows: timeline.trial.map((trial, i) => [
            timeline.workers[timeline.worker[i] as number] ?? '', nameOf(timeline.job[i] as number), trial, timeline.rank[i] ?? 0, timeline.from_resource[i] ?? null,
            timeline.until_resource[i] ?? null, timeline.began[i] ?? null, timeline.ended[i] ?? null, timeline.outcomes[timeline.outcome[i] as number] ?? 'under way', timeline.segments?.[i] ?? 1,
          ]),
        })}
        note={
          <>
            {seen.map((job, index) => <span class="legend"><span class={`swatch series-${(index % colors) + 1}`} /> <a href={hrefOf(['jobs', job.name])}>{job.name}</a></span>)}
            {seen.length > 0 && <br />}
            A row a worker, a bar a segment with its trial's number. A light notch: it went straight on with the trial that it had in memory; a dark one: from the trial's checkpoint. Thin bars failed or were lost. Where nothing ran on any worker it is shaded: point there, or read below, why. Sweep over a time to look closer.
            {seen.length > colors && ' Colours come again: point at a bar.'}
            {timeline.merged > 0 && ` ${timeline.merged} segments are too short to be told apart here: neighbours stand together, with their number.`}
            {timeline.workers_left_out > 0 && ` ${timeline.workers_left_out} workers more trained earlier: look closer at their time.`}
            {(timeline.more_jobs || timeline.more_events) && ' Too much happened to be told here: look closer for the reasons.'}
          </>
        }
      />
      <IdleTable title="When nothing ran" idle={idle} why={why} />
    </>
  );
}
