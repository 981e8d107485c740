// Job documents made from others.
import type { Configuration, JobDocument, ParameterDocument } from '../api/shapes.ts';
import { placeOf, searchedParameters, valueAt } from './space.ts';

type Json = unknown;
const isObject = (value: Json): value is Record<string, Json> => typeof value === 'object' && value !== null && !Array.isArray(value);

// The patch that makes `to` of `from` (RFC 7396): null takes a field away.
export function mergePatch(from: Json, to: Json): Json {
  if (!isObject(from) || !isObject(to)) return to;
  const patch: Record<string, Json> = {};
  for (const name of Object.keys(from)) if (!(name in to)) patch[name] = null;
  for (const [name, value] of Object.entries(to)) {
    if (!(name in from)) patch[name] = value;
    else if (JSON.stringify(from[name]) !== JSON.stringify(value)) patch[name] = mergePatch(from[name], value);
  }
  return patch;
}

const withoutStart = ({ enqueue: _enqueue, warm_start: _warmStart, ...rest }: JobDocument): JobDocument => rest as JobDocument;

// The same configuration once more, to the end.
export function documentAgain(document: JobDocument, configuration: Configuration, trial: number): JobDocument {
  const scheduler = { type: 'none', max_resource: (document['scheduler'] as { max_resource: number }).max_resource };
  return { ...withoutStart(document), name: namedAfter(document.name, `-trial-${trial}`), scheduler, limits: { max_trials: 1 }, enqueue: [configuration] };
}

// A name has at most 64 characters.
export const namedAfter = (name: string, suffix: string): string => `${name.slice(0, 64 - suffix.length)}${suffix}`;

const reach = 0.15; // of the whole range, to either side

// To steps and whole numbers outwards, and else to a few digits: near 1 where the scale is fine there.
function rounded([low, high]: [number, number], domain: ParameterDocument): [number, number] {
  const { min = low, max = high, step } = domain;
  if (typeof step === 'number') {
    const at = (steps: number): number => Number((min + steps * step).toPrecision(12));
    return [at(Math.floor((low - min) / step + 1e-9)), Math.min(max, at(Math.ceil((high - min) / step - 1e-9)))];
  }
  if (domain.type === 'int') return [Math.max(min, Math.floor(low)), Math.min(max, Math.ceil(high))];
  const isReverse = domain.scale === 'reverse_log';
  const near = (end: number, up: boolean): number =>
    isReverse ? Number((1 - outwards(1 - end, !up)).toPrecision(12)) : outwards(end, up);
  return [Math.max(min, near(low, false)), Math.min(max, near(high, true))];
}

// To four digits, and not inwards.
function outwards(end: number, up: boolean): number {
  const short = Number(end.toPrecision(4));
  if (up ? short >= end : short <= end) return short;
  const digit = 10 ** (Math.floor(Math.log10(Math.abs(end))) - 3);
  return Number((short + (up ? digit : -digit)).toPrecision(12));
}

// A space around a configuration; its own is tried first.
export function documentAround(document: JobDocument, configuration: Configuration, trial: number): JobDocument {
  const space: Record<string, ParameterDocument> = { ...document.search_space };
  for (const parameter of searchedParameters(document.search_space)) {
    const place = placeOf(parameter, configuration[parameter.name]);
    const before = space[parameter.name];
    if (parameter.scale === 'categories' || Number.isNaN(place) || !before) continue;
    const ends = [Math.max(0, place - reach), Math.min(1, place + reach)].map((end) => valueAt({ ...parameter, integer: false }, end) as number);
    const [min, max] = rounded(ends as [number, number], before);
    space[parameter.name] = { ...before, min, max };
  }
  const { candidates: _candidates, ...rest } = withoutStart(document); // mostly outside of it
  return { ...rest as JobDocument, name: namedAfter(document.name, `-around-${trial}`), search_space: space, enqueue: [configuration] };
}

// `value` at a path of names within a document; undefined takes it away.
export function withField(document: Json, path: readonly string[], value: Json): Json {
  const [name, ...rest] = path;
  if (name === undefined) return value;
  const object = isObject(document) ? { ...document } : {};
  const inner = withField(object[name], rest, value);
  if (inner === undefined) delete object[name];
  else object[name] = inner;
  return object;
}

export function fieldOf(document: Json, path: readonly string[]): Json {
  return path.reduce<Json>((value, name) => (isObject(value) ? value[name] : undefined), document);
}

// What earlier jobs saw may be thousands of results: whose they are says it.
function withoutObservations(document: Json): Json {
  const jobs = fieldOf(document, ['warm_start', 'jobs']);
  return jobs === undefined ? document : withField(document, ['warm_start'], jobs);
}

// The fields in which documents differ: a path, and each document's value there.
export function differences(documents: readonly Json[]): { path: string; values: Json[] }[] {
  const found: { path: string; values: Json[] }[] = [];
  const walk = (values: readonly Json[], path: string): void => {
    if (new Set(values.map((value) => JSON.stringify(value))).size < 2) return;
    if (!values.every(isObject)) {
      found.push({ path, values: [...values] });
      return;
    }
    for (const name of new Set(values.flatMap((value) => Object.keys(value)))) {
      walk(values.map((value) => value[name]), path === '' ? name : `${path}.${name}`);
    }
  };
  walk(documents.map(withoutObservations), '');
  return found;
}
