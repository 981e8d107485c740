// The rules of the debugger in one trial.
import type { JSX } from 'preact';
import { listFindings, rulesOfTrial } from '../../api/routes.ts';
import type { Finding, Trial } from '../../api/shapes.ts';
import { chosenBy } from '../../data/tensors.ts';
import { FaultNotice } from '../../parts/notice.tsx';
import { useLoaded } from '../../parts/use_loaded.ts';
import { hrefOf, place } from '../../state/place.ts';
import { useJob } from '../job/context.ts';
import { FindingFacts, RuleLine } from './rules_list.tsx';

const restMs = 1_000;

export function TrialRules({ detail }: { detail: Trial }): JSX.Element {
  const { store, table } = useJob();
  const loaded = useLoaded(
    () => Promise.all([rulesOfTrial(store.key, detail.number), listFindings(store.key, detail.number)]),
    [detail.number, detail.state],
    { on: `${store.found.value} ${detail.state === 'running' ? table.version.value : ''}`, restMs },
  );
  const { value, fault } = loaded.value;
  const tensorHref = (finding: Finding): string => {
    const query = new URLSearchParams(place.value.query);
    query.delete('mode');
    for (const [name, value] of Object.entries(chosenBy(finding))) query.set(name, value);
    return hrefOf(place.value.path, query);
  };
  return (
    <section class="plot" aria-label="Rules">
      <h3>Rules</h3>
      {fault ? <FaultNotice fault={fault} /> : !value ? <p class="muted">Loading…</p> : value[0].length === 0 ? <p class="muted">The job has none.</p> : (
        <ul class="rules">
          {value[0].map((rule) => {
            const finding = value[1].find((one) => one.rule === rule.rule);
            return (
              <RuleLine rule={rule}>
                {finding && <FindingFacts finding={finding} show={<a href={tensorHref(finding)}><code>{finding.tensor}</code></a>} />}
              </RuleLine>
            );
          })}
        </ul>
      )}
    </section>
  );
}
