// The time by the server's clock, from which every time on a page comes; the browser's may be another. What they differ by is told
// by the Date of the server's answers, which has whole seconds.
import type { Job } from './shapes.ts';

const secondMs = 1_000;
const leastMs = 1_000; // less than this is none: everything stays where it is while it is measured

export class ClockDifference {
  private least = -Infinity; // of what the server's clock is ahead, by all answers so far
  private most = Infinity;

  // `asked` and `received`: by the browser's clock. The server made its answer at a time between them.
  hear(date: string | null, asked: number, received: number): void {
    const at = Date.parse(date ?? '');
    if (Number.isNaN(at)) return;
    const [least, most] = [at - received, at + secondMs - asked];
    const known = least <= this.most && most >= this.least; // else one of the clocks was set
    this.least = known ? Math.max(this.least, least) : least;
    this.most = known ? Math.min(this.most, most) : most;
  }

  get ms(): number {
    return this.least < leastMs && this.most > -leastMs ? 0 : (this.least + this.most) / 2;
  }
}

export const clockDifference = new ClockDifference();
export const serverNow = (): number => Date.now() + clockDifference.ms; // milliseconds

type Spanned = Pick<Job, 'created_at' | 'ended_at'>;

// Of a job under way: now.
export const endOf = (job: Spanned): number => (job.ended_at ? Date.parse(job.ended_at) : serverNow()); // milliseconds
export const secondsOf = (job: Spanned): number => (endOf(job) - Date.parse(job.created_at)) / 1000;
