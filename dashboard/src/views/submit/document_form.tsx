// The fields of a job document that most jobs set; the others are in the document itself.
import type { JSX } from 'preact';
import { useSignal } from '@preact/signals';
import type { Fault, JobDocument, ParameterDocument, ParameterValue } from '../../api/shapes.ts';
import { fieldOf, withField } from '../../data/documents.ts';
import { TextInput } from '../../parts/text_input.tsx';

export interface FormProps {
  document: JobDocument;
  faults: readonly Fault[];
  change: (document: JobDocument) => void;
}

interface FieldProps extends FormProps {
  path: readonly string[];
  label: string;
  kind: 'text' | 'number' | readonly string[];
}

function Field({ document, faults, change, path, label, kind }: FieldProps): JSX.Element {
  const value = fieldOf(document, path);
  const id = path.join('.');
  const bad = faults.some((fault) => fault.path === id);
  const set = (text: string): void => {
    const next = text === '' ? undefined : kind === 'number' && Number.isFinite(Number(text)) ? Number(text) : text;
    change(withField(document, path, next) as JobDocument);
  };
  const shown = value === undefined || value === null ? '' : String(value);
  return (
    <label class="field">
      <span>{label}</span>
      {Array.isArray(kind) ? (
        <select value={shown} aria-invalid={bad} onChange={(event) => set(event.currentTarget.value)}>
          {!kind.includes(shown) && <option value={shown}>{shown}</option>}
          {kind.map((option) => <option value={option}>{option === '' ? 'default' : option.replaceAll('_', ' ')}</option>)}
        </select>
      ) : (
        <TextInput inputMode={kind === 'number' ? 'decimal' : 'text'} value={shown} aria-invalid={bad} taken="typed" take={set} />
      )}
    </label>
  );
}

const schedulers = ['', 'auto', 'hyperband', 'successive_halving', 'asha_promotion', 'asha_stopping', 'asha_delayed', 'async_hyperband', 'median_stopping', 'pasha', 'none'];
const samplers = ['', 'auto', 'random', 'sobol', 'grid', 'tpe', 'bohb', 'random_forest', 'gp'];

export function DocumentForm(props: FormProps): JSX.Element {
  const field = (path: string, label: string, kind: FieldProps['kind']): JSX.Element => <Field {...props} path={path.split('.')} label={label} kind={kind} />;
  return (
    <>
      <fieldset>
        <legend>Job</legend>
        {field('name', 'Name', 'text')}
        {props.document['objectives'] === undefined && field('objective.metric', 'Metric', 'text')}
        {props.document['objectives'] === undefined && field('objective.goal', 'Goal', ['maximize', 'minimize'])}
      </fieldset>
      <SpaceForm {...props} />
      <fieldset>
        <legend>Search</legend>
        {field('scheduler.type', 'Scheduler', schedulers)}
        {field('sampler.type', 'Sampler', samplers)}
        {field('scheduler.min_resource', 'Min resource', 'number')}
        {field('scheduler.max_resource', 'Max resource', 'number')}
        {field('scheduler.eta', 'Reduction factor (eta)', 'number')}
        {field('limits.max_trials', 'Max trials', 'number')}
        {field('limits.max_parallel_trials', 'Max parallel trials', 'number')}
        {field('limits.max_runtime_seconds', 'Max runtime, seconds', 'number')}
      </fieldset>
    </>
  );
}

const domainTypes = ['float', 'int', 'categorical'] as const;

function SpaceForm({ document, faults, change }: FormProps): JSX.Element {
  const space = document.search_space ?? {};
  const put = (name: string, domain: ParameterDocument | undefined): void => change(withField(document, ['search_space', name], domain) as JobDocument);
  const refused = useSignal('');
  const rename = (from: string, to: string): void => {
    const taken = to !== from && Object.hasOwn(space, to);
    const why = to === '' ? 'a parameter has one' : taken ? `there is a parameter ${to}` : '';
    refused.value = why === '' ? '' : `${from} keeps its name: ${why}`;
    if (to === from || why !== '') return;
    const renamed = Object.fromEntries(Object.entries(space).map(([name, domain]) => [name === from ? to : name, domain]));
    change({ ...document, search_space: renamed });
  };
  const add = (): void => {
    let name = 'parameter';
    for (let count = 2; Object.hasOwn(space, name); count += 1) name = `parameter_${count}`;
    put(name, { type: 'float', min: 0, max: 1 });
  };
  return (
    <fieldset class="space">
      <legend>Search space</legend>
      {Object.entries(space).map(([name, domain]) => (
        <DomainRow key={name} name={name} domain={domain} faults={faults} put={(next) => put(name, next)} rename={(to) => rename(name, to)} />
      ))}
      {refused.value !== '' && <p class="fault" role="alert">{refused.value}</p>}
      <button type="button" class="small" onClick={add}>Add a parameter</button>
    </fieldset>
  );
}

interface DomainProps {
  name: string;
  domain: ParameterDocument;
  faults: readonly Fault[];
  put: (domain: ParameterDocument | undefined) => void;
  rename: (name: string) => void;
}

function asNumber(text: string): number | string {
  return text.trim() !== '' && Number.isFinite(Number(text)) ? Number(text) : text;
}

// Values are written with commas between them; where one of them has a comma or would lose its spaces, as JSON.
const isPlain = (value: ParameterValue): boolean => typeof value !== 'string' || (value !== '' && value === value.trim() && !/[,"]/.test(value));
const textOf = (values: readonly ParameterValue[]): string =>
  (values.every(isPlain) ? values.map(String) : values.map((value) => JSON.stringify(value))).join(', ');

function valuesOfJson(text: string): ParameterValue[] | null {
  try {
    return text.includes('"') ? JSON.parse(`[${text}]`) as ParameterValue[] : null;
  } catch {
    return null;
  }
}

// Of those that were there each stays what it was: a text of digits, or true.
function valuesOf(text: string, before: readonly ParameterValue[]): ParameterValue[] {
  const asJson = valuesOfJson(text);
  if (asJson) return asJson;
  const booleans = before.some((value) => typeof value === 'boolean');
  return text.split(',').map((one) => {
    const word = one.trim();
    const known = before.find((value) => String(value) === word);
    if (known !== undefined) return known;
    return booleans && (word === 'true' || word === 'false') ? word === 'true' : asNumber(word);
  });
}

function DomainRow({ name, domain, faults, put, rename }: DomainProps): JSX.Element {
  const bad = (field: string): boolean => faults.some((fault) => fault.path === `search_space.${name}${field === '' ? '' : `.${field}`}`);
  const isDomain = typeof domain === 'object' && domain !== null;
  const retype = (type: string): void => {
    const when = domain['when'] === undefined ? {} : { when: domain['when'] };
    put({ ...(type === 'categorical' ? { type, values: ['a', 'b'] } : { type, min: domain.min ?? 0, max: domain.max ?? 1 }), ...when } as ParameterDocument);
  };
  const input = (field: 'min' | 'max' | 'step'): JSX.Element => (
    <TextInput inputMode="decimal" aria-label={`${name}: ${field}`} aria-invalid={bad(field)} value={String(domain[field] ?? '')}
      placeholder={field} taken="typed" take={(text) => put(withField(domain, [field], text.trim() === '' ? undefined : asNumber(text)) as ParameterDocument)} />
  );
  return (
    <div class="domain">
      <TextInput aria-label={`Name of ${name}`} aria-invalid={bad('')} value={name} take={rename} />
      {isDomain ? (
        <>
          <select aria-label={`${name}: type`} value={domain.type} onChange={(event) => retype(event.currentTarget.value)}>
            {domainTypes.map((type) => <option value={type}>{type}</option>)}
          </select>
          {domain.type === 'categorical' ? (
            <>
              <TextInput class="values" aria-label={`${name}: values`} aria-invalid={bad('values')} value={textOf(domain.values ?? [])}
                take={(text) => put({ ...domain, values: valuesOf(text, domain.values ?? []) } as ParameterDocument)} />
              <select aria-label={`${name}: order`} aria-invalid={bad('ordered')} value={domain.ordered === true ? 'ordered' : 'any order'}
                title="Ordered: neighbours in the list are alike, as of batch sizes 16, 32, 64"
                onChange={(event) => put({ ...domain, ordered: event.currentTarget.value === 'ordered' })}>
                {['any order', 'ordered'].map((order) => <option value={order}>{order}</option>)}
              </select>
            </>
          ) : (
            <>
              {input('min')}
              {input('max')}
              {input('step')}
              <select aria-label={`${name}: scale`} aria-invalid={bad('scale')} value={domain.scale ?? 'linear'}
                onChange={(event) => put({ ...domain, scale: event.currentTarget.value })}>
                {(domain.type === 'float' ? ['linear', 'log', 'reverse_log'] : ['linear', 'log']).map((scale) => <option value={scale}>{scale.replaceAll('_', ' ')}</option>)}
              </select>
            </>
          )}
        </>
      ) : <span class="muted wide">always {String(domain)}</span>}
      <button type="button" class="quiet" aria-label={`Remove ${name}`} onClick={() => put(undefined)}>×</button>
    </div>
  );
}
