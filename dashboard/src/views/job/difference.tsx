// Selected trials side by side: only what differs between them.
import type { JSX } from 'preact';
import { formatNumber, formatValue } from '../../data/numbers.ts';
import { valueOf } from '../../data/trials.ts';
import { hrefOf } from '../../state/place.ts';
import { selected } from '../../state/selection.ts';
import { useJob } from './context.ts';

const trialsMost = 6;

export function Difference(): JSX.Element {
  const { store, job, table } = useJob();
  const trials = selected.value.slice(-trialsMost).flatMap((number) => {
    const index = table.find(number);
    return index === undefined ? [] : [{ number, index }];
  });
  const names = [...table.parameters].filter(([, column]) => new Set(trials.map(({ index }) => column[index])).size > 1);
  return (
    <div class="scroll" tabIndex={0} role="region" aria-label="How the selected trials differ">
      <table class="plain">
        <thead>
          <tr><th scope="col">trial</th>{trials.map(({ number }) => <th scope="col" class="number"><a href={hrefOf(['jobs', store.name, 'trials', number])}>{number}</a></th>)}</tr>
        </thead>
        <tbody>
          <tr><th scope="row">{job.objective.metric}</th>{trials.map(({ index }) => <td class="number"><b>{formatNumber(table.rows[index] && valueOf(table.rows[index]))}</b></td>)}</tr>
          <tr><th scope="row">{job.resource_name}</th>{trials.map(({ index }) => <td class="number">{table.rows[index]?.resource}</td>)}</tr>
          {names.map(([name, column]) => (
            <tr><th scope="row">{name}</th>{trials.map(({ index }) => <td class="number">{formatValue(column[index])}</td>)}</tr>
          ))}
        </tbody>
      </table>
      {selected.value.length > trialsMost && <p class="muted">The last {trialsMost} of {selected.value.length} selected.</p>}
    </div>
  );
}
