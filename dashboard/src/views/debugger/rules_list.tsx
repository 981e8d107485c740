// How rules of the debugger stand: a line each, with what they found.
import type { ComponentChildren, JSX } from 'preact';
import type { Finding, RuleOfJob, RuleStatus } from '../../api/shapes.ts';
import { formatNumber, formatTime, numberOf } from '../../data/numbers.ts';
import { ruleCaptions, ruleMarks } from '../../data/tensors.ts';
import { StateLabel } from '../../parts/state_mark.tsx';

interface RuleLineProps {
  rule: RuleStatus | RuleOfJob;
  children?: ComponentChildren;
}

export function RuleLine({ rule, children }: RuleLineProps): JSX.Element {
  return (
    <li class={`rule rule-${rule.status}`}>
      <div class="rule-head">
        <b>{rule.rule}</b>
        {rule.type !== rule.rule && <span class="muted">{rule.type}</span>}
        <StateLabel state={ruleMarks[rule.status]} word={ruleCaptions[rule.status]} />
        {rule.action !== 'note' && <span class="muted">would {rule.action.replaceAll('_', ' the ')}</span>}
        {rule.changed_at && <span class="muted nowrap">since {formatTime(rule.changed_at)}</span>}
      </div>
      <p class={rule.status === 'no_issues_found' || rule.status === 'in_progress' ? 'muted' : ''}>{rule.details}</p>
      {children}
    </li>
  );
}

// What belongs to a finding beside its sentence. `show`: a link to its tensor.
export function FindingFacts({ finding, show }: { finding: Finding; show?: ComponentChildren }): JSX.Element {
  return (
    <>
      <dl class="facts">
        {finding.tensor !== '' && <div><dt>tensor</dt><dd>{show ?? <code>{finding.tensor}</code>}</dd></div>}
        {finding.mode && <div><dt>mode</dt><dd>{finding.mode}</dd></div>}
        <div><dt>step</dt><dd>{finding.step}</dd></div>
        <div><dt>value</dt><dd>{formatNumber(numberOf(finding.value))}</dd></div>
        <div><dt>threshold</dt><dd>{formatNumber(numberOf(finding.threshold))}</dd></div>
        {finding.webhook !== null && <div><dt>web hook</dt><dd>{finding.webhook}</dd></div>}
      </dl>
      {finding.remedy !== '' && <p><b>What helps:</b> {finding.remedy}</p>}
    </>
  );
}
