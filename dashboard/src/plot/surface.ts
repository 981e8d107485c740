// What the model makes of two parameters: its mean as colour, and lines of equal value where both are numbers.
import { contours } from 'd3-contour';
import type { Surface } from '../api/shapes.ts';
import { placeOf, type Parameter } from '../data/space.ts';
import type { Palette } from '../state/theme.ts';
import type { Scale } from './axes.ts';
import type { Pen } from './svg_pen.ts';

const linesShown = 8;
const fewest = 4; // values of a number below which a line says nothing

export interface Sheet {
  surface: Surface;
  x: number[]; // places of the values, 0 to 1, rising
  y: number[];
  smooth: boolean; // both are numbers
  across: number[]; // the ends of the cells
  up: number[];
}

export function sheetOf(surface: Surface, a: Parameter, b: Parameter): Sheet {
  const x = surface.x_values.map((value) => placeOf(a, value));
  const y = surface.y_values.map((value) => placeOf(b, value));
  const smooth = a.scale !== 'categories' && b.scale !== 'categories' && x.length >= fewest && y.length >= fewest;
  const [across, up] = [edgesOf(x, a.scale === 'categories'), edgesOf(y, b.scale === 'categories')];
  return { surface, x, y, smooth, across, up };
}

// The ends of the cells around places: half-way between neighbours, and from 0 to 1; those of categories are all of one width, and
// the last may not be there.
export function edgesOf(places: readonly number[], categories = false): number[] {
  const inner = places.slice(1).map((place, index) => (place + (places[index] as number)) / 2);
  const [first, last] = [places[0] as number, places.at(-1) as number];
  if (!categories || places.length < 2) return [0, ...inner, 1];
  const half = (inner[0] as number) - first;
  return [first - half, ...inner, last + half];
}

// The place of a coordinate of d3's contours, where cell i has its middle at i + 0.5.
export function placeAt(places: readonly number[], coordinate: number): number {
  const at = Math.min(places.length - 1, Math.max(0, coordinate - 0.5));
  const [low, high] = [Math.floor(at), Math.min(places.length - 1, Math.floor(at) + 1)];
  return (places[low] as number) + (at - low) * ((places[high] as number) - (places[low] as number));
}

export function cellAt({ surface, x, across, up }: Sheet, placeX: number, placeY: number): { mean: number; deviation: number; column: number; row: number } | null {
  const indexOf = (edges: number[], place: number): number => edges.findIndex((edge, index) => index + 1 < edges.length && place >= edge && place <= (edges[index + 1] as number));
  const [column, row] = [indexOf(across, placeX), indexOf(up, placeY)];
  if (column < 0 || row < 0) return null;
  const at = row * x.length + column;
  return { mean: surface.mean[at] as number, deviation: surface.deviation[at] as number, column, row };
}

export function drawSheet(pen: Pen, palette: Palette, sheet: Sheet, x: Scale, y: Scale, colorOf: (value: number) => string): void {
  const { across, up } = sheet;
  pen.globalAlpha = 0.6;
  sheet.y.forEach((_, row) => {
    sheet.x.forEach((_place, column) => {
      pen.fillStyle = colorOf(sheet.surface.mean[row * sheet.x.length + column] as number);
      // Whole pixels: no seams.
      const [left, right] = [Math.round(x(across[column] as number)), Math.round(x(across[column + 1] as number))];
      const [bottom, top] = [Math.round(y(up[row] as number)), Math.round(y(up[row + 1] as number))];
      pen.fillRect(left, top, right - left, bottom - top);
    });
  });
  pen.globalAlpha = 0.55;
  pen.strokeStyle = palette.text;
  pen.lineWidth = 0.8;
  if (sheet.smooth) drawLines(pen, sheet, x, y);
  pen.globalAlpha = 1;
}

function drawLines(pen: Pen, sheet: Sheet, x: Scale, y: Scale): void {
  const { mean } = sheet.surface;
  const [low, high] = [Math.min(...mean), Math.max(...mean)];
  if (!(high > low)) return;
  const levels = Array.from({ length: linesShown }, (_, index) => low + ((high - low) * (index + 1)) / (linesShown + 1));
  const [columns, rows] = [sheet.x.length, sheet.y.length];
  // Only what is within the middles of the cells: d3 closes its rings along the ends of the grid.
  const inside = ([gx, gy]: number[]): boolean => (gx as number) > 0.5 && (gx as number) < columns - 0.5 && (gy as number) > 0.5 && (gy as number) < rows - 0.5;
  for (const { coordinates } of contours().size([columns, rows]).thresholds(levels)(mean)) {
    for (const ring of coordinates.flat()) {
      pen.beginPath();
      let open = false;
      for (const point of ring) {
        const [px, py] = [x(placeAt(sheet.x, point[0] as number)), y(placeAt(sheet.y, point[1] as number))];
        if (!inside(point)) open = false;
        else if (open) pen.lineTo(px, py);
        else pen.moveTo(px, py);
        if (inside(point)) open = true;
      }
      pen.stroke();
    }
  }
}
