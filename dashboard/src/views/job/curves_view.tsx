import type { JSX } from 'preact';
import { useEffect, useMemo } from 'preact/hooks';
import { curveDetails, type CurveDetail } from '../../api/routes.ts';
import { formatCount, formatNumber, numberOf } from '../../data/numbers.ts';
import { chosenOption, Switch, xLogOrLinear, yLinearOrLog } from '../../parts/switch.tsx';
import type { Table } from '../../parts/download.ts';
import type { ScaleKind } from '../../plot/axes.ts';
import { curvesScene } from '../../plot/curves_scene.ts';
import { Plot } from '../../plot/plot.tsx';
import { useJob } from './context.ts';

const ranges = [['near', 'without outliers'], ['whole', 'whole range']] as const;

export function CurvesView({ height, detail }: { height: number; detail: CurveDetail }): JSX.Element {
  const { store, job, table, shownRows, best } = useJob();
  useEffect(() => { void store.curves.wantDetail(detail); }, [store, table]);
  const x = chosenOption('x', xLogOrLinear) as ScaleKind;
  const y = chosenOption('y', yLinearOrLog) as ScaleKind;
  const whole = chosenOption('range', ranges) === 'whole';
  const version = store.curves.version.value;
  const { ladder, restarts } = store.summary.value?.plan ?? { ladder: [], restarts: false };
  const rows = shownRows.value;
  const scene = useMemo(
    () => curvesScene({ job, rows, curves: store.curves.curves, loaded: store.curves.loaded, best: best.value, ladder, x, y, whole }),
    [version, rows, best.value, x, y, whole, ladder.length],
  );
  const left = store.curves.leftOut.value;
  const numbers = (): Table => ({
    columns: ['trial', job.resource_name, job.objective.metric],
    rows: rows.flatMap((row) => {
      const curve = store.curves.curves.get(row.number);
      return curve ? curve.resource.map((resource, index) => [row.number, resource, curve.value[index] as number]) : [];
    }),
  });
  const top = store.summary.value?.best?.trial;
  const topValue = top?.kept_value ?? top?.objective ?? null;
  return (
    <Plot
      title="Learning curves"
      finding={top ? `${formatCount(rows.length, 'trial')}; the best is trial ${top.number} with ${formatNumber(topValue === null ? null : numberOf(topValue))}` : `${formatCount(rows.length, 'trial')}, none with a value yet`}
      height={height}
      scene={scene}
      table={numbers}
      file={`${job.name}-curves`}
      tools={
        <>
          <Switch label="Horizontal axis" name="x" options={xLogOrLinear} />
          {(detail === 'many' || y === 'log') && <Switch label="Vertical axis" name="y" options={yLinearOrLog} />}
          <Switch label="Range of values" name="range" options={ranges} />
        </>
      }
      note={
        <>
          Dotted lines are rungs.{restarts && ladder.length > 1 && ' Each rung is a training of its own, from nothing: a curve is that of the trial\'s last.'} Stopped trials are faint, trials under way dashed, the best one thick.
          {left > 0 && ` The curves of ${left} more trials are not drawn; the best ${curveDetails[detail].trials / 4} are.`}
        </>
      }
    />
  );
}
