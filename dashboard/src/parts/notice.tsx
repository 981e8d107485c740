// What went wrong, in the panel that it concerns.
import { Component, type ComponentChildren, type JSX } from 'preact';
import type { ApiError } from '../api/transport.ts';

export function FaultNotice({ fault }: { fault: ApiError }): JSX.Element {
  const path = fault.faults[0]?.path ?? '';
  return (
    <div class="notice bad" role="alert">
      <p>{path !== '' && !fault.message.includes(path) ? `${path}: ${fault.message}` : fault.message}</p>
      {fault.faults.filter((one) => one.hint !== '').map((one) => <p class="muted">{one.hint}</p>)}
    </div>
  );
}

// A panel that fails leaves the others alone.
export class Panel extends Component<{ children: ComponentChildren }, { failed: string | null }> {
  override state = { failed: null as string | null };

  static override getDerivedStateFromError(error: unknown): { failed: string } {
    return { failed: error instanceof Error ? error.message : String(error) };
  }

  override render(): ComponentChildren {
    if (this.state.failed === null) return this.props.children;
    return <div class="notice bad" role="alert">This part of the page failed: {this.state.failed}</div>;
  }
}
