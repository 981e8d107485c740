// Whether what is shown is what is: the state of the event stream.
import type { JSX } from 'preact';
import { pollMs, type StreamState } from '../../api/stream.ts';

const words: Record<StreamState, string> = {
  connecting: 'connecting…',
  live: 'live',
  lost: 'connection lost, trying again…',
  resting: 'paused while nobody looks',
  polling: `every ${pollMs / 1000} s: many windows are open`,
  over: '',
};

export function Live({ store }: { store: { stream: { value: StreamState } } }): JSX.Element | null {
  const state = store.stream.value;
  if (words[state] === '') return null;
  return <span class={`live ${state}`} role="status" data-testid="live">{words[state]}</span>;
}
