// What is asked for when a view first wants it, and then kept up to date by events. Those who draw it follow `version`.
import { signal } from '@preact/signals';

export abstract class LazyStore {
  readonly version = signal(0);
  private asked: Promise<void> | null = null;
  private dirty = false;
  private answered = false;

  // Whether there is an answer of the server: else what is not here may yet come.
  get loaded(): boolean {
    return this.answered;
  }

  want(): Promise<void> {
    // What could not be had is asked for again when it is next wanted; the page says that the server is away.
    this.asked ??= this.load().then(() => { this.answered = true; this.version.value += 1; }).catch(() => { this.asked = null; });
    return this.asked;
  }

  forget(): void {
    this.askAnew();
    this.answered = false;
    this.clear();
  }

  // What is there stays until the answer comes.
  protected askAnew(): void {
    this.asked = null;
  }

  // Tells of what came since the last time.
  flush(): void {
    if (!this.dirty) return;
    this.dirty = false;
    this.version.value += 1;
  }

  protected touched(): void {
    this.dirty = true;
  }

  // Takes in the server's answer; what events told meanwhile stays.
  protected abstract load(): Promise<void>;
  protected abstract clear(): void;
}
