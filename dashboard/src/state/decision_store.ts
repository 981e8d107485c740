// What was decided at the rungs: asked for when a view first wants it, then told by events.
import * as api from '../api/routes.ts';
import type { Decision } from '../api/shapes.ts';
import { LazyStore } from './lazy_store.ts';

const keyOf = (decision: Decision): string => `${decision.trial}/${decision.rung}`;

export class DecisionStore extends LazyStore {
  private readonly byPlace = new Map<string, Decision>(); // the last one of a trial at a rung counts

  constructor(private readonly job: () => string) {
    super();
  }

  get all(): Iterable<Decision> {
    return this.byPlace.values();
  }

  protected clear(): void {
    this.byPlace.clear();
  }

  add(decision: Decision): void {
    this.byPlace.set(keyOf(decision), decision);
    this.touched();
  }

  protected async load(): Promise<void> {
    const told = [...this.byPlace.values()];
    for (const decision of await api.getAllDecisions(this.job())) this.byPlace.set(keyOf(decision), decision);
    for (const decision of told) this.byPlace.set(keyOf(decision), decision);
  }
}
