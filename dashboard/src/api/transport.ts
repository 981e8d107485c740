// Asks the server. In a report, which has no server, the replies are in the page (`tuneband report`).
import { signal } from '@preact/signals';
import { clockDifference } from './clock.ts';
import type { Fault } from './shapes.ts';

export class ApiError extends Error {
  constructor(
    readonly status: number, // 0: no answer
    readonly code: string,
    message: string,
    readonly faults: Fault[],
  ) {
    super(message);
  }

  // It did not answer, or not as it should: another time it may.
  get ofTheServer(): boolean { return this.status === 0 || this.status >= 500; }
}

export interface Transport {
  readonly live: boolean; // whether there is a server that can be asked, told and listened to
  has?: (path: string) => boolean; // of a report: whether it has this answer
  // `token`: the server's, to begin a session with; the browser then has a cookie that stands for it.
  text(method: string, path: string, body?: string, token?: string): Promise<string>;
}

// Whether the server refuses everything until it is shown its token.
export const tokenWanted = signal(false);

interface ErrorReply {
  error: { code: string; message: string; path: string; hint: string; details?: Fault[] };
}

function errorOf(status: number, text: string): ApiError {
  try {
    const { error } = JSON.parse(text) as ErrorReply;
    const first: Fault = { message: error.message, path: error.path, hint: error.hint };
    return new ApiError(status, error.code, error.message, error.details?.length ? error.details : [first]);
  } catch {
    return new ApiError(status, 'unreadable', `the server answered ${status}`, []);
  }
}

class ServerTransport implements Transport {
  readonly live = true;

  async text(method: string, path: string, body?: string, token?: string): Promise<string> {
    const headers = new Headers();
    if (body !== undefined) headers.set('Content-Type', 'application/json');
    if (token !== undefined) headers.set('Authorization', `Bearer ${token}`);
    let reply: Response;
    let text: string;
    try {
      const asked = Date.now();
      reply = await fetch(path, { method, headers, body: body ?? null });
      clockDifference.hear(reply.headers.get('date'), asked, Date.now());
      text = await reply.text();
    } catch {
      throw new ApiError(0, 'unreachable', 'the server does not answer', []);
    }
    const fault = reply.ok ? null : errorOf(reply.status, text);
    if (fault?.code === 'unauthorized' || token !== undefined) tokenWanted.value = fault !== null;
    if (fault) throw fault;
    return text;
  }
}

class RecordedTransport implements Transport {
  readonly live = false;
  constructor(
    readonly job: string,
    private readonly replies: Record<string, unknown>,
  ) {}

  has(path: string): boolean {
    return this.reply(path) !== undefined;
  }

  text(method: string, path: string): Promise<string> {
    const reply = method === 'GET' ? this.reply(path) : undefined;
    if (reply === undefined) return Promise.reject(new ApiError(404, 'not_found', 'this is not part of the report', []));
    return Promise.resolve(typeof reply === 'string' ? reply : JSON.stringify(reply));
  }

  private reply(path: string): unknown {
    return this.replies[`/${path}`];
  }
}

interface Recorded {
  job: string;
  replies: Record<string, unknown>;
}

function recordedInPage(): Recorded | null {
  const element = typeof document === 'undefined' ? null : document.getElementById('recorded');
  return element && (JSON.parse(element.textContent ?? '') as Recorded);
}

const recorded = recordedInPage();

export const transport: Transport = recorded ? new RecordedTransport(recorded.job, recorded.replies) : new ServerTransport();
export const reportedJob: string | null = recorded?.job ?? null; // of a report

export async function getJson<T>(path: string): Promise<T> {
  return JSON.parse(await transport.text('GET', path)) as T;
}

export async function sendJson<T>(method: string, path: string, body?: unknown): Promise<T | null> {
  const text = await transport.text(method, path, body === undefined ? undefined : typeof body === 'string' ? body : JSON.stringify(body));
  return text === '' ? null : (JSON.parse(text) as T);
}
