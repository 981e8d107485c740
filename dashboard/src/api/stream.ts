// Server-sent events that mend themselves. A browser opens six connections to a server and no more, so a page that nobody looks
// at lets its stream go, and takes up where it was when it is looked at again. Of the pages that are seen beside each other those
// that were turned to last have one, and the others ask now and then.
import { signal } from '@preact/signals';

export type StreamState = 'connecting' | 'live' | 'lost' | 'resting' | 'polling' | 'over';

export interface StreamHandlers {
  events: Record<string, (data: unknown) => void>;
  // Events were missed: what is on the page is to be loaded anew.
  missed: () => void;
  // The server refuses the stream, or is not there; it is asked for again. What is gone for good is to be closed. Without it, what
  // is loaded anew finds out why.
  refused?: () => void;
}

const firstDelayMs = 500;
const delayMsMost = 10_000;

const streamsMost = 4; // of all pages: the other connections are for what they ask
export const pollMs = 5_000;

// What a page tells the others.
interface StreamOfPage {
  page: number;
  openedAt: number | null; // null: it has let its stream go
}

export class EventStream {
  readonly state = signal<StreamState>('connecting');
  private source: EventSource | null = null;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private delayMs = firstDelayMs;
  private opened = false;
  private resumed = false; // the browser goes on by itself, and tells the server the last event it has seen
  private last = ''; // the id of that event: a stream that is opened anew goes on from there, over a restart of the server too
  private readonly onVisibility = () => this.look();
  private readonly onFocus = () => { if (this.state.value === 'polling') this.open(); };
  private readonly page = Math.random();
  private readonly pages = new BroadcastChannel('streams');
  private openedAt = 0;
  private readonly newer = new Set<number>(); // pages whose stream is newer than this one's

  // `after`: the id of the last event that is known already; '': from now on.
  constructor(
    private readonly path: string,
    private readonly handlers: StreamHandlers,
    after = '',
  ) {
    this.last = after;
    document.addEventListener('visibilitychange', this.onVisibility);
    window.addEventListener('focus', this.onFocus);
    this.pages.onmessage = (event) => this.onOther(event.data as StreamOfPage);
    this.look();
  }

  // No more is to come.
  close(): void {
    if (this.isOver()) return;
    document.removeEventListener('visibilitychange', this.onVisibility);
    window.removeEventListener('focus', this.onFocus);
    this.drop();
    this.pages.close();
    this.state.value = 'over';
  }

  private isOver(): boolean { return this.state.value === 'over'; }

  private look(): void {
    if (this.state.value === 'over') return;
    if (document.visibilityState === 'hidden') {
      this.drop();
      this.state.value = 'resting';
    } else if (!this.source) {
      this.open();
    }
  }

  private drop(): void {
    clearTimeout(this.timer);
    if (!this.source) return;
    this.source.close();
    this.source = null;
    this.tellOthers(null);
  }

  private tellOthers(openedAt: number | null): void {
    this.pages.postMessage({ page: this.page, openedAt } satisfies StreamOfPage);
  }

  private onOther({ page, openedAt }: StreamOfPage): void {
    this.newer.delete(page);
    if (openedAt === null || openedAt < this.openedAt || (openedAt === this.openedAt && page < this.page)) return;
    this.newer.add(page);
    if (this.source && this.newer.size >= streamsMost) this.poll();
  }

  private poll(): void {
    this.drop();
    this.state.value = 'polling';
    this.timer = setInterval(() => this.handlers.missed(), pollMs);
  }

  private open(): void {
    this.drop();
    const source = new EventSource(this.last === '' ? this.path : `${this.path}${this.path.includes('?') ? '&' : '?'}after=${encodeURIComponent(this.last)}`);
    this.source = source;
    this.newer.clear();
    this.openedAt = Date.now();
    this.tellOthers(this.openedAt);
    this.resumed = false;
    this.state.value = this.opened ? 'lost' : 'connecting';
    const anew = this.opened && this.last === ''; // nothing says where the one before it was
    source.addEventListener('open', () => {
      const first = source === this.source && this.state.value !== 'live' && anew && !this.resumed;
      this.delayMs = firstDelayMs;
      this.state.value = 'live';
      this.opened = true;
      this.resumed = true;
      if (first) this.handlers.missed();
    });
    source.addEventListener('error', () => this.failed());
    for (const [name, handle] of Object.entries(this.handlers.events)) {
      source.addEventListener(name, (event) => {
        const message = event as MessageEvent<string>;
        if (message.lastEventId !== '') this.last = message.lastEventId; // else it has none, and is the first on this stream
        handle(JSON.parse(message.data));
      });
    }
    for (const name of ['gap', 'lagged']) {
      source.addEventListener(name, () => {
        this.last = '';
        this.handlers.missed();
      });
    }
  }

  private failed(): void {
    if (this.state.value === 'over') return;
    this.state.value = 'lost';
    if (this.source?.readyState === EventSource.CONNECTING) return;
    this.drop();
    (this.handlers.refused ?? this.handlers.missed)();
    if (this.isOver()) return;
    this.timer = setTimeout(() => this.open(), this.delayMs);
    this.delayMs = Math.min(delayMsMost, this.delayMs * 2);
  }
}
