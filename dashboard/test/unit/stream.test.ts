import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { EventStream } from '../../src/api/stream.ts';

// A page that can be hidden, and the streams that it has opened.
class Page extends EventTarget {
  visibilityState = 'visible';
  readonly opened: Source[] = [];

  look(state: 'visible' | 'hidden'): void {
    this.visibilityState = state;
    this.dispatchEvent(new Event('visibilitychange'));
  }
}

// As a browser's: without an id a message has the last one that came on this stream.
class Source extends EventTarget {
  readyState = 1;
  private last = '';

  constructor(readonly url: string) {
    super();
    page.opened.push(this);
  }

  tell(type: string, data: unknown, id = this.last): void {
    this.last = id;
    this.dispatchEvent(new MessageEvent(type, { data: JSON.stringify(data), lastEventId: id }));
  }

  close(): void {}
}

const page = new Page();
Object.assign(globalThis, { document: page, window: page, EventSource: Object.assign(Source, { CONNECTING: 0 }) });

const others = new BroadcastChannel('streams');
after(() => others.close());

test('a stream goes on from the last id that it was told, also when what it is told first has none', () => {
  const notes: unknown[] = [];
  let missed = 0;
  const stream = new EventStream('/events', { events: { note: (data) => notes.push(data), job: () => undefined }, missed: () => { missed += 1; } });
  page.opened[0]?.dispatchEvent(new Event('open'));
  page.opened[0]?.tell('job', {}, '7-70');
  for (const index of [1, 2]) {
    page.look('hidden');
    page.look('visible');
    assert.equal(page.opened[index]?.url, '/events?after=7-70');
    page.opened[index]?.dispatchEvent(new Event('open'));
    page.opened[index]?.tell('note', { trial: index });
  }
  assert.deepEqual(notes, [{ trial: 1 }, { trial: 2 }]);
  assert.equal(missed, 0);
  stream.close();
});

test('a stream that the server refuses is given up by whoever knows that there is none', () => {
  const before = page.opened.length;
  let refused = 0;
  const stream: EventStream = new EventStream('/gone', { events: {}, missed: () => undefined, refused: () => { refused += 1; stream.close(); } });
  const source = page.opened[before] as Source;
  source.readyState = 2;
  source.dispatchEvent(new Event('error'));
  assert.equal(refused, 1);
  assert.equal(stream.state.value, 'over');
});

test('of many pages those that were turned to last have a stream, and the others ask now and then', async () => {
  const stream = new EventStream('/events?job=7', { events: { event: () => undefined }, missed: () => undefined });
  page.opened.at(-1)?.dispatchEvent(new Event('open'));
  page.opened.at(-1)?.tell('event', {}, '7');
  const states: string[] = [];
  const polls = new Promise<void>((resolve) => {
    stream.state.subscribe((state) => {
      states.push(state);
      if (state === 'polling') resolve();
    });
  });
  const later = Date.now() + 1000;
  const tell = (other: number, openedAt: number | null): void => others.postMessage({ page: other, openedAt });
  for (const other of [1, 2, 3, 1, 2, 3]) tell(other, later);
  tell(4, 0); // it was there before
  tell(3, null);
  tell(5, later);
  assert.equal(stream.state.value, 'live');
  tell(6, later);
  await polls;
  page.dispatchEvent(new Event('focus'));
  assert.equal(page.opened.at(-1)?.url, '/events?job=7&after=7');
  page.opened.at(-1)?.dispatchEvent(new Event('open'));
  assert.deepEqual(states, ['live', 'polling', 'lost', 'live']);
  stream.close();
});
