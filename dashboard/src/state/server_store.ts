// The jobs and workers of a server, kept up to date while the page is looked at.
import { signal } from '@preact/signals';
import * as api from '../api/routes.ts';
import { ApiError } from '../api/transport.ts';
import type { Job, Worker } from '../api/shapes.ts';

const againMs = 2_000;

export class ServerStore {
  readonly jobs = signal<readonly Job[] | null>(null);
  readonly workers = signal<readonly Worker[]>([]);
  readonly more = signal(false); // there are older jobs
  readonly fault = signal<ApiError | null>(null);
  private timer: ReturnType<typeof setTimeout> | undefined;
  private closed = false;
  private readonly onVisibility = (): void => {
    if (document.visibilityState === 'visible') void this.load();
  };

  constructor() {
    document.addEventListener('visibilitychange', this.onVisibility);
    void this.load();
  }

  close(): void {
    this.closed = true;
    clearTimeout(this.timer);
    document.removeEventListener('visibilitychange', this.onVisibility);
  }

  private async load(): Promise<void> {
    clearTimeout(this.timer);
    try {
      const [page, workers] = await Promise.all([api.listJobs(), api.listWorkers()]);
      if (this.closed) return;
      this.jobs.value = page.jobs;
      this.more.value = page.next !== null;
      this.workers.value = workers;
      this.fault.value = null;
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      this.fault.value = error;
    }
    if (!this.closed && document.visibilityState === 'visible') this.timer = setTimeout(() => void this.load(), againMs);
  }
}
