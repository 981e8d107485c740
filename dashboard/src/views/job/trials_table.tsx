// The table of trials: only the rows in sight are in the page, however many there are.
import type { JSX } from 'preact';
import { useSignal } from '@preact/signals';
import { useEffect, useMemo, useRef } from 'preact/hooks';
import { getExactTrials } from '../../api/routes.ts';
import { units } from '../../data/explain.ts';
import { hasFewerFoldsBelow } from '../../data/folds.ts';
import { transport } from '../../api/transport.ts';
import { csvOf, saveText } from '../../parts/download.ts';
import { Menu } from '../../parts/menu.tsx';
import { StateLabel } from '../../parts/state_mark.tsx';
import { choose, chosen, hrefOf, place } from '../../state/place.ts';
import { focused, hovered, pick, selectedSet } from '../../state/selection.ts';
import { printing } from '../../state/theme.ts';
import { useJob } from './context.ts';
import { keepsBest, parseSort, sortedRows, trialColumns, type CellValue, type Column, type Sort } from './trial_columns.ts';

const rowHeight = 28;
const rowsAround = 8;
const rowsPrinted = 200;

function shownColumns(all: Column[]): Column[] {
  const ids = chosen('cols');
  if (ids === '') return all.filter((column) => column.byDefault);
  const wanted = new Set(ids.split(','));
  return all.filter((column) => wanted.has(column.id) || column.id === 'trial');
}

export function TrialsTable({ height }: { height: number }): JSX.Element {
  const { job, table, settled } = useJob();
  const version = table.version.value;
  const all = useMemo(() => trialColumns(job, table), [table, table.parameters.size, job.id]);
  const columns = shownColumns(all);
  const sort = parseSort(chosen('sort'), { column: keepsBest(job) ? 'kept' : 'objective', descending: job.objective.goal === 'maximize' });
  const sorted = useMemo(
    () => sortedRows(table.rows.map((_, index) => index), all.find((column) => column.id === sort.column), sort.descending),
    [version, sort.column, sort.descending, all],
  );
  const rows = useMemo(() => sorted.filter((index) => settled.value.mask[index] === 1), [sorted, settled.value]);
  // The page's numbers have the digits that are drawn: a file is for other programs, and has them all.
  const csv = async (): Promise<void> => {
    const exact = transport.live ? await getExactTrials(job.name).catch(() => table) : table;
    const exactColumns = trialColumns(job, exact).filter((column) => columns.some((one) => one.id === column.id));
    const cells = rows.flatMap((index) => {
      const at = exact.find(table.rows[index]?.number ?? -1);
      return at === undefined ? [] : [exactColumns.map((column) => column.value(at))];
    });
    saveText(`${job.name}-trials.csv`, 'text/csv', csvOf({ columns: exactColumns.map((column) => column.title), rows: cells }));
  };
  return (
    <section class="plot" aria-label="Trials">
      <header class="plot-head">
        <h3>Trials</h3>
        <div class="plot-tools">
          <ColumnsMenu all={all} shown={columns} />
          <button type="button" class="small" onClick={() => void csv()}>Download CSV</button>
        </div>
      </header>
      <VirtualRows rows={rows} columns={columns} sort={sort} height={height} />
      {hasFewerFoldsBelow(job.spec) && <p class="plot-note">Values below {units(job.max_resource, job.resource_name)} are of fewer folds: sorted by value they follow those of all.</p>}
    </section>
  );
}

function ColumnsMenu({ all, shown }: { all: Column[]; shown: Column[] }): JSX.Element {
  const ids = new Set(shown.map((column) => column.id));
  const toggle = (id: string): void => {
    const next = all.filter((column) => (column.id === id ? !ids.has(id) : ids.has(column.id))).map((column) => column.id);
    choose({ cols: next.join(',') });
  };
  return (
    <Menu label="Choose columns" caption="Columns">
      <div class="checks">
        {all.filter((column) => column.id !== 'trial').map((column) => (
          <label><input type="checkbox" checked={ids.has(column.id)} onChange={() => toggle(column.id)} /> {column.title}</label>
        ))}
        <button type="button" onClick={() => choose({ cols: null })}>As at first</button>
      </div>
    </Menu>
  );
}

interface RowsProps {
  rows: readonly number[];
  columns: readonly Column[];
  sort: Sort;
  height: number;
}

function VirtualRows({ rows, columns, sort, height }: RowsProps): JSX.Element {
  const { table } = useJob();
  const box = useRef<HTMLDivElement>(null);
  const top = useSignal(0);
  const all = printing.value ? rows.slice(0, rowsPrinted) : rows;
  const first = printing.value ? 0 : Math.max(0, Math.floor(top.value / rowHeight) - rowsAround);
  const last = printing.value ? all.length : Math.min(rows.length, Math.ceil((top.value + height) / rowHeight) + rowsAround);
  const width = columns.reduce((sum, column) => sum + column.width, 0);
  const template = columns.map((column) => `minmax(${column.width}px, ${column.width}fr)`).join(' ');

  useEffect(() => {
    // The one that was selected elsewhere comes into sight.
    const index = focused.value === null ? -1 : rows.findIndex((row) => table.rows[row]?.number === focused.value);
    const view = box.current;
    if (index < 0 || !view) return;
    const at = index * rowHeight;
    if (at < view.scrollTop || at + 2 * rowHeight > view.scrollTop + height) view.scrollTop = at - height / 2;
  }, [focused.value]);

  const onKey = (event: KeyboardEvent): void => {
    const step = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0;
    if (step !== 0) {
      event.preventDefault();
      const now = rows.findIndex((row) => table.rows[row]?.number === hovered.peek());
      const next = Math.min(rows.length - 1, Math.max(0, now + step));
      hovered.value = table.rows[rows[next] ?? 0]?.number ?? null;
      const at = next * rowHeight;
      const view = box.current;
      if (view && (at < view.scrollTop || at + 2 * rowHeight > view.scrollTop + height)) view.scrollTop = at - height / 2;
    } else if (event.key === 'Enter' && hovered.peek() !== null && event.target === box.current) {
      pick(hovered.peek() as number, event.shiftKey || event.ctrlKey);
    }
  };
  return (
    <div
      class="table"
      ref={box}
      style={{ height: printing.value ? 'auto' : `${Math.min(height, (rows.length + 1) * rowHeight + 18)}px` }}
      onScroll={(event) => { top.value = event.currentTarget.scrollTop; }}
      onKeyDown={onKey}
      onPointerLeave={() => { hovered.value = null; }}
      tabIndex={0}
      role="table"
      aria-label="Trials"
      aria-rowcount={rows.length + 1}
    >
      <div style={{ minWidth: `${width}px` }} role="rowgroup">
        <HeadRow columns={columns} sort={sort} template={template} />
        <div style={{ height: `${all.length * rowHeight}px`, position: 'relative' }} role="presentation">
          {rows.slice(first, last).map((index, offset) => (
            <Row key={table.rows[index]?.number} index={index} at={first + offset} columns={columns} template={template} />
          ))}
        </div>
        {all.length < rows.length && <p class="muted empty">{rows.length - all.length} more rows are in the CSV.</p>}
        {rows.length === 0 && <p class="muted empty">{table.count === 0 ? 'No trial yet.' : 'No trial is left by the filter.'}</p>}
      </div>
    </div>
  );
}

function HeadRow({ columns, sort, template }: { columns: readonly Column[]; sort: Sort; template: string }): JSX.Element {
  const by = (column: Column): void => {
    const descending = sort.column === column.id ? !sort.descending : column.id === 'objective' || column.id === 'kept';
    choose({ sort: `${descending ? '-' : ''}${column.id}` });
  };
  return (
    <div class="row head" role="row" aria-rowindex={1} style={{ gridTemplateColumns: template }}>
      {columns.map((column) => {
        const here = sort.column === column.id;
        return (
          <div role="columnheader" class={column.numeric ? 'number' : ''} aria-sort={here ? (sort.descending ? 'descending' : 'ascending') : 'none'}>
            <button type="button" onClick={() => by(column)} title={`Sort by ${column.title}`}>
              {column.title}{here ? (sort.descending ? ' ↓' : ' ↑') : ''}
            </button>
          </div>
        );
      })}
    </div>
  );
}

interface RowProps {
  index: number;
  at: number;
  columns: readonly Column[];
  template: string;
}

function Row({ index, at, columns, template }: RowProps): JSX.Element {
  const { table, store, best } = useJob();
  const trial = table.rows[index]?.number ?? -1;
  const classes = ['row'];
  if (selectedSet.value.has(trial)) classes.push('selected');
  if (hovered.value === trial) classes.push('hovered');
  if (best.value === trial) classes.push('best');
  const onClick = (event: MouseEvent): void => {
    if ((event.target as HTMLElement).closest('a')) return;
    pick(trial, event.shiftKey || event.ctrlKey || event.metaKey);
  };
  return (
    <div
      class={classes.join(' ')}
      role="row"
      aria-rowindex={at + 2}
      style={{ gridTemplateColumns: template, transform: `translateY(${at * rowHeight}px)` }}
      onClick={onClick}
      onPointerEnter={() => { hovered.value = trial; }}
    >
      {columns.map((column) => {
        const value = column.value(index);
        return (
          <div role="cell" class={`${column.numeric ? 'number' : ''}${(column.standing?.(index) ?? 0) > 0 ? ' muted' : ''}`} title={value === null ? '' : String(value)}>
            <Cell column={column} value={value} trial={trial} job={store.name} />
          </div>
        );
      })}
    </div>
  );
}

function Cell({ column, value, trial, job }: { column: Column; value: CellValue; trial: number; job: string }): JSX.Element {
  if (column.id === 'trial') return <a href={hrefOf(['jobs', job, 'trials', trial], place.peek().query)}>{trial}</a>;
  if (column.id === 'state') return <StateLabel state={String(value)} />;
  return <>{column.text(value)}</>;
}
