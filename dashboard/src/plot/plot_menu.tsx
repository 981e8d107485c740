// A plot's downloads: as it is drawn, and the numbers behind it.
import type { JSX } from 'preact';
import { csvOf, saveBlob, saveText } from '../parts/download.ts';
import { Menu } from '../parts/menu.tsx';
import { selectedSet } from '../state/selection.ts';
import { palette } from '../state/theme.ts';
import type { PlotProps } from './plot.tsx';
import type { Scene } from './scene.ts';
import { SvgPen, type Pen } from './svg_pen.ts';

let ruler: CanvasRenderingContext2D | null = null;
function measure(text: string, font: string): TextMetrics {
  ruler ??= document.createElement('canvas').getContext('2d') as CanvasRenderingContext2D;
  ruler.font = font;
  return ruler.measureText(text);
}

interface PlotMenuProps {
  props: PlotProps;
  width: number;
  scene: () => Scene | null;
  asTable: { value: boolean };
}

export function PlotMenu({ props, width, scene, asTable }: PlotMenuProps): JSX.Element {
  const emphasis = { hovered: null, selected: selectedSet.peek() };
  const drawAll = (pen: Pen): void => {
    scene()?.draw(pen);
    scene()?.over?.(pen, emphasis);
  };
  const svg = (): void => {
    const pen = new SvgPen(width, props.height, measure);
    drawAll(pen);
    saveText(`${props.file}.svg`, 'image/svg+xml', pen.text(palette.peek().surface));
  };
  const png = (): void => {
    const canvas = document.createElement('canvas');
    const scale = 2;
    canvas.width = width * scale;
    canvas.height = props.height * scale;
    const context = canvas.getContext('2d') as CanvasRenderingContext2D;
    context.scale(scale, scale);
    context.fillStyle = palette.peek().surface;
    context.fillRect(0, 0, width, props.height);
    drawAll(context);
    canvas.toBlob((blob) => { if (blob) saveBlob(`${props.file}.png`, blob); });
  };
  return (
    <Menu label={`Save ${props.title}`} caption="⋯">
      <button type="button" onClick={() => { asTable.value = !asTable.value; }}>{asTable.value ? 'Show as a plot' : 'Show as a table'}</button>
      <button type="button" onClick={svg} disabled={asTable.value}>Download SVG</button>
      <button type="button" onClick={png} disabled={asTable.value}>Download PNG</button>
      <button type="button" onClick={() => saveText(`${props.file}.csv`, 'text/csv', csvOf(props.table()))}>Download CSV</button>
    </Menu>
  );
}
