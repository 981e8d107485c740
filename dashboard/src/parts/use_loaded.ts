// Something that is asked for when it is first shown: its value, or why there is none.
import { useSignal, type ReadonlySignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { ApiError } from '../api/transport.ts';

export interface Loaded<T> {
  value: T | undefined;
  fault: ApiError | null;
}

// Asks again when one of `inputs` changes; an answer that comes after the next question is dropped.
export function useLoaded<T>(load: () => Promise<T>, inputs: unknown[]): ReadonlySignal<Loaded<T>> {
  const state = useSignal<Loaded<T>>({ value: undefined, fault: null });
  useEffect(() => {
    let wanted = true;
    load().then(
      (value) => { if (wanted) state.value = { value, fault: null }; },
      (error: unknown) => {
        if (wanted) state.value = { value: state.peek().value, fault: error instanceof ApiError ? error : new ApiError(0, 'failed', String(error), []) };
      },
    );
    return () => { wanted = false; };
  }, inputs);
  return state;
}
