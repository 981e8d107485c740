// When nothing ran, for how long, and why.
import type { JSX } from 'preact';
import { formatDuration, formatTime } from '../data/numbers.ts';

const shownMost = 10;

interface IdleTableProps {
  title: string;
  idle: readonly (readonly [number, number])[]; // milliseconds
  why: (from: number, until: number) => string[];
}

// The longest, in the order of time.
export function IdleTable({ title, idle, why }: IdleTableProps): JSX.Element | null {
  if (idle.length === 0) return null;
  const shown = [...idle].sort((a, b) => b[1] - b[0] - (a[1] - a[0])).slice(0, shownMost).sort((a, b) => a[0] - b[0]);
  return (
    <section class="plot" aria-label={title}>
      <h3>{title}</h3>
      <div class="scroll" tabIndex={0} role="region" aria-label={`${title}, with reasons`}>
        <table class="plain stacked">
          <thead><tr><th scope="col">from</th><th scope="col">for</th><th scope="col">why</th></tr></thead>
          <tbody>
            {shown.map(([from, until]) => (
              <tr><td class="nowrap">{formatTime(from)}</td><td class="nowrap">{formatDuration((until - from) / 1000)}</td><td>{why(from, until).map((sentence) => <div>{sentence}</div>)}</td></tr>
            ))}
          </tbody>
        </table>
      </div>
      {idle.length > shown.length && <p class="plot-note">The longest {shown.length} of {idle.length}.</p>}
    </section>
  );
}
