// Something that a button does: whether it is under way, and why the server refused it.
import { useSignal, type ReadonlySignal, type Signal } from '@preact/signals';
import { ApiError } from '../api/transport.ts';

export interface Attempt {
  busy: ReadonlySignal<boolean>;
  fault: Signal<ApiError | null>; // of the last one; none while another is under way
  run: () => Promise<void>;
}

export function useAttempt(act: () => Promise<void>): Attempt {
  const fault = useSignal<ApiError | null>(null);
  const busy = useSignal(false);
  const run = async (): Promise<void> => {
    busy.value = true;
    fault.value = null;
    try {
      await act();
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      fault.value = error;
    } finally {
      busy.value = false;
    }
  };
  return { busy, fault, run };
}
