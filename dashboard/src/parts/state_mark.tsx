// A state as a sign and a word: the same shapes as in the plots (plot/marks.ts).
import type { JSX } from 'preact';
import type { Job } from '../api/shapes.ts';

const shapes: Record<string, JSX.Element> = {
  completed: <circle cx="6" cy="6" r="4.5" fill="currentColor" />,
  running: <circle cx="6" cy="6" r="4" fill="none" stroke="currentColor" stroke-width="2" />,
  stopping: <circle cx="6" cy="6" r="4" fill="none" stroke="currentColor" stroke-width="2" stroke-dasharray="2 2" />,
  paused: <rect x="2" y="2" width="8" height="8" fill="currentColor" />,
  stopped: <path d="M1.5 2.5h9L6 10.5Z" fill="currentColor" />,
  failed: <path d="M2 2l8 8M10 2l-8 8" stroke="currentColor" stroke-width="2" />,
  cancelled: <path d="M2 6h8" stroke="currentColor" stroke-width="2" />,
  pending: <circle cx="6" cy="6" r="2.5" fill="none" stroke="currentColor" stroke-width="1.5" />,
};

export function StateMark({ state }: { state: string }): JSX.Element {
  return (
    <svg class={`mark state-${state}`} width="12" height="12" viewBox="0 0 12 12" aria-hidden="true">
      {shapes[state] ?? shapes['pending']}
    </svg>
  );
}

export function StateLabel({ state, word }: { state: string; word?: string }): JSX.Element {
  return (
    <span class="state">
      <StateMark state={state} /> {word ?? state}
    </span>
  );
}

export const JobStateLabel = ({ job }: { job: Job }): JSX.Element => (job.held ? <StateLabel state="paused" word="held" /> : <StateLabel state={job.state} />);
