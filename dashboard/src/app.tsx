// The frame of every page, and which page it is.
import type { JSX } from 'preact';
import { reportedJob, tokenWanted, transport } from './api/transport.ts';
import { Panel } from './parts/notice.tsx';
import { chosen, hrefOf, place } from './state/place.ts';
import { chooseTheme, themeChoice, type ThemeChoice } from './state/theme.ts';
import { ComparePage } from './views/compare/compare_page.tsx';
import { HomePage } from './views/home/home_page.tsx';
import { JobPage } from './views/job/job_page.tsx';
import { WorkersPage } from './views/workers/workers_page.tsx';
import { SubmitPage } from './views/submit/submit_page.tsx';
import { TokenForm } from './views/session/token_form.tsx';

const themes: Record<ThemeChoice, { next: ThemeChoice; caption: string }> = {
  auto: { next: 'light', caption: 'Theme: as the system' },
  light: { next: 'dark', caption: 'Theme: light' },
  dark: { next: 'auto', caption: 'Theme: dark' },
};

function Page(): JSX.Element {
  const [kind = '', name] = place.value.path;
  if (reportedJob !== null && name === undefined) return <JobPage name={reportedJob} />;
  if (kind === 'jobs' && name !== undefined) return <JobPage key={name} name={name} />;
  if (kind === 'compare') return <ComparePage />;
  if (kind === 'workers') return <WorkersPage />;
  if (kind === 'new') return <SubmitPage key={['like', 'trial', 'mode'].map((field) => chosen(field)).join()} />;
  return <HomePage />;
}

export function App(): JSX.Element {
  const theme = themes[themeChoice.value];
  const here = place.value.path[0] ?? '';
  return (
    <>
      <a class="skip" href="#main" onClick={(event) => { event.preventDefault(); document.getElementById('main')?.focus(); }}>Skip to the content</a>
      <header class="top">
        <a class="brand" href={hrefOf([])}>
          <svg width="22" height="22" viewBox="0 0 22 22" aria-hidden="true">
            <path d="M2 18V4M8 18V8M14 18v-6M20 18v-2" stroke="currentColor" stroke-width="3" stroke-linecap="round" />
          </svg>
          Tuneband
        </a>
        {transport.live && (
          <nav aria-label="Main">
            <a href={hrefOf([])} aria-current={here === '' ? 'page' : undefined}>Jobs</a>
            <a href={hrefOf(['workers'])} aria-current={here === 'workers' ? 'page' : undefined}>Workers</a>
            <a href={hrefOf(['compare'])} aria-current={here === 'compare' ? 'page' : undefined}>Compare</a>
            <a href={hrefOf(['new'])} aria-current={here === 'new' ? 'page' : undefined}>New job</a>
          </nav>
        )}
        <button type="button" class="quiet theme" onClick={() => chooseTheme(theme.next)} title={theme.caption} aria-label={theme.caption}>◐</button>
      </header>
      <main id="main" tabIndex={-1}><Panel key={place.value.path.slice(0, 2).join('/')}>{tokenWanted.value ? <TokenForm /> : <Page />}</Panel></main>
    </>
  );
}
