// A plot on the page: a canvas, another above it for what the pointer and the selection emphasise, the keys, and the downloads.
import type { ComponentChildren, JSX } from 'preact';
import { signal, useSignal } from '@preact/signals';
import { useMemo, useRef } from 'preact/hooks';
import type { Table } from '../parts/download.ts';
import { DataTable } from '../parts/data_table.tsx';
import { useBase, useNear, useOver, type Drawn } from './plot_canvas.ts';
import { PlotMenu } from './plot_menu.tsx';
import { useHandlers } from './plot_pointer.ts';
import type { Hit, MakeScene, Scene } from './scene.ts';

export interface PlotProps {
  title: string;
  finding: string; // what the plot says, for those who do not see it
  height: number;
  scene: MakeScene;
  table: () => Table; // the numbers behind it
  file: string; // downloads are named after it
  tools?: ComponentChildren; // choices that belong to the plot
  note?: ComponentChildren; // what is left out, what the signs mean
}

export function Plot(props: PlotProps): JSX.Element {
  const { title, height, scene } = props;
  const figure = useRef<HTMLDivElement>(null);
  const base = useRef<HTMLCanvasElement>(null);
  const top = useRef<HTMLCanvasElement>(null);
  const width = useSignal(0);
  const tip = useSignal<Hit | null>(null);
  const asTable = useSignal(false);
  const current = useMemo(() => signal<Scene | null>(null), []);
  const near = useNear(figure, width, asTable.value);
  const drawn: Drawn = { title, height, scene, width, near, asTable: asTable.value, current };
  useBase(base, drawn);
  useOver(top, drawn);
  const handlers = useHandlers(title, current, tip);
  const size = { width: '100%', height: `${height}px` };
  return (
    <section class="plot" aria-label={title}>
      <header class="plot-head">
        <h3>{title}</h3>
        <div class="plot-tools">
          {props.tools}
          <PlotMenu props={props} width={width.peek()} scene={() => current.peek()} asTable={asTable} />
        </div>
      </header>
      {asTable.value ? (
        <DataTable table={props.table()} label={title} />
      ) : (
        <div class="canvas-box" ref={figure} style={{ height: `${height}px` }}>
          <canvas ref={base} style={size} aria-hidden="true" />
          <canvas ref={top} class="canvas-top" style={size} role="img" aria-label={`${title}: ${props.finding}`} tabIndex={0} {...handlers} />
          {tip.value && <Tip hit={tip.value} width={width.value} />}
        </div>
      )}
      {props.note && <p class="plot-note">{props.note}</p>}
    </section>
  );
}

const tipRoomPx = 240;

function Tip({ hit, width }: { hit: Hit; width: number }): JSX.Element {
  const toLeft = hit.x > width - tipRoomPx && hit.x > width / 2;
  const style = { top: `${hit.y}px`, ...(toLeft ? { right: `${width - hit.x + 12}px` } : { left: `${hit.x + 12}px` }) };
  return (
    <div class="tip" style={style} role="status">
      {hit.lines.map((line, index) => (index === 0 ? <strong>{line}</strong> : <div>{line}</div>))}
    </div>
  );
}
