// Light or dark: as the system says, unless the reader chose.
import { signal } from '@preact/signals';

export type ThemeChoice = 'auto' | 'light' | 'dark';

export interface Palette {
  text: string;
  muted: string;
  faint: string;
  grid: string;
  surface: string;
  accent: string;
  best: string;
  states: Record<string, string>;
  series: string[];
}

const key = 'tuneband.theme';
const dark = typeof window === 'undefined' ? null : window.matchMedia('(prefers-color-scheme: dark)');

function saved(): ThemeChoice {
  try {
    const text = localStorage.getItem(key);
    return text === 'light' || text === 'dark' ? text : 'auto';
  } catch {
    return 'auto'; // storage is closed to this page
  }
}

export const themeChoice = signal<ThemeChoice>(typeof window === 'undefined' ? 'light' : saved());
export const palette = signal<Palette>(readPalette());

export function chooseTheme(choice: ThemeChoice): void {
  themeChoice.value = choice;
  try {
    localStorage.setItem(key, choice);
  } catch {
    // It holds until the page is closed.
  }
  applyTheme();
}

export function applyTheme(): void {
  const isDark = !printing.value && (themeChoice.value === 'dark' || (themeChoice.value === 'auto' && dark?.matches === true));
  document.documentElement.dataset['theme'] = isDark ? 'dark' : 'light';
  palette.value = readPalette();
}

dark?.addEventListener('change', applyTheme);

// Paper is white. This comes before the plots are drawn for it: they listen later.
export const printing = signal(false);
if (typeof window !== 'undefined') {
  window.addEventListener('beforeprint', () => { printing.value = true; applyTheme(); });
  window.addEventListener('afterprint', () => { printing.value = false; applyTheme(); });
}

// The colours are said once, in the style sheet.
function readPalette(): Palette {
  const style = typeof window === 'undefined' ? null : getComputedStyle(document.documentElement);
  const color = (name: string): string => style?.getPropertyValue(`--${name}`).trim() || '#888888';
  const states = ['pending', 'running', 'paused', 'completed', 'stopped', 'failed', 'cancelled'];
  return {
    text: color('text'),
    muted: color('muted'),
    faint: color('faint'),
    grid: color('grid'),
    surface: color('surface'),
    accent: color('accent'),
    best: color('best'),
    states: Object.fromEntries(states.map((state) => [state, color(`state-${state}`)])),
    series: [1, 2, 3, 4, 5, 6].map((index) => color(`series-${index}`)),
  };
}
