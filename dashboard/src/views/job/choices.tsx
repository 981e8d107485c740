// What is shown and what is selected, in every view at once: the filter, the brushes and the selection, each of which can be
// taken away.
import type { JSX } from 'preact';
import { useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { fieldNames } from '../../data/filter.ts';
import { formatCount, formatValue } from '../../data/numbers.ts';
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
      <span class="muted count" data-testid="shown-count">{count === all ? formatCount(all, 'trial') : `${count} of ${formatCount(all, 'trial')}`}</span>
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
  const typed = useSignal(chosen('filter')); // what is in the box, until the address says something else
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  useEffect(() => () => clearTimeout(timer.current), []);
  const apply = (push: boolean): void => {
    clearTimeout(timer.current);
    timer.current = undefined;
    choose({ filter: typed.peek().trim() }, push);
  };
  const type = (text: string): void => {
    typed.value = text;
    clearTimeout(timer.current);
    timer.current = setTimeout(() => apply(false), applyDelayMs);
  };
  const shown = timer.current !== undefined || typed.value.trim() === chosen('filter') ? typed.value : chosen('filter');
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
        value={shown}
        aria-invalid={visible.value.fault !== null}
        aria-describedby={visible.value.fault !== null ? 'filter-fault' : undefined}
        onInput={(event) => type(event.currentTarget.value)}
        onKeyDown={(event) => { if (event.key === 'Enter') apply(true); }}
      />
    </label>
  );
}
