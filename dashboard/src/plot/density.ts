// Lines between two axes as density: how many go through each place of the gap, as a small image that is stretched to its size.
export interface Grain {
  bins: number; // of an axis
  columns: number; // of the image
}

export const fine: Grain = { bins: 48, columns: 24 };
export const coarse: Grain = { bins: 24, columns: 12 }; // while an axis is swept: a fifth of the work

const strength = 0.22; // of the most frequent pair of bins: opacity

// How often lines go from each bin to each other one, `from * bins + to`; rows of the mask that have both places, 0 to 1.
export function countPairs(from: Float64Array, to: Float64Array, mask: Uint8Array, bins: number): Uint32Array {
  const counts = new Uint32Array(bins * bins);
  for (let index = 0; index < mask.length; index += 1) {
    if (mask[index] !== 1) continue;
    const [a, b] = [from[index] as number, to[index] as number];
    if (Number.isNaN(a) || Number.isNaN(b)) continue;
    const cell = Math.min(bins - 1, Math.floor(a * bins)) * bins + Math.min(bins - 1, Math.floor(b * bins));
    counts[cell] = (counts[cell] as number) + 1;
  }
  return counts;
}

// The opacity of each place, 0 to 1, in two rows a bin, from the head of the axes: bands whose strength grows with the logarithm
// of their count, laid over each other.
export function opacities(counts: Uint32Array, { bins, columns }: Grain): Float64Array {
  const rows = 2 * bins;
  const depth = new Float64Array(columns * rows); // optical: -log(1 - opacity) adds up
  const most = Math.log1p(counts.reduce((highest, count) => Math.max(highest, count), 0));
  for (let cell = 0; cell < counts.length; cell += 1) {
    if (counts[cell] === 0) continue;
    const [a, b] = [Math.floor(cell / bins), cell % bins];
    const band = -Math.log(1 - strength * (Math.log1p(counts[cell] as number) / most));
    for (let x = 0; x < columns; x += 1) {
      const foot = Math.round(2 * (a + ((b - a) * (x + 0.5)) / columns));
      const at = (rows - 1 - foot) * columns + x;
      depth[at] = (depth[at] as number) + band;
      if (foot + 1 < rows) depth[at - columns] = (depth[at - columns] as number) + band;
    }
  }
  return depth.map((value) => 1 - Math.exp(-value));
}

const contexts = new Map<Grain, CanvasRenderingContext2D>();

function contextOf(grain: Grain): CanvasRenderingContext2D {
  const known = contexts.get(grain);
  if (known) return known;
  const canvas = document.createElement('canvas');
  [canvas.width, canvas.height] = [grain.columns, 2 * grain.bins];
  const context = canvas.getContext('2d', { willReadFrequently: true }) as CanvasRenderingContext2D;
  contexts.set(grain, context);
  return context;
}

// The image of one gap, `color` as #rrggbb; until the next is made.
export function densityImage(from: Float64Array, to: Float64Array, mask: Uint8Array, color: string, grain: Grain): HTMLCanvasElement {
  const context = contextOf(grain);
  const image = context.createImageData(context.canvas.width, context.canvas.height);
  const rgb = [1, 3, 5].map((at) => parseInt(color.slice(at, at + 2), 16));
  const { data } = image;
  opacities(countPairs(from, to, mask, grain.bins), grain).forEach((opacity, index) => {
    for (let part = 0; part < 3; part += 1) data[4 * index + part] = rgb[part] as number;
    data[4 * index + 3] = Math.round(255 * opacity);
  });
  context.putImageData(image, 0, 0);
  return context.canvas;
}
