// A field of text that is taken when it is left: until then what is typed stays, whatever is drawn anew around it.
import type { JSX, TargetedEvent } from 'preact';
import { useSignal } from '@preact/signals';

interface TextInputProps {
  value: string;
  take: (text: string) => void;
  class?: string;
  placeholder?: string;
  inputMode?: 'text' | 'decimal' | 'numeric';
  'aria-label'?: string;
  'aria-invalid'?: boolean;
}

export function TextInput({ value, take, ...rest }: TextInputProps): JSX.Element {
  const typed = useSignal<string | null>(null);
  const onChange = (event: TargetedEvent<HTMLInputElement>): void => {
    typed.value = null;
    take(event.currentTarget.value);
  };
  return (
    <input {...rest} type="text" value={typed.value ?? value} onChange={onChange} onBlur={() => { typed.value = null; }}
      onInput={(event) => { typed.value = event.currentTarget.value; }} />
  );
}
