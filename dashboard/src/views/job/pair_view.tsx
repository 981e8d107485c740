// Two parameters against each other, the objective as colour.
import type { JSX } from 'preact';
import { useMemo } from 'preact/hooks';
import { getSurface } from '../../api/routes.ts';
import { formatCount, formatShare } from '../../data/numbers.ts';
import { valueOf } from '../../data/trials.ts';
import { useLoaded } from '../../parts/use_loaded.ts';
import { sheetOf } from '../../plot/surface.ts';
import type { Importance } from '../../api/shapes.ts';
import type { Parameter } from '../../data/space.ts';
import { pairScene } from '../../plot/pair_scene.ts';
import { Plot } from '../../plot/plot.tsx';
import { choose, chosen } from '../../state/place.ts';
import { useJob } from './context.ts';

function chosenPair(parameters: readonly Parameter[], importance: Importance | null): [Parameter, Parameter] {
  const byName = (name: string | undefined): Parameter | undefined => parameters.find((parameter) => parameter.name === name);
  const first = importance?.interactions[0];
  const a = byName(chosen('a')) ?? byName(first?.first) ?? (parameters[0] as Parameter);
  const b = byName(chosen('b')) ?? byName(first?.second) ?? (parameters[1] as Parameter);
  return a === b ? [a, parameters.find((parameter) => parameter !== a) as Parameter] : [a, b];
}

export function PairView({ parameters, importance }: { parameters: readonly Parameter[]; importance: Importance | null }): JSX.Element {
  const { store, job, table, shownRows } = useJob();
  const [a, b] = chosenPair(parameters, importance);
  const rows = shownRows.value;
  const loaded = useLoaded(() => getSurface(store.key, a.name, b.name), [a.name, b.name, importance]);
  const surface = loaded.value.value ?? null;
  const sheet = useMemo(() => (surface && surface.x === a.name && surface.y === b.name ? sheetOf(surface, a, b) : null), [surface, a, b]);
  const scene = useMemo(() => pairScene({ job, table, rows, a, b, sheet }), [rows, a, b, sheet]);
  const cellOf = (parameter: Parameter, trial: number): string | number | boolean | null => table.parameters.get(parameter.name)?.[table.find(trial) ?? -1] ?? null;
  return (
    <Plot
      title="Two parameters"
      finding={`${a.name} and ${b.name}, ${formatCount(rows.length, 'trial')}`}
      height={330}
      scene={scene}
      file={`${job.name}-${a.name}-${b.name}`}
      table={() => ({
        columns: ['trial', a.name, b.name, job.objective.metric],
        rows: rows.map((row) => [row.number, cellOf(a, row.number), cellOf(b, row.number), valueOf(row)]),
      })}
      tools={
        <>
          <Choice label="Horizontal" name="a" parameters={parameters} value={a.name} />
          <Choice label="Vertical" name="b" parameters={parameters} value={b.name} />
        </>
      }
      note={
        <>
          The darker (in a dark theme, the lighter) a mark, the better the trial.
          {sheet && ` Behind them the model's mean over all values of the other parameters; it explains ${formatShare(Math.max(0, sheet.surface.explained))} of trials that it has not seen.`}
        </>
      }
    />
  );
}

function Choice({ label, name, parameters, value }: { label: string; name: string; parameters: readonly Parameter[]; value: string }): JSX.Element {
  return (
    <select aria-label={label} value={value} onChange={(event) => choose({ [name]: event.currentTarget.value })}>
      {parameters.map((parameter) => <option value={parameter.name}>{parameter.name}</option>)}
    </select>
  );
}
