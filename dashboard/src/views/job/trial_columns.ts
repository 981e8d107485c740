// The columns that the table of trials can have.
import type { JobDetail, ParameterValue } from '../../api/shapes.ts';
import { formatDuration, formatValue } from '../../data/numbers.ts';
import { standingIn, type TrialTable } from '../../data/trials.ts';

export type CellValue = ParameterValue | null;

export interface Column {
  id: string;
  title: string;
  numeric: boolean;
  width: number; // pixels
  byDefault: boolean;
  value: (index: number) => CellValue;
  text: (value: CellValue) => string;
  standing?: (index: number) => number; // sorted by before the value
}

const cell = (id: string, title: string, width: number, value: Column['value'], rest: Partial<Column> = {}): Column => ({
  id, title, width, value, numeric: true, byDefault: true, text: formatValue, ...rest,
});

const seconds = (value: CellValue): string => (typeof value === 'number' ? formatDuration(value) : '–');
const defaultParameters = 12; // a document may have hundreds

// Whether trials are ranked by what they keep, the best of their rounds.
export function keepsBest(job: JobDetail): boolean {
  const keep = (job.spec['trainer'] as { keep?: unknown }).keep;
  return keep === 'best' || keep === 'best_full';
}

export function trialColumns(job: JobDetail, table: TrialTable): Column[] {
  const row = (index: number): TrialTable['rows'][number] => table.rows[index] as TrialTable['rows'][number];
  const standingOf = standingIn(job);
  const standing = (index: number): number => standingOf(row(index));
  const parameters = [...table.parameters].map(([name, column], place) => {
    const numeric = typeof column.find((value) => value !== null) === 'number';
    const width = Math.max(110, Math.min(200, 9 * name.length + 24));
    return cell(`p.${name}`, name, width, (index) => column[index] ?? null, { numeric, byDefault: place < defaultParameters });
  });
  const objective = cell('objective', job.objective.metric, Math.max(110, 9 * job.objective.metric.length + 30), (index) => row(index).objective, { standing });
  const kept = cell('kept', 'kept', 112, (index) => row(index).keptValue, { byDefault: keepsBest(job), standing });
  return [
    cell('trial', 'trial', 66, (index) => row(index).number),
    cell('state', 'state', 122, (index) => row(index).state, { numeric: false }),
    ...(keepsBest(job) ? [kept, objective] : [objective, kept]), // a telephone shows one of them
    ...job.more_objectives.map((objective, place) =>
      cell(`objective.${place + 1}`, objective.metric, 110, (index) => row(index).moreObjectives[place] ?? null)),
    cell('resource', job.resource_name, 80, (index) => row(index).resource),
    cell('bracket', 'bracket', 80, (index) => row(index).bracket),
    cell('rung', 'rung', 66, (index) => row(index).rung),
    ...parameters,
    cell('training', 'training', 90, (index) => row(index).trainingSeconds, { text: seconds }),
    cell('started', 'started after', 112, (index) => row(index).started, { text: seconds, byDefault: false }),
    cell('ended', 'ended after', 104, (index) => row(index).ended, { text: seconds, byDefault: false }),
    cell('attempts', 'attempts', 88, (index) => row(index).attempts, { byDefault: false }),
    cell('segments', 'segments', 90, (index) => row(index).segments, { byDefault: false }),
    cell('replicas', 'replicas', 84, (index) => row(index).replicas, { byDefault: table.rows.some((one) => one.replicas > 1) }),
    cell('violation', 'violation', 90, (index) => row(index).violation, { byDefault: job.constraints.length > 0 }),
    cell('worker', 'worker', 150, (index) => row(index).worker, { numeric: false, byDefault: false }),
    cell('note', 'note', 200, (index) => row(index).note, { numeric: false, byDefault: table.rows.some((one) => one.note !== '') }),
  ];
}

export interface Sort {
  column: string;
  descending: boolean;
}

export function parseSort(text: string, fallback: Sort): Sort {
  if (text === '') return fallback;
  return text.startsWith('-') ? { column: text.slice(1), descending: true } : { column: text, descending: false };
}

// What is missing or not finite is last and what counts first, whichever way it is sorted; equals stay in the order of their numbers.
export function sortedRows(rows: readonly number[], column: Column | undefined, descending: boolean): number[] {
  if (!column) return [...rows];
  const sign = descending ? -1 : 1;
  const valueOf = (index: number): CellValue => {
    const value = column.value(index);
    return typeof value === 'number' && !Number.isFinite(value) ? null : value;
  };
  return rows
    .map((index) => ({ index, value: valueOf(index), standing: column.standing?.(index) ?? 0 }))
    .sort((a, b) => {
      if (a.value === null || b.value === null) return Number(a.value === null) - Number(b.value === null) || a.index - b.index;
      if (a.standing !== b.standing) return a.standing - b.standing;
      if (a.value === b.value) return a.index - b.index;
      return sign * (a.value < b.value ? -1 : 1);
    })
    .map((one) => one.index);
}
