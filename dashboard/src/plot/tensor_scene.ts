// A tensor over its steps, of one trial or of two: a line each, what is not a number at the upper edge, findings as rings.
import { formatNumber } from '../data/numbers.ts';
import type { SeriesPoints } from '../data/tensors.ts';
import type { Palette } from '../state/theme.ts';
import { drawXAxis, drawYAxis, extentOf, makeScale, smallFont, type Box, type ScaleKind } from './axes.ts';
import { strokeBroken } from './broken_line.ts';
import { drawHalo } from './marks.ts';
import { nearest, type Hit, type MakeScene } from './scene.ts';
import type { Pen } from './svg_pen.ts';

export interface TensorInput {
  series: readonly SeriesPoints[]; // the page's trial, and the one beside it
  resource: string;
  label: string; // what the values are
  found: readonly number[]; // steps of the first series at which a rule found something
  x: ScaleKind;
  y: ScaleKind;
}

const dashes: readonly number[][] = [[], [6, 4]];
const dotsUpTo = 120;

interface Place {
  trial: number;
  index: number;
  series: SeriesPoints;
  x: number;
  y: number;
}

const colorOf = (palette: Palette, place: number): string => (place === 0 ? palette.accent : (palette.series[1] ?? palette.text));

function drawPoints(pen: Pen, palette: Palette, places: readonly Place[], box: Box): void {
  pen.font = smallFont;
  pen.textAlign = 'center';
  pen.textBaseline = 'top';
  let free = -Infinity; // where the next word has room
  for (const place of places) {
    const value = place.series.values[place.index] as number;
    if (Number.isFinite(value)) {
      if (places.length <= dotsUpTo) pen.fillRect(place.x - 1.5, place.y - 1.5, 3, 3);
    } else if (place.x >= free) {
      pen.save();
      pen.fillStyle = palette.states['failed'] ?? palette.text;
      pen.fillText(formatNumber(value), place.x, box.top + 2);
      pen.restore();
      free = place.x + 30;
    }
  }
}

export function tensorScene(input: TensorInput): MakeScene {
  return ({ width, height, palette }) => {
    const box: Box = { left: 62, top: 26, right: width - 14, bottom: height - 42 };
    const x = makeScale(input.x, extentOf(input.series.flatMap(({ steps }) => steps)), [box.left, box.right], false);
    const y = makeScale(input.y, extentOf(input.series.flatMap(({ values }) => values)), [box.bottom, box.top + 14]);
    const placesOf = (series: SeriesPoints): Place[] =>
      series.steps.map((step, index) => {
        const value = series.values[index] as number;
        return { trial: series.trial, index, series, x: x(step), y: Number.isFinite(value) ? y(value) : box.top + 8 };
      });
    const places = input.series.map(placesOf);
    const told = (step: number, at: { x: number; y: number }): Hit => {
      const values = input.series.flatMap(({ trial, steps, values: all }) => {
        const index = steps.indexOf(step);
        return index < 0 ? [] : [`trial ${trial}: ${formatNumber(all[index])}`];
      });
      return { key: step, x: at.x, y: at.y, lines: [`${input.resource}: ${step}`, ...values] };
    };
    return {
      draw(pen) {
        drawXAxis(pen, palette, box, x, { label: input.resource, whole: true });
        drawYAxis(pen, palette, box, y, { label: input.label });
        input.series.forEach((series, place) => {
          pen.strokeStyle = colorOf(palette, place);
          pen.fillStyle = colorOf(palette, place);
          pen.lineWidth = place === 0 ? 2 : 1.5;
          pen.setLineDash(dashes[place] ?? []);
          strokeBroken(pen, series.steps.length, (index) => x(series.steps[index] as number), (index) => y(series.values[index] as number));
          pen.setLineDash([]);
          drawPoints(pen, palette, places[place] ?? [], box);
        });
        for (const place of places[0] ?? []) {
          if (input.found.includes(place.series.steps[place.index] as number)) drawHalo(pen, palette, place.x, place.y, 6);
        }
      },
      hit(px, py) {
        const found = nearest(places.flat(), px, py) as Place | null;
        if (!found) return null;
        return told(found.series.steps[found.index] as number, found);
      },
      order: () => [...new Set(input.series.flatMap(({ steps }) => steps))].sort((a, b) => a - b),
      tell(step) {
        const place = places.flat().find((one) => one.series.steps[one.index] === step);
        return place ? told(step, place) : null;
      },
    };
  };
}
