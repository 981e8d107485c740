// What is shown and what is selected, in every view at once: the filter, the brushes and the selection, each of which can be
// taken away.
import type { JSX } from 'preact';
import { useSignal } from '@preact/signals';
import { fieldNames } from '../../data/filter.ts';
import { formatValue } from '../../data/numbers.ts';
import { valueAt } from '../../data/space.ts';
import { choose, chosen } from '../../state/place.ts';
import { brushes, clearChoices, pick, select, selected, setBrush, type Brush } from '../../state/selection.ts';
import { useJob } from './context.ts';

export function Choices(): JSX.Element {
  const { visible, table, store } = useJob();
  const { count, fault } = visible.value;
  const all = table.count;
  const anything = chosen('filter') !== '' || brushes.value.length > 0 || selected.value.length > 0;
  return (
    <div class="choices">
      <FilterBox />
      {brushes.value.map((brush) => (
        <Chip label={`${brush.name} ${rangeText(brush, store.parameters.value)}`} remove={() => setBrush(brush.name, null)} />
      ))}
      {selected.value.map((trial) => <Chip label={`trial ${trial}`} remove={() => pick(trial, true)} strong />)}
      {selected.value.length > 1 && <button type="button" class="small" onClick={() => select([])}>unselect all</button>}
      {anything && <button type="button" class="small" onClick={clearChoices}>clear</button>}
      <span class="muted count" data-testid="shown-count">{count === all ? `${all} trials` : `${count} of ${all} trials`}</span>
      {table.leftOut > 0 && <span class="muted">The job has {all + table.leftOut}: here are the best, those that raised the best so far, and others evenly.</span>}
      {fault !== null && <p class="fault" role="alert" id="filter-fault">{fault}</p>}
    </div>
  );
}

function rangeText(brush: Brush, parameters: ReturnType<typeof useJob>['store']['parameters']['value']): string {
  const parameter = parameters.find((one) => one.name === brush.name);
  const say = (place: number): string => formatValue(parameter ? valueAt(parameter, place) : place);
  return `${say(brush.from)} – ${say(brush.to)}`;
}

function Chip({ label, remove, strong = false }: { label: string; remove: () => void; strong?: boolean }): JSX.Element {
  return (
    <span class={strong ? 'chip strong' : 'chip'}>
      {label}
      <button type="button" aria-label={`Remove ${label}`} onClick={remove}>×</button>
    </span>
  );
}

const applyDelayMs = 250;

function FilterBox(): JSX.Element {
  const { visible, table } = useJob();
  const timer = useSignal<ReturnType<typeof setTimeout> | undefined>(undefined);
  const apply = (text: string): void => {
    clearTimeout(timer.peek());
    timer.value = setTimeout(() => choose({ filter: text.trim() }), applyDelayMs);
  };
  const names = [...fieldNames, ...table.parameters.keys()];
  return (
    <label class="filter">
      <span>Filter</span>
      <input
        type="search"
        spellcheck={false}
        autocomplete="off"
        placeholder="state = completed and eta < 0.1"
        title={`Columns: ${names.join(', ')}. Signs: = != < <= > >= ~ (contains), in (a, b), and, or, not`}
        value={chosen('filter')}
        aria-invalid={visible.value.fault !== null}
        aria-describedby={visible.value.fault !== null ? 'filter-fault' : undefined}
        onInput={(event) => apply(event.currentTarget.value)}
        onKeyDown={(event) => { if (event.key === 'Enter') choose({ filter: event.currentTarget.value.trim() }, true); }}
      />
    </label>
  );
}
