// The search space as axes: which values a parameter can have, and how they are laid out.
import type { ParameterDocument, ParameterValue } from '../api/shapes.ts';
import { formatValue } from './numbers.ts';

export type AxisScale = 'linear' | 'log' | 'reverse_log' | 'categories';

export interface Parameter {
  name: string;
  scale: AxisScale;
  integer: boolean;
  min: number; // of a number
  max: number;
  values: ParameterValue[]; // of categories, in the document's order
}

function parameterOf(name: string, document: ParameterDocument | ParameterValue): Parameter | null {
  if (typeof document !== 'object') return null; // a value: always the same
  const numeric = document.type === 'float' || document.type === 'int';
  if (numeric && typeof document.min === 'number' && typeof document.max === 'number') {
    const scale = document.scale === 'log' || document.scale === 'reverse_log' ? document.scale : 'linear';
    return { name, scale, integer: document.type === 'int', min: document.min, max: document.max, values: [] };
  }
  const values = document.values ?? (document.value === undefined ? [] : [document.value]);
  return { name, scale: 'categories', integer: false, min: 0, max: Math.max(0, values.length - 1), values };
}

// Those that are searched: a fixed parameter explains nothing.
export function searchedParameters(space: Record<string, ParameterDocument>): Parameter[] {
  return Object.entries(space).flatMap(([name, document]) => {
    const parameter = parameterOf(name, document);
    return parameter && (parameter.scale === 'categories' ? parameter.values.length > 1 : parameter.max > parameter.min) ? [parameter] : [];
  });
}

// The place on the axis, 0 to 1; NaN where the configuration has no such parameter. `reverse_log` is fine near 1, as 1 - 10^-k.
export function placeOf(parameter: Parameter, value: ParameterValue | null | undefined): number {
  if (value === null || value === undefined) return NaN;
  if (parameter.scale === 'categories') {
    const index = parameter.values.indexOf(value);
    return index < 0 ? NaN : parameter.values.length === 1 ? 0.5 : index / (parameter.values.length - 1);
  }
  const { min, max } = parameter;
  const number = Number(value);
  if (parameter.scale === 'log') return Math.log(number / min) / Math.log(max / min);
  if (parameter.scale === 'reverse_log') return 1 - Math.log((1 - number) / (1 - max)) / Math.log((1 - min) / (1 - max));
  return (number - min) / (max - min);
}

// The value at a place on the axis: the inverse of placeOf.
export function valueAt(parameter: Parameter, place: number): ParameterValue {
  const { min, max, scale, values, integer } = parameter;
  if (scale === 'categories') return values[Math.round(place * (values.length - 1))] ?? '';
  const exact =
    scale === 'log' ? min * (max / min) ** place
    : scale === 'reverse_log' ? 1 - (1 - max) * ((1 - min) / (1 - max)) ** (1 - place)
    : min + place * (max - min);
  return integer ? Math.round(exact) : exact;
}

// Near 1 what is left to it is rounded: 0.9999 is not 1, which has no place on a scale of reverse_log.
function roundedFor({ scale }: Parameter, value: number): number {
  return scale === 'reverse_log' ? Number((1 - Number((1 - value).toPrecision(2))).toPrecision(12)) : Number(value.toPrecision(3));
}

const nearEnd = 0.05; // of an axis: a text there would touch that of the end

// Of a log scale over several powers of ten, these between its ends; [] of any other.
function powersOfTen(parameter: Parameter, most: number): number[] {
  const { scale, min, max } = parameter;
  if (scale !== 'log' || max / min < 100) return [];
  const [first, last] = [Math.ceil(Math.log10(min)), Math.floor(Math.log10(max))];
  const every = Math.ceil((last - first + 1) / (most - 2));
  const powers = Array.from({ length: Math.floor((last - first) / every) + 1 }, (_, index) => Number(`1e${first + index * every}`));
  return [min, ...powers.filter((power) => Math.abs(placeOf(parameter, power) - 0.5) < 0.5 - nearEnd), max];
}

// Places for about `count` + 1 ticks, and what they are called: whole numbers stand where they are.
export function ticksOf(parameter: Parameter, count: number, most: number): { place: number; text: string }[] {
  const powers = powersOfTen(parameter, most);
  if (powers.length > 0) return powers.map((value) => ({ text: formatValue(Number(value.toPrecision(3))), place: placeOf(parameter, value) }));
  const steps = parameter.scale === 'categories' ? Math.max(1, parameter.values.length - 1) : count;
  const every = Math.max(1, Math.ceil((steps + 1) / most));
  const ticks = new Map<string, number>();
  for (let step = 0; step <= steps; step += every) {
    const value = valueAt(parameter, step / steps);
    const rounded = typeof value === 'number' && !parameter.integer ? roundedFor(parameter, value) : value;
    ticks.set(formatValue(rounded), parameter.scale === 'categories' ? step / steps : placeOf(parameter, rounded));
  }
  return [...ticks].map(([text, place]) => ({ text, place }));
}
