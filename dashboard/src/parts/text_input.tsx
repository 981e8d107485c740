// A field of text that is taken while it is typed, or when it is left; until it is left what is typed stays, whatever is drawn anew
// around it. That it is empty is taken when it is left: mostly another text follows.
import type { JSX, TargetedEvent } from 'preact';
import { useSignal } from '@preact/signals';

interface TextInputProps {
  value: string;
  take: (text: string) => void;
  taken?: 'typed' | 'left';
  class?: string;
  placeholder?: string;
  inputMode?: 'text' | 'decimal' | 'numeric';
  'aria-label'?: string;
  'aria-invalid'?: boolean;
}

export function TextInput({ value, take, taken = 'left', ...rest }: TextInputProps): JSX.Element {
  const typed = useSignal<string | null>(null);
  const onInput = (event: TargetedEvent<HTMLInputElement>): void => {
    typed.value = event.currentTarget.value;
    if (taken === 'typed' && event.currentTarget.value !== '') take(event.currentTarget.value);
  };
  const onChange = (event: TargetedEvent<HTMLInputElement>): void => {
    typed.value = null;
    take(event.currentTarget.value);
  };
  return <input {...rest} type="text" value={typed.value ?? value} onInput={onInput} onChange={onChange} onBlur={() => { typed.value = null; }} />;
}
