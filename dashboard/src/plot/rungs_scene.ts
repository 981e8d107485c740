// Brackets and rungs: a column a rung, in it every trial that arrived by its value, the best at the top, and the line that was
// drawn between those that went on and those that were cut.
import type { Decision, Job, Rung } from '../api/shapes.ts';
import { units } from '../data/explain.ts';
import { formatNumber, numberOf } from '../data/numbers.ts';
import type { Palette } from '../state/theme.ts';
import { extentByGoal, fitText, labelFont, makeScale, smallFont, type Scale } from './axes.ts';
import { drawHalo, markFor } from './marks.ts';
import { nearest, type MakeScene } from './scene.ts';
import type { Pen } from './svg_pen.ts';

export interface RungsInput {
  job: Job;
  rungs: readonly Rung[]; // in the order of bracket and rung
  decisions: readonly Decision[];
  shown: (trial: number) => boolean;
  brackets: readonly number[];
}

// Few brackets are given more room each.
export function bracketHeight(brackets: number): number {
  return brackets === 1 ? 400 : brackets === 2 ? 300 : 230;
}

const head = 40;
const foot = 34;
const gutter = 66;
const columnGap = 6; // what a text may be wider than its column: less than lies between two

interface Dot {
  trial: number;
  x: number;
  y: number;
  decision: Decision;
  mark: string;
}

const markOf: Record<string, string> = { promoted: 'completed', completed: 'completed', stopped: 'stopped', waiting: 'paused' };

const dotSize = 7;
const faint = 0.12; // what the filter leaves out
const outside = 0.45; // breaks a constraint: its value did not decide

export const isOutside = ({ violation }: Decision): boolean => violation !== undefined && numberOf(violation) > 0;

// Equal places side by side: a dot goes left or right of its column until it touches none that is there.
class Strip {
  private readonly rows = new Map<number, { x: number; y: number }[]>(); // by height, as far as a dot reaches
  private count = 0;

  constructor(private readonly halfWidth: number) {}

  place(y: number): number {
    const row = Math.floor(y / dotSize);
    const near = [row - 1, row, row + 1].flatMap((one) => this.rows.get(one) ?? []).filter((dot) => Math.abs(dot.y - y) < dotSize);
    const x = this.free(near);
    const here = this.rows.get(row);
    if (here) here.push({ x, y });
    else this.rows.set(row, [{ x, y }]);
    this.count += 1;
    return x;
  }

  private free(near: readonly { x: number }[]): number {
    const full = near.length > (4 * this.halfWidth) / dotSize;
    for (let step = 0; !full && step * dotSize < this.halfWidth; step += 1) {
      for (const side of step === 0 ? [0] : [1, -1]) {
        const x = side * step * dotSize;
        if (!near.some((dot) => Math.abs(dot.x - x) < dotSize)) return x;
      }
    }
    return ((this.count * 7919) % (2 * this.halfWidth)) - this.halfWidth;
  }
}

interface Column {
  rung: Rung;
  x: number;
  halfWidth: number;
  dots: Dot[];
  cutoff: number | null; // pixel
}

function columnOf(rung: Rung, x: number, halfWidth: number, y: Scale, bottom: number, input: RungsInput): Column {
  const here = input.decisions.filter((decision) => decision.bracket === rung.bracket && decision.rung === rung.rung);
  const strip = new Strip(halfWidth);
  const dots = here.map((decision) => {
    const value = decision.value === null ? NaN : numberOf(decision.value);
    const place = Number.isFinite(value) ? y(value) : bottom + 14;
    const shift = strip.place(place);
    const mark = decision.value === null ? 'failed' : (markOf[decision.verdict] ?? 'pending');
    return { trial: decision.trial, x: x + shift, y: place, decision, mark };
  });
  const cut = here.filter((decision) => decision.cutoff !== null && decision.verdict !== 'waiting').at(-1);
  const cutoff = cut?.cutoff === null || cut?.cutoff === undefined ? NaN : numberOf(cut.cutoff);
  return { rung, x, halfWidth, dots, cutoff: Number.isFinite(cutoff) ? y(cutoff) : null };
}

// From the whole to what a narrow column has room for.
function countsOf({ reached, planned, promoted }: Rung): string[] {
  const here = `${reached}${planned === null ? '' : ` of ${planned}`}`;
  return [`${here} here${promoted > 0 ? `, ${promoted} went on` : ''}`, `${here} here`, here, String(reached)];
}

function drawColumn(pen: Pen, palette: Palette, column: Column, top: number, bottom: number, input: RungsInput): void {
  const { rung, x, halfWidth } = column;
  const room = 2 * halfWidth + columnGap;
  pen.fillStyle = palette.grid;
  pen.globalAlpha = 0.45;
  pen.fillRect(x - halfWidth, top, halfWidth * 2, bottom - top);
  pen.globalAlpha = 1;
  pen.textAlign = 'center';
  pen.textBaseline = 'top';
  pen.font = labelFont;
  pen.fillStyle = palette.text;
  pen.fillText(fitText(pen, units(rung.resource, input.job.resource_name), room), x, top - head + 6);
  pen.font = smallFont;
  pen.fillStyle = palette.muted;
  pen.fillText(countsOf(rung).find((text) => pen.measureText(text).width <= room) ?? '', x, top - head + 22);
  const drawMark = markFor(column.dots.length);
  for (const dot of column.dots) {
    pen.globalAlpha = !input.shown(dot.trial) ? faint : isOutside(dot.decision) ? outside : 1;
    drawMark(pen, palette, dot.mark, dot.x, dot.y, 3.6);
  }
  pen.globalAlpha = 1;
  if (column.cutoff === null) return;
  pen.strokeStyle = palette.text;
  pen.lineWidth = 1.5;
  pen.setLineDash([6, 3]);
  pen.beginPath();
  pen.moveTo(x - halfWidth, column.cutoff);
  pen.lineTo(x + halfWidth, column.cutoff);
  pen.stroke();
  pen.setLineDash([]);
}

interface Bracket {
  top: number;
  bottom: number;
  y: Scale;
  columns: Column[];
  index: number;
}

function bracketsOf(input: RungsInput, width: number): Bracket[] {
  const values = input.decisions.flatMap((decision) => (decision.value === null ? [] : [numberOf(decision.value)]));
  const { goal } = input.job.objective;
  const domain = extentByGoal(values, goal);
  const resources = [...new Set(input.rungs.map((rung) => rung.resource))].sort((a, b) => a - b);
  const step = (width - gutter - 8) / Math.max(1, resources.length);
  return input.brackets.map((index, place) => {
    const height = bracketHeight(input.brackets.length);
    const top = place * height + head;
    const bottom = (place + 1) * height - foot;
    const y = makeScale('linear', domain, goal === 'maximize' ? [bottom - 6, top + 6] : [top + 6, bottom - 6], false);
    const clamped = Object.assign((value: number) => Math.min(bottom - 4, Math.max(top + 4, y(value))), y) as Scale;
    const columns = input.rungs
      .filter((rung) => rung.bracket === index)
      .map((rung) => columnOf(rung, gutter + (resources.indexOf(rung.resource) + 0.5) * step, Math.min(step * 0.42, 130), clamped, bottom, input));
    return { top, bottom, y: clamped, columns, index };
  });
}

// The way of one trial from rung to rung.
function drawWay(pen: Pen, palette: Palette, dots: readonly Dot[], color: string): void {
  pen.strokeStyle = color;
  pen.lineWidth = 2;
  pen.beginPath();
  dots.forEach((dot, index) => (index === 0 ? pen.moveTo(dot.x, dot.y) : pen.lineTo(dot.x, dot.y)));
  pen.stroke();
  for (const dot of dots) drawHalo(pen, palette, dot.x, dot.y, 6);
}

export function rungsScene(input: RungsInput): MakeScene {
  return ({ width, palette }) => {
    const brackets = bracketsOf(input, width);
    const dots = brackets.flatMap((bracket) => bracket.columns.flatMap((column) => column.dots));
    const wayOf = (trial: number): Dot[] => dots.filter((dot) => dot.trial === trial).sort((a, b) => a.decision.rung - b.decision.rung);
    return {
      draw(pen) {
        for (const bracket of brackets) {
          pen.font = `bold ${labelFont}`;
          pen.textAlign = 'left';
          pen.textBaseline = 'top';
          pen.fillStyle = palette.text;
          pen.fillText('bracket', 4, bracket.top - head + 6);
          pen.fillText(String(bracket.index), 4, bracket.top - head + 22);
          drawScale(pen, palette, bracket);
          for (const column of bracket.columns) drawColumn(pen, palette, column, bracket.top, bracket.bottom, input);
        }
      },
      over(pen, { hovered, selected }) {
        for (const trial of selected) drawWay(pen, palette, wayOf(trial), palette.accent);
        if (hovered !== null) drawWay(pen, palette, wayOf(hovered), palette.text);
      },
      hit(x, y) {
        const dot = nearest(dots, x, y) as Dot | null;
        if (!dot) return null;
        return { trial: dot.trial, x: dot.x, y: dot.y, lines: linesOf(dot.decision) };
      },
      order: () => [...new Set(dots.map((dot) => dot.trial))].sort((a, b) => a - b),
      place: (trial) => wayOf(trial).at(-1) ?? null,
    };
  };
}

// Selecting the trial says the rest.
function linesOf(decision: Decision): string[] {
  const { trial, value, verdict, rank, filled, cutoff } = decision;
  if (value === null) return [`trial ${trial} · no value`, 'It did not come so far.'];
  const place = rank > 0 ? `, rank ${rank} of ${filled}` : '';
  const last = cutoff === null || verdict === 'completed' ? '' : `; the line lay at ${formatNumber(numberOf(cutoff))}`;
  return [`trial ${trial} · ${formatNumber(numberOf(value))}${isOutside(decision) ? ', outside of the constraints' : ''}`, `${verdict}${place}${last}`];
}

function drawScale(pen: Pen, palette: Palette, bracket: Bracket): void {
  pen.font = smallFont;
  pen.textAlign = 'right';
  pen.textBaseline = 'middle';
  pen.fillStyle = palette.muted;
  for (const tick of bracket.y.ticks(4)) pen.fillText(formatNumber(tick), gutter - 8, bracket.y(tick));
}
