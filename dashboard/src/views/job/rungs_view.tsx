import type { JSX } from 'preact';
import { useEffect, useMemo } from 'preact/hooks';
import { numberOf } from '../../data/numbers.ts';
import { marksMost } from '../../plot/marks.ts';
import { bracketHeight, isOutside, rungsScene } from '../../plot/rungs_scene.ts';
import { Plot } from '../../plot/plot.tsx';
import { useJob } from './context.ts';

const bracketsMost = 12; // a job that goes on for ever has hundreds

export function RungsView(): JSX.Element {
  const { store, job, table, shownRows } = useJob();
  useEffect(() => { void store.decisions.want(); }, [store, table]);
  const rungs = store.summary.value?.plan.actual ?? [];
  const rows = shownRows.value;
  const version = store.decisions.version.value;
  const all = [...new Set(rungs.map((rung) => rung.bracket))].sort((a, b) => a - b);
  const begun = new Set(rungs.filter((rung) => rung.reached > 0).map((rung) => rung.bracket));
  const brackets = [...all.filter((one) => begun.has(one)).slice(-bracketsMost), ...all.filter((one) => !begun.has(one))].slice(0, bracketsMost);
  const decisions = useMemo(() => [...store.decisions.all], [version]);
  const scene = useMemo(() => {
    const shown = new Set(rows.map((row) => row.number));
    return rungsScene({ job, rungs, decisions, brackets, shown: (trial) => shown.has(trial) });
  }, [rungs, decisions, rows, brackets.join()]);
  const went = decisions.filter((decision) => decision.verdict === 'promoted').length;
  const cut = decisions.filter((decision) => decision.verdict === 'stopped').length;
  if (brackets.length === 0) return <p class="muted">No bracket has begun yet.</p>;
  return (
    <Plot
      title="Brackets and rungs"
      finding={`${brackets.length} brackets; ${went} times a trial went on, ${cut} were stopped`}
      height={brackets.length * bracketHeight(brackets.length)}
      scene={scene}
      file={`${job.name}-rungs`}
      table={() => ({
        columns: ['bracket', 'rung', job.resource_name, 'trial', job.objective.metric, 'verdict', 'rank', 'of', 'value at the line'],
        rows: decisions.map((one) => [one.bracket, one.rung, one.resource, one.trial, one.value === null ? null : numberOf(one.value), one.verdict, one.rank, one.filled, one.cutoff === null ? null : numberOf(one.cutoff)]),
      })}
      note={
        <>
          The better a value, the higher it stands. Discs went on or finished, triangles were stopped, squares wait; the dashed line is the last value that went on. Select a trial to read why.
          {rungs.some((rung) => rung.reached > marksMost) && ` Of a rung with more than ${marksMost.toLocaleString('en')} trials all are squares, and the colour tells.`}
          {decisions.some(isOutside) && ' Pale marks are outside of the constraints: whatever meets them is ahead.'}
          {all.length > brackets.length && ` ${brackets.length} of ${all.length} brackets: the last of the ${begun.size} that have begun.`}
        </>
      }
    />
  );
}
