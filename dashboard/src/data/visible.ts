// Which trials the filter and the brushes leave, by row.
import type { Brush } from '../state/selection.ts';
import { parseFilter } from './filter.ts';
import type { Parameter } from './space.ts';
import type { TrialTable } from './trials.ts';

export interface Visible {
  mask: Uint8Array; // 1: shown
  count: number;
  fault: string | null; // of the filter; then it filters nothing
}

export function visibleTrials(table: TrialTable, parameters: readonly Parameter[], filter: string, brushes: readonly Brush[]): Visible {
  const names = new Set([...table.parameters.keys(), ...parameters.map((parameter) => parameter.name)]);
  const parsed = parseFilter(filter, names);
  const tests = [parsed.ok ? parsed.test(table) : () => true, ...brushes.map((brush) => brushTest(table, parameters, brush))];
  const mask = new Uint8Array(table.count);
  let count = 0;
  for (let index = 0; index < mask.length; index += 1) {
    if (!tests.every((test) => test(index))) continue;
    mask[index] = 1;
    count += 1;
  }
  return { mask, count, fault: parsed.ok ? null : parsed.message };
}

function brushTest(table: TrialTable, parameters: readonly Parameter[], { name, from, to }: Brush): (index: number) => boolean {
  if (name === 'objective') {
    const values = table.objectives();
    return (index) => (values[index] as number) >= from && (values[index] as number) <= to;
  }
  const parameter = parameters.find((one) => one.name === name);
  if (!parameter || !table.parameters.has(name)) return () => true;
  const places = table.placesOf(parameter);
  return (index) => (places[index] as number) >= from && (places[index] as number) <= to;
}
