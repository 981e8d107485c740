// The numbers of a plot, as a table that is read as one.
import type { JSX } from 'preact';
import { formatValue } from '../data/numbers.ts';
import type { Table } from './download.ts';

const rowsMost = 500;

export function DataTable({ table, label }: { table: Table; label: string }): JSX.Element {
  const left = table.rows.length - rowsMost;
  return (
    <div class="scroll" tabIndex={0} role="region" aria-label={`${label}, as a table`}>
      <table class="plain">
        <thead>
          <tr>{table.columns.map((column) => <th scope="col">{column}</th>)}</tr>
        </thead>
        <tbody>
          {table.rows.slice(0, rowsMost).map((row) => <tr>{row.map((cell) => <td class={typeof cell === 'number' ? 'number' : ''}>{formatValue(cell)}</td>)}</tr>)}
        </tbody>
      </table>
      {left > 0 && <p class="muted">{left} more rows are in the CSV.</p>}
    </div>
  );
}
