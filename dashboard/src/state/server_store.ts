// The jobs and workers of a server: asked for once, then those of them that the server's log of events says have changed.
import { signal } from '@preact/signals';
import * as api from '../api/routes.ts';
import { EventStream, type StreamState } from '../api/stream.ts';
import { ApiError } from '../api/transport.ts';
import type { Card, ServerEvent, Worker } from '../api/shapes.ts';
import { againMs, ended } from './job_store.ts';

const restMs = 1_000; // much happens at once

export class ServerStore {
  readonly jobs = signal<readonly Card[] | null>(null); // newest first
  readonly workers = signal<readonly Worker[]>([]);
  readonly older = signal<string | null>(null); // where the jobs go on that are not here
  readonly fault = signal<ApiError | null>(null);
  readonly stream = signal<StreamState>('connecting');
  readonly heard = signal(0); // goes on whenever something has happened
  private events: EventStream | null = null;
  private readonly changed = new Set<number>();
  private all = true; // or the newest page of the list
  private timer: ReturnType<typeof setTimeout> | undefined;
  private closed = false;

  constructor() {
    void this.load();
  }

  close(): void {
    this.closed = true;
    clearTimeout(this.timer);
    this.events?.close();
  }

  async loadOlder(): Promise<void> {
    const after = this.older.peek();
    if (after === null) return;
    try {
      const page = await api.listCards({ after });
      this.jobs.value = [...(this.jobs.peek() ?? []), ...page.jobs];
      this.older.value = page.next;
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      this.fault.value = error;
    }
  }

  // From where the list was read: nothing that happens meanwhile is passed over.
  private listen(event: number): void {
    if (this.closed) return;
    this.events = new EventStream(api.serverEventsPath, {
      events: { event: (data) => this.onEvent(data as ServerEvent), note: (data) => this.onNote((data as { job: number }).job) },
      missed: () => this.askAll(),
    }, String(event));
    this.events.state.subscribe((state) => { this.stream.value = state; });
  }

  private onEvent(event: ServerEvent): void {
    if (event.job !== null) this.changed.add(event.job);
    if (event.kind === 'job_submitted' || event.kind === 'job_deleted') this.all = true;
    this.soon(restMs);
  }

  private onNote(job: number): void {
    this.changed.add(job);
    this.soon(restMs);
  }

  private askAll(): void {
    this.all = true;
    this.soon(restMs);
  }

  private soon(ms: number): void {
    this.timer ??= setTimeout(() => {
      this.timer = undefined;
      void this.load();
    }, ms);
  }

  private async load(): Promise<void> {
    // What happens to one job moves the others' places in the queue: those that have not ended are asked for with it.
    const open = (this.jobs.peek() ?? []).filter((job) => !ended(job)).map((job) => job.id);
    const ids = [...new Set([...this.changed, ...open])];
    const all = this.all || this.jobs.peek() === null || ids.length > api.cardsMost;
    this.changed.clear();
    this.all = false;
    try {
      const [page, workers] = await Promise.all([all || ids.length > 0 ? api.listCards(all ? {} : { ids }) : null, api.listWorkers()]);
      if (this.closed) return;
      if (page) this.take(page.jobs, all ? page.next : undefined, ids);
      this.workers.value = workers;
      this.fault.value = null;
      this.heard.value += 1;
      if (page && !this.events) this.listen(page.event);
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      this.fault.value = error;
      this.all = true;
      if (!this.closed) this.soon(againMs);
    }
  }

  // `next`: the answer is the newest page; what was loaded of older ones stays.
  private take(found: readonly Card[], next: string | null | undefined, asked: readonly number[]): void {
    const known = this.jobs.peek() ?? [];
    if (next === undefined) {
      const byId = new Map(found.map((card) => [card.id, card]));
      const gone = new Set(asked.filter((id) => !byId.has(id)));
      this.jobs.value = known.filter((job) => !gone.has(job.id)).map((job) => byId.get(job.id) ?? job);
      return;
    }
    const last = found.at(-1)?.id ?? 0;
    const rest = next === null ? [] : known.filter((job) => job.id < last);
    this.jobs.value = [...found, ...rest];
    if (rest.length === 0) this.older.value = next;
  }
}
