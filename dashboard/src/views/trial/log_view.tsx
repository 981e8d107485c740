// What a trial printed: the end of it at first, followed while it runs, searched by a word.
import type { JSX } from 'preact';
import { useSignal } from '@preact/signals';
import { useEffect, useMemo, useRef } from 'preact/hooks';
import { logPath, logTail } from '../../api/routes.ts';
import { transport } from '../../api/transport.ts';
import { choose, chosen } from '../../state/place.ts';

const tailBytes = 256 * 1024;
const keptBytes = 1024 * 1024;
const linesMost = 5_000;
const againMs = 2_000;

// Ends when the trial or the server does, or when `signal` says so.
async function follow(path: string, add: (text: string) => void, signal: AbortSignal): Promise<void> {
  const reply = await fetch(`${path}&follow=true&tail=${tailBytes}`, { signal });
  if (!reply.ok || !reply.body) throw new Error(`the server answered ${reply.status}`);
  const reader = reply.body.pipeThrough(new TextDecoderStream()).getReader();
  for (let piece = await reader.read(); !piece.done; piece = await reader.read()) add(piece.value);
}

// Again and again until `signal`: a server that ends breaks it off while the trial goes on.
async function followOn(path: string, begin: () => void, add: (text: string) => void, failed: (error: unknown) => void, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    begin();
    await follow(path, add, signal).catch(failed);
    await new Promise((resolve) => { setTimeout(resolve, againMs); });
  }
}

interface LogProps {
  job: string;
  trial: number;
  running: boolean;
  ranks: number; // workers that train it together, each with a log
}

export function LogView({ job, trial, running, ranks }: LogProps): JSX.Element {
  const wanted = Number(chosen('rank'));
  const rank = wanted > 0 && wanted < ranks ? wanted : 0;
  const text = useSignal('');
  const fault = useSignal('');
  const search = useSignal('');
  const stick = useSignal(true);
  const box = useRef<HTMLPreElement>(null);

  useEffect(() => {
    const stop = new AbortController();
    text.value = '';
    fault.value = '';
    const failed = (error: unknown): void => {
      if (!stop.signal.aborted) fault.value = error instanceof Error ? error.message : String(error);
    };
    const add = (piece: string): void => { text.value = (text.peek() + piece).slice(-keptBytes); };
    if (running && transport.live) {
      void followOn(logPath(job, trial, rank), () => { text.value = ''; fault.value = ''; }, add, failed, stop.signal);
    } else {
      logTail(job, trial, rank, tailBytes).then((all) => { if (!stop.signal.aborted) text.value = all; }, failed);
    }
    return () => stop.abort();
  }, [job, trial, running, rank]);

  const lines = useMemo(() => {
    const all = text.value.split('\n');
    const word = search.value.toLowerCase();
    const found = word === '' ? all : all.filter((line) => line.toLowerCase().includes(word));
    return { all: all.length, found: found.slice(-linesMost) };
  }, [text.value, search.value]);
  useEffect(() => {
    if (stick.value && box.current) box.current.scrollTop = box.current.scrollHeight;
  }, [lines]);

  return (
    <section class="plot" aria-label="Log">
      <header class="plot-head">
        <h3>Log</h3>
        <div class="plot-tools">
          {ranks > 1 && (
            <select aria-label="Rank" value={String(rank)} onChange={(event) => choose({ rank: event.currentTarget.value === '0' ? null : event.currentTarget.value })}>
              {Array.from({ length: ranks }, (_, one) => <option value={String(one)}>rank {one}</option>)}
            </select>
          )}
          <label class="filter small"><span>Find</span><input type="search" value={search.value} onInput={(event) => { search.value = event.currentTarget.value; }} /></label>
          {running && <label><input type="checkbox" checked={stick.value} onChange={() => { stick.value = !stick.value; }} /> follow</label>}
          {transport.live && <a class="button small" href={logPath(job, trial, rank)} download={`${job}-${trial}${rank > 0 ? `-rank-${rank}` : ''}.log`}>Download</a>}
        </div>
      </header>
      {fault.value !== '' && <p class="fault" role="alert">{fault.value}</p>}
      <pre class="code log" ref={box} tabIndex={0} role="region" aria-label={`Log of trial ${trial}`}>
        {text.value === '' ? 'Nothing was printed.' : lines.found.join('\n')}
      </pre>
      {search.value !== '' && <p class="plot-note">{lines.found.length} of {lines.all} lines</p>}
    </section>
  );
}
