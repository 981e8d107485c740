// Why a worker, or all of them, had nothing to do: what the log, the jobs and the segments of a time say of it.
import type { WorkersTimeline } from '../api/columns.ts';
import type { ServerEvent } from '../api/shapes.ts';
import { formatClock, formatCount } from './numbers.ts';
import { shortWorker } from './segments.ts';

export interface Span {
  from: number; // milliseconds
  until: number;
}

const leaving = new Set(['worker_disconnected', 'worker_lost', 'worker_released']);
const nearMs = 1_000; // what is told of a moment may be written a little later
const namedMost = 3;
const mostOf = 0.8; // of a time

const clockOf = (at: string): string => formatClock(Date.parse(at));
const list = (words: readonly string[]): string =>
  words.length <= namedMost ? words.join(', ') : `${words.slice(0, namedMost).join(', ')} and ${words.length - namedMost} more`;

// What is known of a worker at a moment: the last that the log says of it, else the first that comes.
function lastWord(timeline: WorkersTimeline, worker: string, at: number): { there: boolean; event: ServerEvent | null } {
  let before: ServerEvent | null = null;
  for (const event of timeline.events) {
    if (event.worker !== worker || (!leaving.has(event.kind) && event.kind !== 'worker_connected')) continue;
    if (Date.parse(event.at) > at) {
      if (!before) return { there: event.kind !== 'worker_connected', event: null };
      break;
    }
    before = event;
  }
  return { there: !before || before.kind === 'worker_connected', event: before };
}

const left: Record<string, string> = { worker_disconnected: 'went', worker_lost: 'was lost', worker_released: 'was let go' };

function leftSentence(worker: string, event: ServerEvent): string {
  const why = event.kind === 'worker_lost' && event.message !== '' ? ` (${event.message})` : '';
  return `${shortWorker(worker)} ${left[event.kind] ?? 'went'} at ${clockOf(event.at)}${why}`;
}

function serverSentences(timeline: WorkersTimeline, { from, until }: Span): string[] {
  return timeline.server_starts
    .filter(({ at, silent_since }) => Date.parse(at) > from - nearMs && Date.parse(silent_since) < until && Date.parse(at) <= until + nearMs)
    .map(({ at, silent_since }) => `The server was started at ${clockOf(at)}; the last that is known of the one before is from ${clockOf(silent_since)}.`);
}

// null: somebody was there. `one`: they are one lane's.
function absence(timeline: WorkersTimeline, workers: readonly string[], { from, until }: Span, one: boolean): string | null {
  const words = workers.map((worker) => ({ worker, ...lastWord(timeline, worker, from + nearMs) }));
  if (words.length === 0) return 'No worker was there.';
  if (words.some(({ there }) => there)) return null;
  // Of those who took each other's place the last one counts.
  const last = new Map<string, { worker: string; event: ServerEvent }>();
  for (const { worker, event } of words) {
    const known = last.get(shortWorker(worker));
    if (event && (!known || Date.parse(known.event.at) < Date.parse(event.at))) last.set(shortWorker(worker), { worker, event });
  }
  const gone = [...last.values()].sort((a, b) => Date.parse(a.event.at) - Date.parse(b.event.at)).map(({ worker, event }) => leftSentence(worker, event));
  const came = timeline.events.filter((event) => event.kind === 'worker_connected' && workers.includes(event.worker) && Date.parse(event.at) > from && Date.parse(event.at) <= until + nearMs);
  const parts = [gone.length > 0 ? list(gone) : '', came.length > 0 ? `${list(came.map((event) => `${shortWorker(event.worker)} came at ${clockOf(event.at)}`))}` : ''];
  const who = one ? 'It was not there' : 'No worker was there';
  return `${who}${parts.some((part) => part !== '') ? `: ${parts.filter((part) => part !== '').join('; ')}` : ''}.`;
}

type TimelineJob = WorkersTimeline['jobs'][number];

function runningAt(timeline: WorkersTimeline, job: number, at: number): number {
  const seconds = (at - Date.parse(timeline.created_at)) / 1000;
  return timeline.job.filter((id, index) => id === job && (timeline.rank[index] ?? 0) === 0 && (timeline.began[index] as number) <= seconds && (timeline.ended[index] ?? Infinity) > seconds).length;
}

function jobSentence(timeline: WorkersTimeline, job: TimelineJob, { from, until }: Span): string {
  const over = timeline.events.find((event) => event.kind === 'job_starts_no_more' && event.job === job.id && Date.parse(event.at) <= until);
  const running = runningAt(timeline, job.id, (from + until) / 2);
  const trials = formatCount(running, 'trial');
  if (over) return `${job.name} started no more trials${over.message === '' ? '' : ` (${over.message})`}${running > 0 ? `: ${trials} of it still ran elsewhere` : ''}.`;
  if (running > 0 && job.max_parallel_trials !== null && running >= job.max_parallel_trials) return `${job.name} ran ${trials} elsewhere, as many as its max_parallel_trials allows.`;
  if (running > 0) return `${job.name} ran ${trials} elsewhere and had nothing else to start: its other trials waited at rungs, or all had begun.`;
  return `${job.name} was under way and started nothing: a verdict, a suggestion or a whole group of workers was waited for.`;
}

function jobSentences(timeline: WorkersTimeline, span: Span): string[] {
  const { from, until } = span;
  const begun = (job: TimelineJob): number => Date.parse(job.created_at);
  const ended = (job: TimelineJob): number => (job.ended_at === null ? Infinity : Date.parse(job.ended_at));
  const during = timeline.jobs.filter((job) => begun(job) < until - nearMs && ended(job) > from + nearMs);
  if (during.length > 0) {
    const shown = during.slice(0, namedMost).map((job) => jobSentence(timeline, job, { from: Math.max(from, begun(job)), until: Math.min(until, ended(job)) }));
    return during.length > namedMost ? [...shown, `${during.length - namedMost} more jobs were under way.`] : shown;
  }
  const before = timeline.jobs.filter((job) => ended(job) <= from + nearMs).sort((a, b) => ended(b) - ended(a))[0];
  const after = timeline.jobs.filter((job) => begun(job) >= until - nearMs).sort((a, b) => begun(a) - begun(b))[0];
  const around = [before?.ended_at ? `${before.name} had ended at ${clockOf(before.ended_at)}` : '', after ? `${after.name} was submitted at ${clockOf(after.created_at)}` : ''].filter((part) => part !== '');
  return [`No job that is still known was under way${around.length > 0 ? `: ${around.join(', ')}` : ''}.`];
}

// What the workers trained of other jobs in that time: which jobs, and whether it filled the most of it.
function elsewhere(timeline: WorkersTimeline, { from, until }: Span, workers: readonly string[], job: number): { names: string[]; busy: boolean } {
  const origin = Date.parse(timeline.created_at);
  const wanted = new Set(workers);
  const names = new Set<string>();
  let covered = 0;
  timeline.job.forEach((id, index) => {
    const begin = Math.max(from, origin + (timeline.began[index] as number) * 1000);
    const end = Math.min(until, origin + (timeline.ended[index] ?? Infinity) * 1000);
    if (id === job || end <= begin || !wanted.has(timeline.workers[timeline.worker[index] as number] ?? '')) return;
    names.add(timeline.jobs.find((one) => one.id === id)?.name ?? `job ${id}`);
    covered += end - begin;
  });
  return { names: [...names], busy: covered >= mostOf * (until - from) };
}

// Why nothing ran on these workers (all: none is named) in that time, in sentences; of `job`, where one is meant.
export function whyIdle(timeline: WorkersTimeline, span: Span, workers: readonly string[] = [], job: number | null = null): string[] {
  const whose = workers.length > 0 ? workers : [...new Set([...timeline.workers, ...timeline.events.flatMap((event) => (event.kind.startsWith('worker_') ? [event.worker] : []))])];
  const server = serverSentences(timeline, span);
  const absent = absence(timeline, whose, span, workers.length > 0);
  if (absent) return [...server, absent];
  if (job === null) return [...server, ...jobSentences(timeline, span)];
  const { names, busy } = elsewhere(timeline, span, whose, job);
  const others = names.length > 0 ? [`${workers.length > 0 ? 'It' : 'Workers'} trained ${list(names)}.`] : [];
  const own = { ...timeline, jobs: timeline.jobs.filter((one) => one.id === job) };
  return [...server, ...others, ...(busy ? [] : jobSentences(own, span))];
}
