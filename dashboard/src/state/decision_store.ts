// What was decided at the rungs, and why: asked for when a view first wants it, then told by events.
import { signal } from '@preact/signals';
import * as api from '../api/routes.ts';
import type { Decision } from '../api/shapes.ts';

const keyOf = (decision: Decision): string => `${decision.trial}/${decision.rung}`;

export class DecisionStore {
  readonly version = signal(0);
  readonly loaded = signal(false);
  private readonly byPlace = new Map<string, Decision>(); // the last one of a trial at a rung counts
  private asked: Promise<void> | null = null;
  private dirty = false;

  constructor(private readonly job: string) {}

  get all(): Iterable<Decision> {
    return this.byPlace.values();
  }

  ofTrial(trial: number): Decision[] {
    return [...this.byPlace.values()].filter((decision) => decision.trial === trial).sort((a, b) => a.rung - b.rung);
  }

  want(): Promise<void> {
    // What could not be had is asked for again when it is next wanted; the page says that the server is away.
    this.asked ??= this.load().catch(() => { this.asked = null; });
    return this.asked;
  }

  forget(): void {
    this.asked = null;
    this.byPlace.clear();
  }

  add(decision: Decision): void {
    this.byPlace.set(keyOf(decision), decision);
    this.dirty = true;
  }

  flush(): void {
    if (!this.dirty) return;
    this.dirty = false;
    this.version.value += 1;
  }

  private async load(): Promise<void> {
    const told = [...this.byPlace.values()];
    for (const decision of await api.getAllDecisions(this.job)) this.byPlace.set(keyOf(decision), decision);
    for (const decision of told) this.byPlace.set(keyOf(decision), decision);
    this.loaded.value = true;
    this.version.value += 1;
  }
}
