// Shares as bars with their deviation, the largest first.
import { formatShare } from '../data/numbers.ts';
import { drawXAxis, fitText, labelFont, makeScale, smallFont, type Box } from './axes.ts';
import type { MakeScene } from './scene.ts';

export interface Bar {
  name: string;
  share: number;
  deviation: number;
  faint: boolean;
}

export const barHeight = 24;
const foot = 34;

export const barsHeight = (bars: readonly Bar[]): number => bars.length * barHeight + foot + 6;

export function barsScene(bars: readonly Bar[]): MakeScene {
  return ({ width, height, palette }) => {
    const names = Math.min(190, width * 0.35);
    const box: Box = { left: names, top: 4, right: width - 66, bottom: height - foot };
    const upTo = (bar: Bar): number => Math.min(1, bar.share + bar.deviation); // no share is above the whole
    const most = Math.max(0.05, ...bars.map(upTo));
    const x = makeScale('linear', [0, most], [box.left, box.right]);
    return {
      draw(pen) {
        drawXAxis(pen, palette, box, x, { label: '', format: formatShare });
        bars.forEach((bar, index) => {
          const middle = box.top + (index + 0.5) * barHeight;
          pen.font = labelFont;
          pen.textAlign = 'right';
          pen.textBaseline = 'middle';
          pen.fillStyle = bar.faint ? palette.muted : palette.text;
          pen.fillText(fitText(pen, bar.name, names - 12), names - 8, middle);
          pen.fillStyle = palette.series[0] ?? palette.accent;
          pen.globalAlpha = bar.faint ? 0.45 : 1;
          pen.fillRect(box.left, middle - 7, Math.max(1, x(bar.share) - box.left), 14);
          pen.globalAlpha = 1;
          const [from, to] = [x(Math.max(0, bar.share - bar.deviation)), x(upTo(bar))];
          pen.strokeStyle = palette.text;
          pen.lineWidth = 1.2;
          pen.beginPath();
          pen.moveTo(from, middle);
          pen.lineTo(to, middle);
          pen.moveTo(to, middle - 4);
          pen.lineTo(to, middle + 4);
          pen.stroke();
          pen.font = smallFont;
          pen.textAlign = 'left';
          pen.fillStyle = palette.text;
          pen.fillText(formatShare(bar.share), to + 6, middle);
        });
      },
      hit(x0, y0) {
        const bar = bars[Math.floor((y0 - box.top) / barHeight)];
        if (!bar || x0 < 0) return null;
        return { x: Math.min(x0, box.right), y: y0, lines: [bar.name, `${formatShare(bar.share)} ± ${formatShare(bar.deviation)} of the variance`] };
      },
    };
  };
}
