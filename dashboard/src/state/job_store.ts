// One job as the page knows it: loaded once, then kept up to date by the server's events.
import { batch, signal } from '@preact/signals';
import { serverNow } from '../api/clock.ts';
import * as api from '../api/routes.ts';
import { ApiError, transport } from '../api/transport.ts';
import { EventStream, type StreamState } from '../api/stream.ts';
import type { Decision, Job, JobDetail, Observation, Summary, Trial } from '../api/shapes.ts';
import { searchedParameters, type Parameter } from '../data/space.ts';
import { numberOf } from '../data/numbers.ts';
import { rowOfTrial, type TrialTable } from '../data/trials.ts';
import { CurveStore } from './curve_store.ts';
import { DecisionStore } from './decision_store.ts';

const summaryDelayMs = 1_000; // a job that runs changes all the time: its summary is asked for once for many changes

export const againMs = 3_000; // after the server did not answer at all

const redrawShare = 3; // a page that took 100 ms to draw rests for 300
const redrawMsMost = 500;

export const ended = (job: Job): boolean => job.state === 'completed' || job.state === 'stopped' || job.state === 'failed';

interface NoteOf {
  trial: number | null; // null: the job
  note: string;
}

export class JobStore {
  readonly job = signal<JobDetail | null>(null);
  readonly summary = signal<Summary | null>(null);
  readonly trials = signal<TrialTable | null>(null);
  readonly parameters = signal<Parameter[]>([]);
  readonly fault = signal<ApiError | null>(null);
  readonly stream = signal<StreamState>('connecting');
  readonly found = signal(0); // goes on with each finding of the debugger
  readonly curves: CurveStore;
  readonly decisions: DecisionStore;
  private events: EventStream | null = null;
  private early: (() => void)[] | null = []; // what was told before the trials were there
  private summaryTimer: ReturnType<typeof setTimeout> | undefined;
  private againTimer: ReturnType<typeof setTimeout> | undefined;
  private frame = 0;
  private redrawTimer: ReturnType<typeof setTimeout> | undefined;
  private redrawMs = 0; // how long the last one took
  private redrawnAt = 0;
  private closed = false;

  constructor(readonly name: string) {
    this.curves = new CurveStore(() => this.key);
    this.decisions = new DecisionStore(() => this.key);
    void this.load();
  }

  // What the server is asked by: once the job is known its number, for another one may have its name when it is deleted.
  get key(): string {
    const job = this.job.peek();
    return transport.live && job ? String(job.id) : this.name;
  }

  close(): void {
    this.closed = true;
    clearTimeout(this.summaryTimer);
    clearTimeout(this.againTimer);
    clearTimeout(this.redrawTimer);
    cancelAnimationFrame(this.frame);
    this.events?.close();
  }

  // All at once: the trials are most of it. What a job under way told between their answer and the stream's first word is asked
  // for once the stream is there; an answer that has not changed is not sent again.
  private async load(): Promise<void> {
    if (this.closed) return;
    try {
      const trials = api.getTrials(this.key);
      trials.catch(() => undefined); // it fails below, with the others
      void this.loadSummary(); // of a large job it takes longer than the trials
      const detail = await api.getJob(this.key);
      batch(() => {
        this.job.value = detail;
        this.parameters.value = searchedParameters(detail.spec.search_space);
        this.fault.value = null;
      });
      const listening = this.listen(detail);
      this.take(await trials);
      if (listening && (await listening)) this.take(await api.getTrials(this.key));
      for (const tell of this.early ?? []) tell();
      this.early = null;
      this.redraw();
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      if (!error.ofTheServer || !this.trials.peek()) this.fault.value = error; // else what is there stays until it answers
      if (error.ofTheServer && !this.closed) this.againTimer = setTimeout(() => void this.load(), againMs);
    }
  }

  // Of a large job the page has a choice of trials: one that is asked for by its number comes to them, with its curve.
  async ensureTrial(trial: number): Promise<void> {
    const table = this.trials.value;
    if (!table || !transport.live) return;
    try {
      if (!table.row(trial)) {
        const found = await api.getTrial(this.key, trial);
        table.put(rowOfTrial(found, table.createdAt), found.configuration);
      }
      await this.curves.ensure(trial);
      this.redraw();
    } catch (error) {
      if (!(error instanceof ApiError)) throw error; // there is no such trial: its panel says so
    }
  }

  private take(table: TrialTable): void {
    if (!this.closed) this.trials.value = table;
  }

  // Gives whether the stream is there, once it is; nothing when there is none to wait for.
  private listen(job: Job): Promise<boolean> | null {
    if (this.closed) return null;
    if (!transport.live || ended(job)) this.over();
    if (this.events || !transport.live) return null;
    const whenLoaded = (tell: () => void): void => {
      if (this.early) this.early.push(tell);
      else tell();
    };
    this.events = new EventStream(api.eventsPath(this.key), {
      events: {
        job: (data) => this.onJob(data as Job),
        trial: (data) => whenLoaded(() => this.onTrial(data as Trial)),
        observation: (data) => this.onObservation(data as Observation & { trial: number }),
        decision: (data) => this.decisions.add(data as Decision),
        finding: () => { this.found.value += 1; },
        note: (data) => whenLoaded(() => this.onNote(data as NoteOf)),
      },
      missed: () => this.reload(),
      refused: () => void this.look(),
    });
    const { events } = this;
    // What happened while nobody listened is told with the moment and the costs of now: it is asked for instead.
    events.state.subscribe((state) => {
      const before = this.stream.peek();
      this.stream.value = state;
      if (state === 'live' && (before === 'resting' || before === 'lost')) this.reload();
    });
    return new Promise((resolve) => {
      const stop = events.state.subscribe((state) => {
        if (state === 'connecting' || state === 'lost' || state === 'resting') return;
        resolve(state === 'live');
        queueMicrotask(() => stop());
      });
    });
  }

  // Of a job that has ended nothing is told any more but its notes, and that it is deleted.
  private over(): void {
    if (this.stream.peek() === 'over') return;
    this.events?.close();
    this.stream.value = 'over';
    if (!transport.live) return;
    const note = (data: unknown): void => this.onNote(data as NoteOf);
    this.events = new EventStream(api.jobLogPath(this.key), { events: { event: () => void this.look(), note }, missed: () => void this.look(true) });
    let away = false;
    this.events.state.subscribe((state) => {
      if (state === 'live') void this.look(away);
      away = state !== 'live' && (away || state !== 'connecting');
    });
  }

  // Whether it is there yet; `missed`: and what may have been written beside it meanwhile.
  private async look(missed = false): Promise<void> {
    try {
      await api.getJob(this.key);
      if (missed) await this.load();
    } catch (error) {
      if (!(error instanceof ApiError) || error.ofTheServer || this.closed) return;
      this.fault.value = error.status === 404 ? new ApiError(404, error.code, `the job ${this.name} is not there any more: it was deleted`, []) : error;
      this.events?.close();
    }
  }

  private reload(): void {
    this.early = [];
    this.curves.forget();
    this.decisions.forget();
    this.found.value += 1;
    void this.load();
  }

  private onJob(job: Job): void {
    const before = this.job.value;
    if (before) this.job.value = { ...before, ...job };
    this.trials.value?.settle(job.resource_spent, job.training_seconds);
    if (!ended(job)) return this.refreshSummary();
    this.over();
    this.reload(); // of what came fast not each value was told
  }

  private onTrial(trial: Trial): void {
    const table = this.trials.value;
    if (!table) return;
    const { resource_spent: resource = 0, training_seconds: workerSeconds = 0 } = this.job.value ?? {};
    const told = { at: (serverNow() - table.createdAt) / 1000, resource, workerSeconds };
    table.put(rowOfTrial(trial, table.createdAt, table.row(trial.number)?.note), trial.configuration, told);
    this.refreshSummary();
    this.redraw();
  }

  // Told by the server, or written here.
  onNote({ trial, note }: NoteOf): void {
    const job = this.job.value;
    if (trial === null) {
      if (job) this.job.value = { ...job, note };
      return;
    }
    const row = this.trials.value?.row(trial);
    if (!row) return;
    row.note = note;
    this.redraw();
  }

  private onObservation(observation: Observation & { trial: number }): void {
    if (observation.objective === null) return;
    this.curves.add(observation.trial, observation.resource, numberOf(observation.objective));
    this.redraw();
  }

  // Everything that is told within a frame is drawn once; of a large job, within as long as takes a part of the page's time.
  private redraw(): void {
    if (this.redrawTimer !== undefined) return;
    const rest = Math.max(0, this.redrawnAt + redrawShare * this.redrawMs - performance.now());
    this.redrawTimer = setTimeout(() => {
      this.frame = requestAnimationFrame((begun) => {
        this.redrawTimer = undefined;
        batch(() => {
          this.trials.value?.changed();
          this.curves.flush();
          this.decisions.flush();
        });
        // Plots are drawn in the frames that follow: what they take is in the time until a frame comes that nothing holds up.
        requestAnimationFrame(() => requestAnimationFrame((end) => {
          this.redrawMs = Math.min(redrawMsMost, end - begun);
          this.redrawnAt = end;
        }));
      });
    }, rest);
  }

  private refreshSummary(): void {
    if (this.summaryTimer !== undefined) return;
    this.summaryTimer = setTimeout(() => {
      this.summaryTimer = undefined;
      void this.loadSummary();
    }, summaryDelayMs);
  }

  private loadSummary(): Promise<void> {
    return api.getSummary(this.key).then(
      (summary) => { if (!this.closed) this.summary.value = summary; },
      () => undefined, // the stream says that the server is away, and everything is loaded anew when it is back
    );
  }
}
