// What a trial has beside its rows: logs, its checkpoint, its model, and what else it wrote, to be saved.
import type { JSX } from 'preact';
import { filePath, listFiles } from '../../api/routes.ts';
import type { Trial } from '../../api/shapes.ts';
import { formatBytes, formatTime } from '../../data/numbers.ts';
import { FaultNotice } from '../../parts/notice.tsx';
import { useLoaded } from '../../parts/use_loaded.ts';
import { useJob } from '../job/context.ts';

export function FilesView({ detail }: { detail: Trial }): JSX.Element {
  const { store } = useJob();
  const loaded = useLoaded(() => listFiles(store.key, detail.number), [detail.number, detail.state, detail.segments, detail.rung]);
  const { value, fault } = loaded.value;
  return (
    <section class="plot" aria-label="Files">
      <h3>Files</h3>
      {fault ? <FaultNotice fault={fault} /> : !value ? <p class="muted">Loading…</p> : value.files.length === 0 ? <p class="muted">It has none.</p> : (
        <div class="scroll files" tabIndex={0} role="region" aria-label="Files of the trial">
          <table class="plain">
            <thead><tr><th scope="col">file</th><th scope="col" class="number">size</th><th scope="col">written</th></tr></thead>
            <tbody>
              {value.files.map((file) => (
                <tr>
                  <td><a href={filePath(store.key, detail.number, file.path)} download={file.path.replaceAll('/', '-')}>{file.path}</a></td>
                  <td class="number nowrap">{formatBytes(file.size_bytes)}</td>
                  <td class="muted nowrap">{formatTime(file.modified_at)}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
      {value && value.left_out > 0 && <p class="plot-note">{value.left_out} more are not listed.</p>}
    </section>
  );
}
