// What stands in the place of every page until the server has been shown its token.
import type { JSX, TargetedSubmitEvent } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { beginSession } from '../../api/routes.ts';
import { useAttempt } from '../../parts/use_attempt.ts';

export function TokenForm(): JSX.Element {
  const input = useRef<HTMLInputElement>(null);
  const { busy, fault, run } = useAttempt(async () => { await beginSession(input.current?.value.trim() ?? ''); });
  useEffect(() => {
    document.title = 'Token – Tuneband';
    input.current?.focus();
  }, []);
  const onSubmit = (event: TargetedSubmitEvent<HTMLFormElement>): void => {
    event.preventDefault();
    void run();
  };
  return (
    <form class="token" onSubmit={onSubmit}>
      <h1>This server wants its token</h1>
      {fault.value && <p class="notice bad" role="alert">{fault.value.message}</p>}
      <label class="field"><span>Token</span>
        <input type="password" ref={input} required pattern="\s*[!-~]+\s*" title="one word, as it is in the file" autocomplete="current-password" aria-describedby="token-is" />
      </label>
      <p class="muted" id="token-is">It is in the file that the server was started with (--token-file). This browser is asked again when it, or the server, was started anew.</p>
      <button type="submit" class="primary" disabled={busy.value}>Go on</button>
    </form>
  );
}
