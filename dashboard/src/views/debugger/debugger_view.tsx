// A job's debugger: how each rule stands over all trials, and everything that was found.
import type { JSX } from 'preact';
import { listFindings, rulesOfJob } from '../../api/routes.ts';
import { ruleWords, type Finding, type RuleOfJob } from '../../api/shapes.ts';
import { formatNumber, formatTime, numberOf } from '../../data/numbers.ts';
import { chosenBy, ruleCaptions, ruleMarks } from '../../data/tensors.ts';
import { FaultNotice } from '../../parts/notice.tsx';
import { StateMark } from '../../parts/state_mark.tsx';
import { useLoaded } from '../../parts/use_loaded.ts';
import { hrefOf } from '../../state/place.ts';
import { useJob } from '../job/context.ts';
import { RuleLine } from './rules_list.tsx';

const restMs = 2_000;
const findingsMost = 200;

export function DebuggerView(): JSX.Element {
  const { store, job, table } = useJob();
  const running = job.state === 'running' || job.state === 'stopping';
  const loaded = useLoaded(
    () => Promise.all([rulesOfJob(store.key), listFindings(store.key, null)]),
    [store.name, job.state],
    { on: `${store.found.value} ${running ? table.version.value : ''}`, restMs },
  );
  const { value, fault } = loaded.value;
  if (fault) return <FaultNotice fault={fault} />;
  if (!value) return <p class="muted">Loading…</p>;
  const [rules, findings] = value;
  return (
    <>
      <section class="plot" aria-label="Rules">
        <h3>Rules</h3>
        {rules.length === 0 ? <p class="muted">The job has no rules: its section <code>debug</code> would have them.</p> : (
          <ul class="rules">{rules.map((rule) => <RuleLine rule={rule}><Counts rule={rule} job={store.name} /></RuleLine>)}</ul>
        )}
      </section>
      <section class="plot" aria-label="Findings">
        <h3>Findings</h3>
        {findings.length === 0 ? <p class="muted">Nothing was found{running ? ' yet' : ''}.</p> : <FindingsTable findings={findings.slice(-findingsMost).reverse()} job={store.name} />}
        {findings.length > findingsMost && <p class="plot-note">The newest {findingsMost} of {findings.length}; <code>tuneband findings {store.name}</code> shows all.</p>}
      </section>
    </>
  );
}

function Counts({ rule, job }: { rule: RuleOfJob; job: string }): JSX.Element {
  return (
    <ul class="counts">
      {ruleWords.filter((word) => rule.trials[word] > 0).map((word) => (
        <li><StateMark state={ruleMarks[word]} /> <b>{rule.trials[word]}</b> {ruleCaptions[word]}</li>
      ))}
      {rule.example !== null && <li><a href={hrefOf(['jobs', job, 'trials', rule.example])}>trial {rule.example}</a></li>}
    </ul>
  );
}

function FindingsTable({ findings, job }: { findings: readonly Finding[]; job: string }): JSX.Element {
  return (
    <div class="scroll" tabIndex={0} role="region" aria-label="Findings of the job">
      <table class="plain">
        <thead>
          <tr>
            <th scope="col">trial</th><th scope="col">rule</th><th scope="col" class="number">step</th><th scope="col">tensor</th>
            <th scope="col" class="number">value</th><th scope="col" class="number">threshold</th><th scope="col">what was found, and what helps</th><th scope="col">at</th>
          </tr>
        </thead>
        <tbody>
          {findings.map((finding) => (
            <tr>
              <td class="nowrap"><a href={hrefOf(['jobs', job, 'trials', finding.trial], chosenBy(finding))}>trial {finding.trial}</a></td>
              <td class="nowrap">{finding.rule}{finding.action !== 'note' && <div class="muted">{finding.action.replaceAll('_', ' ')}</div>}</td>
              <td class="number">{finding.step}</td>
              <td><code>{finding.tensor}</code>{finding.mode && <div class="muted">{finding.mode}</div>}</td>
              <td class="number nowrap">{formatNumber(numberOf(finding.value))}</td>
              <td class="number nowrap">{formatNumber(numberOf(finding.threshold))}</td>
              <td class="sentence">{finding.message}{finding.remedy !== '' && <div class="muted">{finding.remedy}</div>}</td>
              <td class="nowrap muted">{formatTime(finding.at)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
