import { render } from 'preact';
import { App } from './app.tsx';
import { applyTheme } from './state/theme.ts';

applyTheme();
render(<App />, document.getElementById('app') as HTMLElement);
