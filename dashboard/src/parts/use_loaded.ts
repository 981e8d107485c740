// Something that is asked for when it is first shown: its value, or why there is none.
import { useSignal, type ReadonlySignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { ApiError } from '../api/transport.ts';
import { againMs } from '../state/job_store.ts';

export interface Loaded<T> {
  value: T | undefined;
  fault: ApiError | null;
}

// When the same is to be asked for again, and how long it rests in between at least.
export interface Again {
  on: unknown; // whenever this changes
  restMs: number;
}

// Asks again when one of `inputs` changes, for then something else is meant: an answer to the question before is dropped. So it
// does after a while when the server did not answer.
export function useLoaded<T>(load: () => Promise<T>, inputs: unknown[], again: Again = { on: null, restMs: 0 }): ReadonlySignal<Loaded<T>> {
  const state = useSignal<Loaded<T>>({ value: undefined, fault: null });
  const newest = useRef<() => Promise<T>>(load);
  newest.current = load;
  const meant = useRef({}); // what is meant now
  const asked = useRef({ at: -Infinity, count: 0, shown: 0 });
  const ask = (): void => {
    const what = meant.current;
    const number = (asked.current.count += 1);
    asked.current.at = performance.now();
    const show = (answer: Loaded<T>): void => {
      if (what !== meant.current || number < asked.current.shown) return;
      asked.current.shown = number;
      state.value = answer;
    };
    const failed = (error: unknown): void => {
      const ofApi = error instanceof ApiError;
      show({ value: state.peek().value, fault: ofApi ? error : new ApiError(0, 'failed', String(error), []) });
      if (ofApi && error.ofTheServer) setTimeout(() => { if (what === meant.current && number === asked.current.count) ask(); }, againMs);
    };
    newest.current().then((value) => show({ value, fault: null }), failed);
  };
  useEffect(() => {
    meant.current = {};
    ask();
    return () => { meant.current = {}; };
  }, inputs);
  const first = useRef(true);
  useEffect(() => {
    if (first.current) {
      first.current = false;
      return;
    }
    const timer = setTimeout(ask, Math.max(0, asked.current.at + again.restMs - performance.now()));
    return () => clearTimeout(timer);
  }, [again.on]);
  return state;
}
