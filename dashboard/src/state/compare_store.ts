// Several jobs over each other: asked for once, and again those of them that the server's log of events says have changed.
import { signal } from '@preact/signals';
import * as api from '../api/routes.ts';
import { EventStream, type StreamState } from '../api/stream.ts';
import { ApiError } from '../api/transport.ts';
import type { JobDetail, ServerEvent } from '../api/shapes.ts';
import type { TrialRow } from '../data/trials.ts';
import { againMs, ended } from './job_store.ts';

const restMs = 2_000; // much happens at once
const trialsMost = 2_000; // of a job: those that raised its best so far are among them

export interface Compared {
  job: JobDetail;
  rows: readonly TrialRow[];
}

export class CompareStore {
  readonly compared = signal<readonly Compared[] | null>(null);
  readonly missing = signal<readonly string[]>([]); // jobs that are not there
  readonly fault = signal<ApiError | null>(null);
  readonly stream = signal<StreamState>('connecting');
  private events: EventStream | null = null;
  private readonly changed = new Set<number>();
  private timer: ReturnType<typeof setTimeout> | undefined;
  private closed = false;

  constructor(private readonly names: readonly string[]) {
    void this.load();
  }

  close(): void {
    this.closed = true;
    clearTimeout(this.timer);
    this.events?.close();
  }

  private async load(): Promise<void> {
    try {
      // From the events that come after this answer nothing is missed of what is read then.
      const event = await api.newestEvent();
      const found = await Promise.all(this.names.map(loadIfThere));
      if (this.closed) return;
      this.missing.value = this.names.filter((_, i) => found[i] === null);
      this.compared.value = found.filter((one) => one !== null);
      this.fault.value = null;
      this.listen(event);
    } catch (error) {
      this.failed(error);
      if (!this.closed && error instanceof ApiError && error.ofTheServer) this.timer = setTimeout(() => void this.load(), againMs);
    }
  }

  private listen(after: number): void {
    if (this.allEnded()) {
      this.stream.value = 'over';
      return;
    }
    this.events = new EventStream(api.serverEventsPath, {
      events: { event: (data) => this.onEvent(data as ServerEvent) },
      missed: () => { for (const { job } of this.compared.peek() ?? []) this.changed.add(job.id); this.soon(); },
    }, String(after));
    this.events.state.subscribe((state) => { this.stream.value = state; });
  }

  private allEnded(): boolean {
    return (this.compared.peek() ?? []).every(({ job }) => ended(job));
  }

  private onEvent(event: ServerEvent): void {
    if (event.job === null || !this.compared.peek()?.some(({ job }) => job.id === event.job)) return;
    this.changed.add(event.job);
    this.soon();
  }

  private soon(): void {
    this.timer ??= setTimeout(() => {
      this.timer = undefined;
      void this.renew();
    }, restMs);
  }

  // One that is gone stays as it was, and what failed is asked for again: neither keeps the others from being renewed.
  private async renew(): Promise<void> {
    const wanted = [...this.changed];
    this.changed.clear();
    this.fault.value = null;
    const answers = await Promise.allSettled(wanted.map((id) => loadOne(String(id))));
    if (this.closed) return;
    const found = answers.flatMap((answer) => (answer.status === 'fulfilled' ? [answer.value] : []));
    this.compared.value = (this.compared.peek() ?? []).map((one) => found.find(({ job }) => job.id === one.job.id) ?? one);
    answers.forEach((answer, i) => {
      if (answer.status === 'rejected') this.failedOne(wanted[i] as number, answer.reason);
    });
    if (this.allEnded() && this.changed.size === 0) this.events?.close();
  }

  private failedOne(id: number, error: unknown): void {
    this.failed(error);
    if (isMissing(error)) return;
    this.changed.add(id);
    this.soon();
  }

  private failed(error: unknown): void {
    if (!(error instanceof ApiError)) throw error;
    if (!this.closed) this.fault.value = error;
  }
}

const isMissing = (error: unknown): boolean => error instanceof ApiError && error.status === 404;

async function loadIfThere(name: string): Promise<Compared | null> {
  try {
    return await loadOne(name);
  } catch (error) {
    if (isMissing(error)) return null;
    throw error;
  }
}

async function loadOne(name: string): Promise<Compared> {
  const [job, table] = await Promise.all([api.getJob(name), api.getTrials(name, trialsMost)]);
  return { job, rows: table.rows };
}
