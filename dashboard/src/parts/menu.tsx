// A button that opens a list of buttons: closed by a choice, by Escape, and by a click elsewhere.
import type { ComponentChildren, JSX } from 'preact';
import { useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';

export function Menu({ label, caption, children }: { label: string; caption: ComponentChildren; children: ComponentChildren }): JSX.Element {
  const open = useSignal(false);
  const box = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (!open.value) return;
    const outside = (event: Event): void => { if (!box.current?.contains(event.target as Node)) open.value = false; };
    document.addEventListener('pointerdown', outside);
    return () => document.removeEventListener('pointerdown', outside);
  }, [open.value]);
  const onKey = (event: KeyboardEvent): void => {
    if (event.key !== 'Escape' || !open.value) return;
    open.value = false;
    box.current?.querySelector('button')?.focus();
  };
  return (
    <div class="menu" ref={box} onKeyDown={onKey}>
      <button type="button" class="quiet" aria-label={label} title={label} aria-expanded={open.value} onClick={() => { open.value = !open.value; }}>
        {caption}
      </button>
      {open.value && (
        <div class="menu-list" onClick={(event) => { if ((event.target as HTMLElement).closest('button, a')) open.value = false; }}>
          {children}
        </div>
      )}
    </div>
  );
}
