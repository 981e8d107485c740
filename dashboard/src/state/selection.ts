// Which trials are meant, in every view of a job at once: selected ones, what the filter and the brushes leave, and the one under
// the pointer. All but the last are in the address.
import { batch, computed, signal } from '@preact/signals';
import { choose, chosen, place } from './place.ts';

export const hovered = signal<number | null>(null);

export const selected = computed<readonly number[]>(() =>
  chosen('sel')
    .split(',')
    .filter((text) => /^\d+$/.test(text))
    .map(Number),
);

export const selectedSet = computed<ReadonlySet<number>>(() => new Set(selected.value));

// The one whose story is told: the one selected last.
export const focused = computed<number | null>(() => selected.value.at(-1) ?? null);

export function select(trials: readonly number[]): void {
  choose({ sel: [...new Set(trials)].join(',') });
}

// As in a list of files: alone, or with a key held down, one more or less.
export function pick(trial: number, adding: boolean): void {
  const others = selected.value.filter((other) => other !== trial);
  if (!adding) return select(selected.value.length === 1 && others.length === 0 ? [] : [trial]);
  select(others.length < selected.value.length ? others : [...others, trial]);
}

// A range of an axis, 0 to 1, by the parameter's name; `objective` has values.
export interface Brush {
  name: string;
  from: number;
  to: number;
}

const brushPrefix = 'in.';

const inAddress = computed<readonly Brush[]>(() =>
  [...place.value.query].flatMap(([key, text]) => {
    const range = /^(-?[\d.e+-]+)~(-?[\d.e+-]+)$/.exec(text);
    if (!key.startsWith(brushPrefix) || !range) return [];
    return [{ name: key.slice(brushPrefix.length), from: Number(range[1]), to: Number(range[2]) }];
  }),
);

// The one that is drawn right now. It comes into the address with its end: everything that the address says would be made anew
// with each step of it.
const underWay = signal<Brush | null>(null);

export const brushes = computed<readonly Brush[]>(() => {
  const brush = underWay.value;
  return brush ? [...inAddress.value.filter(({ name }) => name !== brush.name), brush] : inAddress.value;
});

const rounded = (end: number): number => Number(end.toPrecision(6));

export function setBrush(name: string, range: [number, number] | null, done = true): void {
  if (range && !done) {
    underWay.value = { name, from: rounded(range[0]), to: rounded(range[1]) };
    return;
  }
  batch(() => {
    underWay.value = null;
    choose({ [brushPrefix + name]: range && range.map((end) => String(rounded(end))).join('~') });
  });
}

export function clearChoices(): void {
  choose({ sel: null, filter: null, ...Object.fromEntries(brushes.value.map((brush) => [brushPrefix + brush.name, null])) });
}
