// A choice of a few, kept in the address.
import type { JSX } from 'preact';
import { choose, chosen } from '../state/place.ts';

export interface SwitchProps {
  label: string;
  name: string; // in the address
  options: readonly (readonly [value: string, caption: string])[]; // the first is meant when the address says nothing
}

export function chosenOption(name: string, options: SwitchProps['options']): string {
  const value = chosen(name);
  return options.some(([one]) => one === value) ? value : (options[0]?.[0] ?? '');
}

export function Switch({ label, name, options }: SwitchProps): JSX.Element {
  const current = chosenOption(name, options);
  return (
    <div class="switch" role="group" aria-label={label}>
      {options.map(([value, caption], place) => (
        <button type="button" aria-pressed={value === current} onClick={() => choose({ [name]: place === 0 ? null : value })}>{caption}</button>
      ))}
    </div>
  );
}

// The scale of an axis: `x` and `y` in the address.
export const xLinearOrLog = [['linear', 'linear x'], ['log', 'log x']] as const;
export const xLogOrLinear = [['log', 'log x'], ['linear', 'linear x']] as const;
export const yLinearOrLog = [['linear', 'linear y'], ['log', 'log y']] as const;
