// How a trial looks in every plot: its state by shape as well as by colour.
import type { Palette } from '../state/theme.ts';
import type { Pen } from './svg_pen.ts';

const full = 2 * Math.PI;

function circle(pen: Pen, x: number, y: number, r: number): void {
  pen.moveTo(x + r, y);
  pen.arc(x, y, r, 0, full);
}

function polygon(pen: Pen, points: [number, number][]): void {
  points.forEach(([x, y], index) => (index === 0 ? pen.moveTo(x, y) : pen.lineTo(x, y)));
  pen.closePath();
}

// Completed: a disc. Running: a ring. Paused: a square. Stopped: a triangle that points down. Failed: a cross. Others: a small ring.
export function drawMark(pen: Pen, palette: Palette, state: string, x: number, y: number, r: number): void {
  const color = palette.states[state] ?? palette.muted;
  pen.beginPath();
  pen.lineWidth = 1.6;
  pen.strokeStyle = color;
  pen.fillStyle = color;
  if (state === 'completed') circle(pen, x, y, r);
  else if (state === 'paused') pen.rect(x - r * 0.85, y - r * 0.85, r * 1.7, r * 1.7);
  else if (state === 'stopped') polygon(pen, [[x - r, y - r * 0.8], [x + r, y - r * 0.8], [x, y + r]]);
  else if (state === 'failed') {
    const d = r * 0.8;
    pen.moveTo(x - d, y - d);
    pen.lineTo(x + d, y + d);
    pen.moveTo(x - d, y + d);
    pen.lineTo(x + d, y - d);
    pen.lineWidth = 2;
    return pen.stroke();
  } else {
    circle(pen, x, y, state === 'running' ? r : r * 0.6);
    return pen.stroke();
  }
  pen.fill();
}

// Of thousands of marks a shape is neither seen nor drawn in time: squares, by the colour of the state.
function drawDot(pen: Pen, palette: Palette, state: string, x: number, y: number, r: number): void {
  pen.fillStyle = palette.states[state] ?? palette.muted;
  pen.fillRect(x - r * 0.6, y - r * 0.6, r * 1.2, r * 1.2);
}

export const marksMost = 1_500;

export const markFor = (count: number): typeof drawMark => (count > marksMost ? drawDot : drawMark);

const cellPx = 2;

// Without those that others hide: of many in the same place the one that is drawn last.
export function thinned<Place extends { x: number; y: number }>(places: readonly Place[], width: number, height: number): readonly Place[] {
  if (places.length <= marksMost) return places;
  const columns = Math.ceil(width / cellPx) + 1;
  const taken = new Uint8Array(columns * (Math.ceil(height / cellPx) + 1));
  const kept: Place[] = [];
  for (let index = places.length - 1; index >= 0; index -= 1) {
    const place = places[index] as Place;
    const cell = Math.floor(place.y / cellPx) * columns + Math.floor(place.x / cellPx);
    if (!(cell >= 0) || taken[cell] === 1) continue;
    taken[cell] = 1;
    kept.push(place);
  }
  return kept.reverse();
}

// Around what is selected or under the pointer.
export function drawHalo(pen: Pen, palette: Palette, x: number, y: number, r: number): void {
  pen.beginPath();
  circle(pen, x, y, r);
  pen.lineWidth = 2;
  pen.strokeStyle = palette.text;
  pen.stroke();
}
