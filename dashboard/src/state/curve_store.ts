// Learning curves of a job's trials, asked for when a view first wants them and drawn on as observations come.
import { signal } from '@preact/signals';
import * as api from '../api/routes.ts';

export interface Curve {
  resource: number[];
  value: number[]; // NaN and infinities as they were reported
}

export class CurveStore {
  readonly version = signal(0);
  readonly leftOut = signal(0); // trials whose curves are not here
  readonly curves = new Map<number, Curve>();
  private asked: Promise<void> | null = null;
  private dirty = false;

  constructor(private readonly job: string) {}

  want(): Promise<void> {
    // What could not be had is asked for again when it is next wanted; the page says that the server is away.
    this.asked ??= this.load().catch(() => { this.asked = null; });
    return this.asked;
  }

  forget(): void {
    this.asked = null;
    this.curves.clear();
  }

  add(trial: number, resource: number, value: number): void {
    const curve = this.curves.get(trial) ?? { resource: [], value: [] };
    this.curves.set(trial, curve);
    this.dirty = true;
    const last = curve.resource.at(-1);
    if (last === undefined || resource > last) {
      curve.resource.push(resource);
      curve.value.push(value);
    }
  }

  flush(): void {
    if (!this.dirty) return;
    this.dirty = false;
    this.version.value += 1;
  }

  private async load(): Promise<void> {
    const { curves, leftOut } = await api.getCurves(this.job);
    for (const [trial, loaded] of curves) {
      const told = this.curves.get(trial);
      this.curves.set(trial, loaded);
      told?.resource.forEach((resource, index) => this.add(trial, resource, told.value[index] as number));
    }
    this.leftOut.value = leftOut;
    this.version.value += 1;
  }
}
