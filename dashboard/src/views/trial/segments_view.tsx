// The segments of a trial: who trained it from where to where, when, and how each attempt ended.
import type { JSX } from 'preact';
import { getSegments } from '../../api/routes.ts';
import type { Timeline } from '../../api/columns.ts';
import type { Trial } from '../../api/shapes.ts';
import { formatClock, formatDuration } from '../../data/numbers.ts';
import { shortWorker } from '../../data/segments.ts';
import { FaultNotice } from '../../parts/notice.tsx';
import { useLoaded } from '../../parts/use_loaded.ts';
import { isLoss } from '../../plot/timeline_scene.ts';
import { useJob } from '../job/context.ts';

export function SegmentsView({ detail }: { detail: Trial }): JSX.Element {
  const { store } = useJob();
  const loaded = useLoaded(() => getSegments(store.key, detail.number), [detail.number, detail.state, detail.segments, detail.attempts, detail.resource]);
  const { value, fault } = loaded.value;
  return (
    <section class="plot" aria-label="Segments">
      <h3>Segments and attempts</h3>
      {fault ? <FaultNotice fault={fault} /> : !value ? <p class="muted">Loading…</p> : value.trial.length === 0 ? <p class="muted">None was begun yet.</p> : <SegmentsTable segments={value} />}
    </section>
  );
}

function SegmentsTable({ segments }: { segments: Timeline }): JSX.Element {
  const { job } = useJob();
  const createdAt = Date.parse(segments.created_at);
  const grouped = segments.rank.some((rank) => rank > 0);
  return (
    <div class="scroll" tabIndex={0} role="region" aria-label="Segments of the trial">
      <table class="plain">
        <thead>
          <tr>
            <th scope="col">{job.resource_name}</th><th scope="col">attempt</th><th scope="col">worker</th>{grouped && <th scope="col">rank</th>}
            <th scope="col">began</th><th scope="col">lasted</th><th scope="col">ended</th>
          </tr>
        </thead>
        <tbody>
          {segments.trial.map((_, i) => {
            const [began, ended] = [segments.began[i] as number, segments.ended[i] ?? null];
            const outcome = segments.outcomes[segments.outcome[i] as number] ?? '';
            return (
              <tr>
                <td class="nowrap">{segments.from_resource[i]} to {segments.until_resource[i]}</td>
                <td>{segments.attempt[i]}</td>
                <td title={segments.workers[segments.worker[i] as number]}>{shortWorker(segments.workers[segments.worker[i] as number] ?? '–')}</td>
                {grouped && <td>{segments.rank[i]}</td>}
                <td class="nowrap">{formatClock(createdAt + began * 1000)}</td>
                <td class="nowrap">{ended === null ? '' : formatDuration(ended - began)}</td>
                <td class={isLoss(outcome) ? 'fault' : ''}>{outcome === '' ? 'under way' : outcome.replaceAll('_', ' ')}</td>
              </tr>
            );
          })}
        </tbody>
      </table>
    </div>
  );
}
