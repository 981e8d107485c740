import type { JSX } from 'preact';
import { CopyButton } from '../../parts/copy_button.tsx';
import { transport } from '../../api/transport.ts';
import { hrefOf } from '../../state/place.ts';
import { useJob } from './context.ts';

export function DocumentView(): JSX.Element {
  const { job } = useJob();
  const text = JSON.stringify(job.spec, null, 2);
  return (
    <section class="plot" aria-label="Document">
      <header class="plot-head">
        <h3>Document</h3>
        <div class="plot-tools">
          <CopyButton caption="Copy" text={() => text} />
          {transport.live && <a class="button small" href={hrefOf(['new'], { like: job.name })}>Make a job like it</a>}
        </div>
      </header>
      <pre class="code" tabIndex={0} role="region" aria-label="Job document">{text}</pre>
    </section>
  );
}
