import type { JSX } from 'preact';
import { useMemo } from 'preact/hooks';
import { formatCount } from '../../data/numbers.ts';
import type { Parameter } from '../../data/space.ts';
import { valueOf, type TrialTable } from '../../data/trials.ts';
import { linesMost, parallelScene } from '../../plot/parallel_scene.ts';
import { Plot } from '../../plot/plot.tsx';
import { swept } from '../../plot/scene.ts';
import { Menu } from '../../parts/menu.tsx';
import { choose, chosen } from '../../state/place.ts';
import { brushes, setBrush } from '../../state/selection.ts';
import { useJob } from './context.ts';

const title = 'Parallel coordinates';
const axesAtFirst = 12;

// In the order of the address, else of the document; a parameter that never varied tells nothing.
function shownAxes(parameters: readonly Parameter[], table: TrialTable): Parameter[] {
  const wanted = chosen('axes').split(',').filter((name) => name !== '');
  if (wanted.length > 0) return wanted.flatMap((name) => parameters.find((parameter) => parameter.name === name) ?? []);
  const varies = (parameter: Parameter): boolean => table.derive(`varies ${parameter.name}`, () => new Set(table.parameters.get(parameter.name) ?? []).size > 1);
  const varied = table.count > 1 ? parameters.filter(varies) : [...parameters];
  return varied.slice(0, axesAtFirst);
}

export function ParallelView({ height }: { height: number }): JSX.Element {
  const { store, job, table, visible } = useJob();
  const version = table.version.value;
  const axes = shownAxes(store.parameters.value, table);
  const names = axes.map((axis) => axis.name).join(',');
  const draft = swept.value === title;
  const scene = useMemo(
    () =>
      parallelScene({
        job, table, parameters: axes, mask: visible.value.mask, draft, brushes: brushes.value, brush: setBrush,
        reorder: (order) => choose({ axes: order.join(',') }),
      }),
    [version, names, visible.value, brushes.value, draft],
  );
  const count = visible.value.count;
  return (
    <Plot
      title={title}
      finding={`${formatCount(count, 'trial')} over ${formatCount(axes.length, 'parameter')}`}
      height={height}
      scene={scene}
      file={`${job.name}-parallel`}
      table={() => {
        const rows: (string | number | boolean | null)[][] = [];
        visible.value.mask.forEach((one, index) => {
          if (one === 0) return;
          const row = table.rows[index];
          rows.push([row?.number ?? null, ...axes.map((axis) => table.parameters.get(axis.name)?.[index] ?? null), row ? valueOf(row) : null]);
        });
        return { columns: ['trial', ...axes.map((axis) => axis.name), job.objective.metric], rows };
      }}
      tools={<AxesMenu all={store.parameters.value} shown={axes} />}
      note={
        <>
          Sweep along an axis to keep what lies there, in every view; sweep a name to move its axis.
          {count > linesMost && ` ${count} trials are drawn as density, the best 200 as lines.`}
          {axes.length < store.parameters.value.length && ` ${axes.length} of ${store.parameters.value.length} parameters have an axis.`}
        </>
      }
    />
  );
}

function AxesMenu({ all, shown }: { all: readonly Parameter[]; shown: readonly Parameter[] }): JSX.Element {
  const names = shown.map((parameter) => parameter.name);
  const toggle = (name: string): void => {
    const next = names.includes(name) ? names.filter((other) => other !== name) : [...names, name];
    choose({ axes: next.join(',') });
  };
  return (
    <Menu label="Choose axes" caption="Axes">
      <div class="checks">
        {all.map(({ name }) => <label><input type="checkbox" checked={names.includes(name)} onChange={() => toggle(name)} /> {name}</label>)}
        <button type="button" onClick={() => choose({ axes: null })}>As at first</button>
      </div>
    </Menu>
  );
}
