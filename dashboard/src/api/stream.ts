// Server-sent events that mend themselves. A browser opens six connections to a server and no more, so a page that nobody looks
// at lets its stream go, and takes up where it was when it is looked at again.
import { signal } from '@preact/signals';

export type StreamState = 'connecting' | 'live' | 'lost' | 'resting' | 'over';

export interface StreamHandlers {
  events: Record<string, (data: unknown) => void>;
  // Events were missed: what is on the page is to be loaded anew.
  missed: () => void;
  // The server refuses the stream, or is not there; it is asked for again. What is gone for good is to be closed.
  refused?: () => void;
}

const firstDelayMs = 500;
const delayMsMost = 10_000;

export class EventStream {
  readonly state = signal<StreamState>('connecting');
  private source: EventSource | null = null;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private delayMs = firstDelayMs;
  private opened = false;
  private resumed = false; // the browser goes on by itself, and tells the server the last event it has seen
  private last = ''; // the id of that event: a stream that is opened anew goes on from there, over a restart of the server too
  private readonly onVisibility = () => this.look();

  // `after`: the id of the last event that is known already; '': from now on.
  constructor(
    private readonly path: string,
    private readonly handlers: StreamHandlers,
    after = '',
  ) {
    this.last = after;
    document.addEventListener('visibilitychange', this.onVisibility);
    this.look();
  }

  // No more is to come.
  close(): void {
    document.removeEventListener('visibilitychange', this.onVisibility);
    this.drop();
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
    this.source?.close();
    this.source = null;
  }

  private open(): void {
    this.drop();
    const source = new EventSource(this.last === '' ? this.path : `${this.path}?after=${encodeURIComponent(this.last)}`);
    this.source = source;
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
    this.handlers.refused?.();
    if (this.isOver()) return;
    this.timer = setTimeout(() => this.open(), this.delayMs);
    this.delayMs = Math.min(delayMsMost, this.delayMs * 2);
  }
}
