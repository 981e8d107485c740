// A line through places in their order, broken where there is none: the value is missing, or no number.
import type { Pen } from './svg_pen.ts';

export function strokeBroken(pen: Pen, count: number, x: (index: number) => number, y: (index: number) => number): void {
  pen.beginPath();
  let open = false;
  for (let index = 0; index < count; index += 1) {
    const [px, py] = [x(index), y(index)];
    const there = Number.isFinite(px) && Number.isFinite(py);
    if (there && open) pen.lineTo(px, py);
    else if (there) pen.moveTo(px, py);
    open = there;
  }
  pen.stroke();
}
