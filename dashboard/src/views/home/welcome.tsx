// A server without jobs: how to begin.
import type { JSX } from 'preact';
import { createJob } from '../../api/routes.ts';
import { FaultNotice } from '../../parts/notice.tsx';
import { useAttempt } from '../../parts/use_attempt.ts';
import { go, hrefOf } from '../../state/place.ts';
import { exampleDocument } from './example.ts';

export function Welcome(): JSX.Element {
  const { busy, fault, run: submit } = useAttempt(async () => {
    const { job } = await createJob({ text: JSON.stringify(exampleDocument), baseDir: '/' });
    go(['jobs', job.name]);
  });
  return (
    <section class="card welcome" aria-label="How to begin">
      <h2>No job yet</h2>
      <p>A job says what to tune, by which metric, and what trains. Begin with an example that needs no data: a small function is minimized over two parameters, 27 trials, some seconds.</p>
      <div class="buttons">
        <button type="button" class="primary" disabled={busy.value} onClick={() => void submit()}>Run the example</button>
        <a class="button" href={hrefOf(['new'])}>Write a job</a>
      </div>
      {fault.value && <FaultNotice fault={fault.value} />}
      <p>Or from a shell:</p>
      <pre class="code">tuneband --server {window.location.origin} submit my-job.json</pre>
    </section>
  );
}
