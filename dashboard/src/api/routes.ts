// One function a route. A view's data that comes by another route changes here and nowhere else.
import { getJson, sendJson, transport } from './transport.ts';
import * as columns from './columns.ts';
import { transposed } from '../data/surface.ts';
import type { TrialTable } from '../data/trials.ts';
import type { Curve } from '../state/curve_store.ts';
import type {
  CardPage, CreatedJob, Decision, Finding, Importance, Job, JobDetail, JobDocument, Plan, RuleOfJob, RuleStatus, ServerEvent, Summary, Surface, TensorBeside, TensorEntry, Tensors, TensorSeries, Trial, TrialFiles, Worker,
} from './shapes.ts';

// As `tuneband report` writes what it recorded: all but letters, digits and -._~ is encoded.
const segment = (text: string | number): string =>
  encodeURIComponent(text).replace(/[!'()*]/g, (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`);
// Paths are relative to the page: a proxy may have the server below a path of its own.
const jobPath = (job: string | number): string => `v1/jobs/${segment(job)}`;
const trialPath = (job: string | number, trial: number): string => `${jobPath(job)}/trials/${trial}`;

export const beginSession = (token: string): Promise<string> => transport.text('POST', 'v1/session', undefined, token);

export const pageOfJobs = 200;

export function listJobs(after?: string): Promise<{ jobs: Job[]; next: string | null }> {
  return getJson(`v1/jobs?limit=${pageOfJobs}${after ? `&after=${segment(after)}` : ''}`);
}

// `ids`: those alone, at most cardsMost.
export const cardsMost = 100;
export function listCards(which: { after?: string; ids?: readonly number[] } = {}): Promise<CardPage> {
  if (which.ids) return getJson(`v1/jobs?view=cards&ids=${which.ids.join(',')}`);
  return getJson(`v1/jobs?view=cards&limit=${pageOfJobs}${which.after ? `&after=${segment(which.after)}` : ''}`);
}

export const getJob = (job: string): Promise<JobDetail> => getJson(jobPath(job));
export const getDocument = (job: string): Promise<JobDocument> => getJson(`${jobPath(job)}/document`); // what one like it is changed from
export const getSummary = (job: string): Promise<Summary> => getJson(`${jobPath(job)}/summary`);
export const getTrial = (job: string, trial: number): Promise<Trial> => getJson(trialPath(job, trial));

export async function getImportance(job: string): Promise<Importance | null> {
  return (await getJson<{ importance: Importance | null }>(`${jobPath(job)}/importance`)).importance;
}

const surfacePath = (job: string, x: string, y: string): string => `${jobPath(job)}/surface?x=${segment(x)}&y=${segment(y)}`;

// A report has each two parameters one way round.
export async function getSurface(job: string, x: string, y: string): Promise<Surface | null> {
  const turned = transport.has && !transport.has(surfacePath(job, x, y));
  const { surface } = await getJson<{ surface: Surface | null }>(turned ? surfacePath(job, y, x) : surfacePath(job, x, y));
  return turned && surface ? transposed(surface) : surface;
}

// Why a trial is where it is, in sentences.
export async function getExplanation(job: string, trial: number): Promise<string[]> {
  return (await getJson<{ explanation: string[] }>(`${trialPath(job, trial)}/decisions`)).explanation;
}

export const trialsMost = 20_000; // in a page: of more the server chooses

export async function getTrials(job: string, most = trialsMost): Promise<TrialTable> {
  return columns.tableOfColumns(await getJson(`${jobPath(job)}/columns?trials_max=${most}&digits=7`));
}

// The same trials with all the digits that they have.
export async function getExactTrials(job: string): Promise<TrialTable> {
  return columns.tableOfColumns(await getJson(`${jobPath(job)}/columns?trials_max=${trialsMost}`));
}

// How much of the curves a view asks for: what its size can show.
export const curveDetails = { few: { points: 40, trials: 300 }, many: { points: 100, trials: 1500 } } as const;
export type CurveDetail = keyof typeof curveDetails;

// Of the job's other trials `leftOut` have no curve here.
export async function getCurves(job: string, detail: CurveDetail): Promise<{ curves: Map<number, Curve>; leftOut: number }> {
  const { points, trials } = curveDetails[detail];
  const found = await getJson<columns.CurveColumns>(`${jobPath(job)}/curves?points=${points}&trials_max=${trials}`);
  return { curves: columns.curvesOfColumns(found), leftOut: found.left_out };
}

export async function getCurvesOf(job: string, trials: readonly number[]): Promise<Map<number, Curve>> {
  return columns.curvesOfColumns(await getJson(`${jobPath(job)}/curves?points=${curveDetails.many.points}&trials=${trials.join(',')}`));
}

export async function getAllDecisions(job: string): Promise<Decision[]> {
  return columns.decisionsOfColumns(await getJson(`${jobPath(job)}/decisions`));
}

// A time from when until when, milliseconds.
export type Window = readonly [from: number, until: number];

const windowQuery = (window: Window | null): string => {
  if (!window) return '';
  const [from, until] = window.map((ms) => new Date(ms).toISOString());
  return `?from=${from}&until=${until}`;
};

export const getTimeline = (job: string, window: Window | null): Promise<columns.Timeline> => getJson(`${jobPath(job)}/timeline${windowQuery(window)}`);
export const getWorkersTimeline = (window: Window): Promise<columns.WorkersTimeline> => getJson(`v1/workers/timeline${windowQuery(window)}`);
export async function listWorkers(): Promise<Worker[]> {
  return (await getJson<{ workers: Worker[] }>('v1/workers')).workers;
}

export const logTail = (job: string, trial: number, rank: number, bytes: number): Promise<string> =>
  transport.text('GET', `${logPath(job, trial, rank)}&tail=${bytes}`);
export const logPath = (job: string, trial: number, rank: number): string => `${trialPath(job, trial)}/log?rank=${rank}`;
export const getSegments = (job: string, trial: number): Promise<columns.Timeline> => getJson(`${trialPath(job, trial)}/segments`);
export async function listFindings(job: string, trial: number | null): Promise<Finding[]> {
  return (await getJson<{ findings: Finding[] }>(`${trial === null ? jobPath(job) : trialPath(job, trial)}/findings`)).findings;
}
export async function rulesOfJob(job: string): Promise<RuleOfJob[]> {
  return (await getJson<{ rules: RuleOfJob[] }>(`${jobPath(job)}/rules`)).rules;
}
export async function rulesOfTrial(job: string, trial: number): Promise<RuleStatus[]> {
  return (await getJson<{ rules: RuleStatus[] }>(`${trialPath(job, trial)}/rules`)).rules;
}
export const listTensors = (job: string, trial: number, rank: number): Promise<Tensors> => getJson(`${trialPath(job, trial)}/tensors?rank=${rank}`);
const seriesPath = (job: string, trial: number, { name, mode }: TensorEntry, rank: number): string =>
  `${trialPath(job, trial)}/tensors/series?name=${segment(name)}&mode=${mode ?? 'none'}&rank=${rank}`;
export const tensorSeries = (job: string, trial: number, entry: TensorEntry, rank: number): Promise<TensorSeries> => getJson(seriesPath(job, trial, entry, rank));
// Whether it can be asked for: a report has as many as there was room for.
export const hasSeries = (job: string, trial: number, entry: TensorEntry, rank: number): boolean => transport.has?.(seriesPath(job, trial, entry, rank)) ?? true;
export const tensorBeside = (job: string, trial: number, other: number, { name, mode }: TensorEntry, reduction: string, rank: number): Promise<TensorBeside> =>
  getJson(`${trialPath(job, trial)}/tensors/beside?other=${other}&name=${segment(name)}&mode=${mode ?? 'none'}&reduction=${reduction}&rank=${rank}`);

export const modelPath = (job: string, trial: number): string => `${trialPath(job, trial)}/model`;
export const ensemblePath = (job: string, { refit = false } = {}): string => `${jobPath(job)}/ensemble${refit ? '?refit=true' : ''}`;
export const listFiles = (job: string, trial: number): Promise<TrialFiles> => getJson(`${trialPath(job, trial)}/files`);
export const filePath = (job: string, trial: number, path: string): string => `${trialPath(job, trial)}/file?path=${segment(path)}`;
export async function newestEvent(): Promise<number> {
  return (await getJson<{ newest: number }>('v1/events?limit=1')).newest;
}

// Milliseconds; null: nothing has happened yet, or the first is not kept any more.
export async function firstEventAt(): Promise<number | null> {
  const [oldest] = (await getJson<{ events: ServerEvent[] }>('v1/events?limit=1')).events;
  return oldest?.id === 1 ? Date.parse(oldest.at) : null;
}

export const serverEventsPath = 'v1/events/stream';
export const jobLogPath = (job: string): string => `${serverEventsPath}?job=${segment(job)}`;
export const eventsPath = (job: string): string => `${jobPath(job)}/events`;

// A document: its text, and the folder on the server that its relative paths begin at; or what is changed of that of the job
// `like` (RFC 7396), which has values that are masked here.
export type Submission = { text: string; baseDir: string } | { like: string; changes: unknown };

function send<T>(path: string, submission: Submission, query: Record<string, string> = {}): Promise<T> {
  const of: Record<string, string> = 'like' in submission ? { like: submission.like } : { base_dir: submission.baseDir };
  const body = 'like' in submission ? submission.changes : submission.text;
  return sendJson<T>('POST', `${path}?${new URLSearchParams({ ...of, ...query })}`, body) as Promise<T>;
}

export const makePlan = (submission: Submission, forecast: { workers: number; secondsPerUnit: number }): Promise<Plan> =>
  send('v1/plans', submission, { workers: String(forecast.workers), seconds_per_unit: String(forecast.secondsPerUnit) });

export const createJob = (submission: Submission): Promise<CreatedJob> => send('v1/jobs', submission);

// Of the job, or of one of its trials; an empty one takes it away. Gives the note as it is then.
export async function putNote(job: string, trial: number | null, note: string): Promise<string> {
  const path = trial === null ? jobPath(job) : trialPath(job, trial);
  return ((await sendJson<{ note: string }>('PUT', `${path}/note`, { note })) as { note: string }).note;
}

export interface JobChanges {
  held?: boolean;
  weight?: number;
  starts_no_more?: true;
  limits?: { max_parallel_trials?: number; max_runtime_seconds?: number };
}

// The job as it is then.
export async function changeJob(job: string, changes: JobChanges): Promise<Job> {
  return (await sendJson<Job>('PATCH', jobPath(job), changes)) as Job;
}

export async function stopJob(job: string): Promise<Job> {
  return (await sendJson<Job>('POST', `${jobPath(job)}/stop`)) as Job;
}

export async function stopTrial(job: string, trial: number): Promise<Trial> {
  return (await sendJson<Trial>('POST', `${trialPath(job, trial)}/stop`)) as Trial;
}

export async function deleteJob(job: string): Promise<void> {
  await sendJson('DELETE', jobPath(job));
}
