// Learning curves of a job's trials, asked for when a view first wants them and drawn on as observations come.
import { signal } from '@preact/signals';
import * as api from '../api/routes.ts';
import { LazyStore } from './lazy_store.ts';

export interface Curve {
  resource: number[];
  value: number[]; // NaN and infinities as they were reported
}

export class CurveStore extends LazyStore {
  readonly leftOut = signal(0); // trials whose curves are not here
  readonly curves = new Map<number, Curve>();

  constructor(private readonly job: string) {
    super();
  }

  protected clear(): void {
    this.curves.clear();
  }

  add(trial: number, resource: number, value: number): void {
    const curve = this.curves.get(trial) ?? { resource: [], value: [] };
    this.curves.set(trial, curve);
    this.touched();
    const last = curve.resource.at(-1);
    if (last === undefined || resource > last) {
      curve.resource.push(resource);
      curve.value.push(value);
    }
  }

  protected async load(): Promise<void> {
    const { curves, leftOut } = await api.getCurves(this.job);
    for (const [trial, loaded] of curves) {
      const told = this.curves.get(trial);
      this.curves.set(trial, loaded);
      told?.resource.forEach((resource, index) => this.add(trial, resource, told.value[index] as number));
    }
    this.leftOut.value = leftOut;
  }
}
