// What a document would do: its brackets, its cost, and how long that takes.
import type { JSX } from 'preact';
import { useSignal, type Signal } from '@preact/signals';
import type { Plan } from '../../api/shapes.ts';
import type { ApiError } from '../../api/transport.ts';
import { formatCount, formatDuration, formatShare } from '../../data/numbers.ts';
import { planNotes } from '../../data/plan.ts';

const bracketsShown = 12;
const workersMost = 10_000; // that a forecast is made for
const unitSecondsMost = 1e7;

interface PreviewProps {
  plan: Plan | null;
  lost: ApiError | null; // why there is none, when it is not the document
  faulty: boolean;
  workers: Signal<number>;
  unitSeconds: Signal<number>;
}

function whyNoPlan(lost: ApiError | null, faulty: boolean): string {
  if (lost) return `Nothing yet: ${lost.message}. It is asked again.`;
  return faulty ? 'Nothing yet: the document has faults.' : 'It is being made.';
}

interface ForecastFieldProps {
  label: string;
  target: Signal<number>;
  step: number | 'any';
  takes: (value: number) => boolean;
  expected: string;
}

// What it does not take stays in the field, which says so: the forecast is the one before, and the document is none the worse.
function ForecastField({ label, target, step, takes, expected }: ForecastFieldProps): JSX.Element {
  const typed = useSignal(String(target.peek()));
  const bad = !takes(Number(typed.value));
  const take = (text: string): void => {
    typed.value = text;
    if (takes(Number(text))) target.value = Number(text);
  };
  return (
    <div>
      <label class="field"><span>{label}</span><input type="number" min={0} step={step} value={typed.value} aria-invalid={bad} onInput={(event) => take(event.currentTarget.value)} /></label>
      {bad && <p class="fault" role="alert">expected {expected}</p>}
    </div>
  );
}

export function PlanPreview({ plan, lost, faulty, workers, unitSeconds }: PreviewProps): JSX.Element {
  return (
    <section class="card" aria-label="Plan">
      <h2>What it will do</h2>
      <div class="buttons">
        <ForecastField label="Workers" target={workers} step={1} takes={(value) => Number.isInteger(value) && value >= 1 && value <= workersMost} expected={`a whole number from 1 to ${workersMost}`} />
        <ForecastField label="Seconds a unit" target={unitSeconds} step="any" takes={(value) => value > 0 && value <= unitSecondsMost} expected={`a number above 0, at most ${unitSecondsMost}`} />
      </div>
      {plan ? <PlanTable plan={plan} /> : <p class="muted">{whyNoPlan(lost, faulty)}</p>}
    </section>
  );
}

// None is counted where it depends on the workers.
function trialsAt(bracket: Plan['brackets'][number], resource: number): number | string {
  const rung = bracket.rungs.find((one) => one.resource === resource);
  return rung ? rung.trials || '-' : '';
}

function PlanTable({ plan }: { plan: Plan }): JSX.Element {
  const saved = plan.total_resource_without_stopping > 0 ? 1 - plan.total_resource / plan.total_resource_without_stopping : 0;
  const about = plan.exact ? '' : 'about ';
  return (
    <div data-testid="plan">
      <p><b>{plan.trials === null ? 'Trials until a limit ends it' : formatCount(plan.trials, 'trial')}</b>, {about}{plan.total_resource} units of resource; without stopping {plan.total_resource_without_stopping}: <b>{formatShare(Math.max(0, saved))}</b> saved.</p>
      {plan.forecast && (
        <p>
          <b>{formatDuration(plan.forecast.wall_seconds)}</b> with {formatCount(plan.forecast.workers, 'worker')}; without stopping {formatDuration(plan.forecast.wall_seconds_without_stopping)}.
        </p>
      )}
      {planNotes(plan).map((note) => <p class="muted">{note}</p>)}
      <div class="scroll" tabIndex={0} role="region" aria-label="Brackets of the plan">
        <table class="plain">
          <thead><tr><th scope="col">bracket</th>{plan.ladder.map((resource) => <th scope="col" class="number">{resource}</th>)}</tr></thead>
          <tbody>
            {plan.brackets.slice(0, bracketsShown).map((bracket) => (
              <tr>
                <th scope="row">{bracket.index}</th>
                {plan.ladder.map((resource) => <td class="number">{trialsAt(bracket, resource)}</td>)}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {plan.brackets.length > bracketsShown && <p class="muted">and {plan.brackets.length - bracketsShown + (plan.brackets_left_out ?? 0)} more brackets</p>}
    </div>
  );
}
