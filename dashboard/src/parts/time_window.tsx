// From when until when a timeline is: in the address, as times that everybody reads alike. Looked at closer by a sweep over the
// plot, and moved by buttons.
import type { JSX } from 'preact';
import type { Window } from '../api/routes.ts';
import { formatDuration, formatTime } from '../data/numbers.ts';
import { choose, chosen } from '../state/place.ts';

const leastMs = 100;

// null: none was chosen.
export function chosenWindow(): Window | null {
  const [from, until] = [Date.parse(chosen('from')), Date.parse(chosen('until'))];
  return Number.isFinite(from) && Number.isFinite(until) && until > from ? [from, until] : null;
}

export function chooseWindow(window: Window | null): void {
  if (!window) return choose({ from: null, until: null }, true);
  const middle = (window[0] + window[1]) / 2;
  const half = Math.max(leastMs, window[1] - window[0]) / 2;
  choose({ from: new Date(middle - half).toISOString(), until: new Date(middle + half).toISOString() }, true);
}

// `shown`: what the plot shows now; `whole`: what it shows when nothing is chosen.
export function TimeWindow({ shown, whole }: { shown: Window; whole: string }): JSX.Element {
  const [from, until] = shown;
  const width = until - from;
  const move = (begin: number, end: number): void => chooseWindow([from + begin * width, from + end * width]);
  return (
    <div class="time-window">
      <span class="muted nowrap">{formatTime(from)}, {formatDuration(width / 1000)}</span>
      <div class="switch" role="group" aria-label="Time that is shown">
        <button type="button" onClick={() => move(-0.5, 0.5)} title="Earlier" aria-label="Earlier">←</button>
        <button type="button" onClick={() => move(0.5, 1.5)} title="Later" aria-label="Later">→</button>
        <button type="button" onClick={() => move(0.25, 0.75)} title="Closer" aria-label="Closer">+</button>
        <button type="button" onClick={() => move(-0.5, 1.5)} title="Wider" aria-label="Wider">−</button>
      </div>
      {chosenWindow() && <button type="button" class="small" onClick={() => chooseWindow(null)}>{whole}</button>}
    </div>
  );
}
