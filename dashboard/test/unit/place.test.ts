// The place and the address bar: what is chosen is written now and then, and never over a page that was asked for meanwhile.
import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';

// As much of a browser as an address needs. Its events come when they are told to come.
const timers: (() => void)[] = [];
const bar = { hash: '#/jobs/a' };
let told = (): void => {};
const write = (_state: unknown, _title: string, href: string): void => { bar.hash = href; };
Object.assign(globalThis, {
  window: { location: bar, addEventListener: (_name: string, listener: () => void) => { told = listener; } },
  history: { replaceState: write, pushState: write },
  setTimeout: (callback: () => void) => { timers.push(callback); return timers.length; },
  clearTimeout: (timer: number | undefined) => { if (timer !== undefined) timers[timer - 1] = () => {}; },
});

const { choose, chosen, page, place } = await import('../../src/state/place.ts');

beforeEach(() => {
  timers.splice(0).forEach((run) => run());
  bar.hash = '#/jobs/a';
  told();
});

function waiting(): void {
  choose({ filter: 'first' }); // may be written at once
  choose({ filter: 'second' }); // is written later
  assert.ok(timers.length > 0);
}

test('what is chosen is in the address as soon as it may be written', () => {
  waiting();
  timers.splice(0).forEach((run) => run());
  assert.equal(bar.hash, '#/jobs/a?filter=second');
});

test('a page that was asked for is not lost to what is still to be written of the page before', () => {
  waiting();
  bar.hash = '#/new';
  timers.splice(0).forEach((run) => run());
  told();
  assert.equal(bar.hash, '#/new');
  assert.equal(page.value, 'new');
});

test('what is chosen on a page that was just left is nowhere', () => {
  for (const push of [false, true]) {
    bar.hash = '#/new';
    choose({ filter: 'late' }, push);
    told();
    assert.equal(bar.hash, '#/new');
    assert.equal(chosen('filter'), '');
    assert.deepEqual(place.value.path, ['new']);
    bar.hash = '#/jobs/a';
    told();
  }
});
