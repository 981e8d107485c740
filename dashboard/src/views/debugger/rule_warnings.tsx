// Above every view of a job: rules of the debugger that found something, or are at fault themselves.
import type { JSX } from 'preact';
import { rulesOfJob } from '../../api/routes.ts';
import { ruleCaptions } from '../../data/tensors.ts';
import { useLoaded } from '../../parts/use_loaded.ts';
import type { JobStore } from '../../state/job_store.ts';
import { hrefOf, place } from '../../state/place.ts';

const restMs = 2_000;
const mostShown = 5;

export function RuleWarnings({ store }: { store: JobStore }): JSX.Element | null {
  const loaded = useLoaded(() => rulesOfJob(store.key), [store.name, store.job.value?.state], { on: store.found.value, restMs });
  const grave = (loaded.value.value ?? []).filter((rule) => rule.status === 'issues_found' || rule.status === 'error');
  if (grave.length === 0) return null;
  return (
    <div class="notice">
      {grave.slice(0, mostShown).map((rule) => <p><b>{rule.rule}: {ruleCaptions[rule.status]}</b> {rule.details}</p>)}
      <p>
        {grave.length > mostShown && `${grave.length - mostShown} more rules. `}
        <a href={hrefOf(['jobs', store.name, 'debugger'], place.value.query)}>What was found, and what helps</a>
      </p>
    </div>
  );
}
