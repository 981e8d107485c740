// Where the reader is: `#/jobs/NAME/VIEW?filter=...`. Everything that can be chosen on a page is in here, so that Back, a bookmark
// and a link sent to somebody show the same.
import { computed, signal } from '@preact/signals';

export interface Place {
  path: string[];
  query: URLSearchParams;
}

export function parsePlace(hash: string): Place {
  const text = hash.replace(/^#\/?/, '');
  const cut = text.indexOf('?');
  const path = (cut < 0 ? text : text.slice(0, cut)).split('/').filter((part) => part !== '');
  return { path: path.map(decode), query: new URLSearchParams(cut < 0 ? '' : text.slice(cut + 1)) };
}

function decode(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part; // a stray per cent sign
  }
}

export function hrefOf(path: (string | number)[], query?: URLSearchParams | Record<string, string>): string {
  const text = new URLSearchParams(query).toString();
  return `#/${path.map((part) => encodeURIComponent(part)).join('/')}${text === '' ? '' : `?${text}`}`;
}

const inBrowser = typeof window !== 'undefined';
let address = inBrowser ? window.location.hash : ''; // as it was last read or written here
export const place = signal<Place>(parsePlace(address));
if (inBrowser) {
  window.addEventListener('hashchange', () => {
    clearTimeout(writing);
    address = window.location.hash;
    place.value = parsePlace(address);
  });
}

// The address is new at once and is told of a moment later: what is chosen in between belongs to a page that was just left, and
// would lead back to it.
function leaving(): boolean {
  return window.location.hash !== address;
}

// Browsers take 200 changes of the address in ten seconds and no more: while something is swept, it is written now and then.
const writeMs = 300;
let writing: ReturnType<typeof setTimeout> | undefined;
let written = 0;

function replaceAddress(): void {
  clearTimeout(writing);
  const write = (): void => {
    if (leaving()) return;
    written = Date.now();
    history.replaceState(null, '', hrefOf(place.peek().path, place.peek().query));
    address = window.location.hash;
  };
  if (Date.now() - written >= writeMs) write();
  else writing = setTimeout(write, writeMs);
}

export function go(path: (string | number)[], query?: URLSearchParams | Record<string, string>): void {
  window.location.hash = hrefOf(path, query);
}

// Changes what is chosen on this page; null takes a choice away. What is typed or swept does not fill the history: `push` for
// what one would want to come back from.
export function choose(changes: Record<string, string | null>, push = false): void {
  if (leaving()) return;
  const query = new URLSearchParams(place.value.query);
  for (const [name, value] of Object.entries(changes)) {
    if (value === null || value === '') query.delete(name);
    else query.set(name, value);
  }
  const href = hrefOf(place.value.path, query);
  if (href === hrefOf(place.value.path, place.value.query)) return;
  place.value = parsePlace(href);
  if (!push) return replaceAddress();
  clearTimeout(writing);
  history.pushState(null, '', href);
  address = window.location.hash;
}

export function chosen(name: string): string {
  return place.value.query.get(name) ?? '';
}

export const page = computed(() => place.value.path[0] ?? '');
