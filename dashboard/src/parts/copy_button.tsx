import type { JSX } from 'preact';
import { useSignal } from '@preact/signals';

const shownMs = 1500;

export function CopyButton({ caption, text }: { caption: string; text: () => string }): JSX.Element {
  const said = useSignal<string | null>(null);
  const copy = async (): Promise<void> => {
    try {
      await copyText(text());
      said.value = 'copied';
    } catch {
      said.value = 'the browser does not allow it';
    }
    setTimeout(() => { said.value = null; }, shownMs);
  };
  return <button type="button" class="small" onClick={() => void copy()}>{said.value ?? caption}</button>;
}

// A page that came by plain HTTP from another machine has no clipboard of its own: the old way works there.
async function copyText(text: string): Promise<void> {
  if (window.isSecureContext) return navigator.clipboard.writeText(text);
  const area = document.createElement('textarea');
  area.value = text;
  document.body.append(area);
  area.select();
  const done = document.execCommand('copy');
  area.remove();
  if (!done) throw new Error('not copied');
}
