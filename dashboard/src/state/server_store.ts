// The jobs and workers of a server: asked for once, then those of them that the server's log of events says have changed.
import { signal } from '@preact/signals';
import * as api from '../api/routes.ts';
import { EventStream, type StreamState } from '../api/stream.ts';
import { ApiError } from '../api/transport.ts';
import type { Job, Worker } from '../api/shapes.ts';

const restMs = 1_000; // much happens at once
const oneByOneMost = 5; // changed jobs, above which the whole list is asked for

interface ServerEvent {
  kind: string;
  job: number | null;
}

export class ServerStore {
  readonly jobs = signal<readonly Job[] | null>(null);
  readonly workers = signal<readonly Worker[]>([]);
  readonly more = signal(false); // there are older jobs
  readonly fault = signal<ApiError | null>(null);
  readonly stream = signal<StreamState>('connecting');
  private readonly events: EventStream;
  private readonly changed = new Set<number>();
  private all = true; // or the whole list
  private timer: ReturnType<typeof setTimeout> | undefined;
  private closed = false;

  constructor() {
    this.events = new EventStream(api.serverEventsPath, {
      events: { event: (data) => this.onEvent(data as ServerEvent) },
      missed: () => this.askAll(),
    });
    this.events.state.subscribe((state) => {
      const before = this.stream.peek();
      this.stream.value = state;
      // What happened before its first word is in no event.
      if (state === 'live' && before === 'connecting') this.askAll();
    });
    void this.load();
  }

  close(): void {
    this.closed = true;
    clearTimeout(this.timer);
    this.events.close();
  }

  private onEvent(event: ServerEvent): void {
    if (event.job !== null) this.changed.add(event.job);
    if (event.kind === 'job_submitted' || event.kind === 'job_deleted') this.all = true;
    this.soon();
  }

  private askAll(): void {
    this.all = true;
    this.soon();
  }

  private soon(): void {
    this.timer ??= setTimeout(() => {
      this.timer = undefined;
      void this.load();
    }, restMs);
  }

  private async load(): Promise<void> {
    const changed = [...this.changed];
    const all = this.all || changed.length > oneByOneMost;
    this.changed.clear();
    this.all = false;
    try {
      const [jobs, workers] = await Promise.all([all ? this.list() : this.renewed(changed), api.listWorkers()]);
      if (this.closed) return;
      this.jobs.value = jobs;
      this.workers.value = workers;
      this.fault.value = null;
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      this.fault.value = error;
      this.all = true;
      if (!this.closed && this.jobs.peek() === null) this.soon(); // else the stream says when the server is back
    }
  }

  private async list(): Promise<readonly Job[]> {
    const page = await api.listJobs();
    this.more.value = page.next !== null;
    return page.jobs;
  }

  private async renewed(changed: readonly number[]): Promise<readonly Job[]> {
    const found = await Promise.all(changed.map((job) => api.getJob(String(job)).catch(() => null))); // it may be deleted by now
    return (this.jobs.peek() ?? []).map((job) => found.find((one) => one?.id === job.id) ?? job);
  }
}
