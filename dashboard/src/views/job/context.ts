// What the views of a job share, derived once for all of them.
import { computed, effect, signal, untracked, type ReadonlySignal } from '@preact/signals';
import { createContext } from 'preact';
import { useContext } from 'preact/hooks';
import type { JobDetail } from '../../api/shapes.ts';
import type { TrialRow, TrialTable } from '../../data/trials.ts';
import { visibleTrials, type Visible } from '../../data/visible.ts';
import type { JobStore } from '../../state/job_store.ts';
import { swept } from '../../plot/scene.ts';
import { chosen } from '../../state/place.ts';
import { brushes } from '../../state/selection.ts';

export interface JobView {
  store: JobStore;
  visible: ReadonlySignal<Visible>; // at once
  settled: ReadonlySignal<Visible>; // the same once a sweep makes a pause: for all views but the one in which it is made
  shownRows: ReadonlySignal<readonly TrialRow[]>; // those of `settled`
  best: ReadonlySignal<number | null>;
  close: () => void;
}

const pauseMs = 120;

export function makeJobView(store: JobStore): JobView {
  const rows = computed<readonly TrialRow[]>(() => {
    const table = store.trials.value;
    return table && table.version.value >= 0 ? [...table.rows] : [];
  });
  const filter = computed(() => chosen('filter'));
  const visible = computed<Visible>(() => {
    const table = store.trials.value;
    void rows.value; // the table changes in place
    if (!table) return { mask: new Uint8Array(), count: 0, fault: null };
    return visibleTrials(table, store.parameters.value, filter.value, brushes.value);
  });
  const settled = signal<Visible>(untracked(() => visible.value));
  const close = effect(() => {
    const now = visible.value;
    if (swept.value === null || untracked(() => settled.value.mask.length) !== now.mask.length) {
      settled.value = now;
      return;
    }
    const timer = setTimeout(() => { settled.value = now; }, pauseMs);
    return () => clearTimeout(timer);
  });
  return {
    store,
    visible,
    settled,
    close,
    shownRows: computed(() => { const { mask } = settled.value; return rows.value.filter((_, index) => mask[index] === 1); }),
    best: computed(() => store.summary.value?.best?.trial.number ?? null),
  };
}

export const JobContext = createContext<JobView | null>(null);

export interface ReadyJob extends JobView {
  job: JobDetail;
  table: TrialTable;
}

// Within a page that has its job and its trials.
export function useJob(): ReadyJob {
  const view = useContext(JobContext);
  const job = view?.store.job.value;
  const table = view?.store.trials.value;
  if (!view || !job || !table) throw new Error('a view of a job outside of its page');
  return { ...view, job, table };
}
