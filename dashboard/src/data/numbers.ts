// Numbers, durations and times as a person reads them.
import { format } from 'd3-format';
import type { NumberText, ParameterValue } from '../api/shapes.ts';

const significant = format('.6~r');
const rounded = format('.0f');
const scientific = format('.4~e');
const short = format('.3~s');
const axis = format('.4~r');

const scientificBelow = 1e-4;
const scientificFrom = 1e7;
const roundedFrom = 1e5; // six digits before the point: those that follow must not become zeros

export function numberOf(value: NumberText): number {
  if (typeof value === 'number') return value;
  return value === 'nan' ? NaN : value === 'inf' ? Infinity : -Infinity;
}

function needsExponent(value: number): boolean {
  const size = Math.abs(value);
  return value !== 0 && (size < scientificBelow || size >= scientificFrom);
}

export function formatNumber(value: number | null | undefined): string {
  if (value === null || value === undefined) return '–';
  if (!Number.isFinite(value)) return Number.isNaN(value) ? 'NaN' : value > 0 ? '∞' : '−∞';
  if (Number.isInteger(value) && Math.abs(value) < scientificFrom) return String(value).replace('-', '−');
  return needsExponent(value) ? scientific(value) : Math.abs(value) >= roundedFrom ? rounded(value) : significant(value);
}

// For an axis: shorter, as its neighbours say the rest.
export function formatTick(value: number): string {
  if (value === 0) return '0';
  return needsExponent(value) ? format('.2~e')(value) : Math.abs(value) >= 1e4 ? short(value) : axis(value);
}

// The same of neighbours that are near to each other, as long as tells them apart.
export function tickFormat(ticks: readonly number[]): (value: number) => string {
  const apart = (say: (value: number) => string): boolean => new Set(ticks.map(say)).size === new Set(ticks).size;
  if (apart(formatTick)) return formatTick;
  for (let digits = 5; digits <= 15; ++digits) {
    const [plain, exponent] = [format(`.${digits}~r`), format(`.${digits}~e`)];
    const say = (value: number): string => (value === 0 ? '0' : needsExponent(value) ? exponent(value) : plain(value));
    if (apart(say)) return say;
  }
  return String;
}

// "1 trial", "2 trials".
export function formatCount(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}

const kilo = 1000;

export function formatBytes(bytes: number): string {
  if (bytes < kilo) return `${bytes} B`;
  const power = Math.min(4, Math.floor(Math.log10(bytes) / 3));
  const value = bytes / kilo ** power;
  return `${value < 9.95 ? value.toFixed(1) : Math.round(value)} ${['B', 'kB', 'MB', 'GB', 'TB'][power]}`;
}

export function formatShare(share: number): string {
  const percent = share * 100;
  if (percent > 0 && percent < 0.01) return '< 0.01 %';
  return `${percent >= 10 || percent === 0 ? Math.round(percent) : percent.toPrecision(2)} %`;
}

export function formatValue(value: ParameterValue | null | undefined): string {
  if (value === null || value === undefined) return '–';
  return typeof value === 'number' ? formatNumber(value) : String(value);
}

const minute = 60;
const hour = 60 * minute;
const day = 24 * hour;

export function formatDuration(seconds: number): string {
  if (!Number.isFinite(seconds)) return '–';
  if (seconds < 0.0095) return `${Math.round(Math.max(0, seconds) * 1e4) / 10} ms`; // clocks differ a little
  if (seconds < 10) return `${seconds.toFixed(seconds < 1 ? 2 : 1)} s`;
  const whole = Math.round(seconds);
  if (whole < minute) return `${whole} s`;
  if (whole < hour) return `${Math.floor(whole / minute)} min ${whole % minute} s`;
  if (whole < day) return `${Math.floor(whole / hour)} h ${Math.floor((whole % hour) / minute)} min`;
  return `${Math.floor(whole / day)} d ${Math.floor((whole % day) / hour)} h`;
}

export function formatAgo(at: string, now: number): string {
  const seconds = Math.max(0, (now - Date.parse(at)) / 1000);
  return seconds < 5 ? 'just now' : `${formatDuration(Math.floor(seconds)).replace(/ \d+ s$/, '')} ago`;
}

const timeOfDay = new Intl.DateTimeFormat(undefined, { hour: '2-digit', minute: '2-digit', second: '2-digit' });
const dayAndTime = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'medium' });

// In the reader's zone.
export function formatTime(at: string | number | null): string {
  return at === null ? '–' : dayAndTime.format(new Date(at));
}

const second = 1000;
const roundSteps = [0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10_800, 21_600, 43_200].map((seconds) => seconds * second);
const dayMs = day * second;

const roundStep = (leastMs: number): number => roundSteps.find((one) => one >= leastMs) ?? Math.ceil(leastMs / dayMs) * dayMs;

// From 0 s on, in steps as a clock has them, `count` at most; none where they would be too short for it.
export function roundDurations(until: number, count: number): number[] {
  const least = (until * second) / Math.max(1, count);
  if (least < (roundSteps[0] as number)) return [];
  const step = roundStep(least);
  return Array.from({ length: Math.floor((until * second) / step) + 1 }, (_, index) => (index * step) / second);
}

// "3 min" of "3 min 0 s".
export const formatDurationTick = (seconds: number): string => (seconds === 0 ? '0' : formatDuration(seconds).replace(/ 0 \w+$/, ''));

// Moments between `from` and `until` (milliseconds) at which a clock of the reader's zone shows something round, `count` at most.
export function roundTimes(from: number, until: number, count: number): number[] {
  const least = (until - from) / Math.max(1, count);
  if (least < (roundSteps[0] as number)) return [];
  const step = roundStep(least);
  const offset = new Date(from).getTimezoneOffset() * minute * second;
  const times: number[] = [];
  for (let at = Math.ceil((from - offset) / step) * step + offset; at <= until; at += step) times.push(at);
  return times;
}

const timeOfDayShort = new Intl.DateTimeFormat(undefined, { hour: '2-digit', minute: '2-digit' });
const tenthsOfDay = new Intl.DateTimeFormat(undefined, { hour: '2-digit', minute: '2-digit', second: '2-digit', fractionalSecondDigits: 1 });
const dayOfMonth = new Intl.DateTimeFormat(undefined, { month: 'short', day: 'numeric' });

// For an axis: no more than tells round moments apart.
export function formatRoundTime(at: number): string {
  const local = at - new Date(at).getTimezoneOffset() * minute * second;
  if (local % dayMs === 0) return dayOfMonth.format(new Date(at));
  return (local % (minute * second) === 0 ? timeOfDayShort : local % second === 0 ? timeOfDay : tenthsOfDay).format(new Date(at));
}

export function formatClock(at: number): string {
  return timeOfDay.format(new Date(at));
}
