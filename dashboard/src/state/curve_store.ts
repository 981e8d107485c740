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

  private detail: api.CurveDetail = 'few';

  constructor(private readonly job: () => string) {
    super();
  }

  // What is there already in more detail is enough.
  wantDetail(detail: api.CurveDetail): Promise<void> {
    if (detail === 'many' && this.detail === 'few') {
      this.detail = detail;
      this.askAnew();
    }
    return this.want();
  }

  protected clear(): void {
    this.curves.clear();
  }

  // The curve of one that is not among those that the server chose.
  async ensure(trial: number): Promise<void> {
    await this.want();
    if (this.curves.has(trial)) return;
    for (const [number, curve] of await api.getCurvesOf(this.job(), [trial])) this.curves.set(number, curve);
    this.touched();
  }

  // A trial may be trained anew, at a rung or after a loss: then what it had there and above is of a training that counts no more.
  add(trial: number, resource: number, value: number): void {
    const curve = this.curves.get(trial) ?? { resource: [], value: [] };
    this.curves.set(trial, curve);
    this.touched();
    const at = curve.resource.findLastIndex((one) => one < resource) + 1;
    curve.resource.splice(at, Infinity, resource);
    curve.value.splice(at, Infinity, value);
  }

  protected async load(): Promise<void> {
    const { detail } = this;
    const { curves, leftOut } = await api.getCurves(this.job(), detail);
    if (detail !== this.detail) return; // more was asked for meanwhile
    for (const [trial, loaded] of curves) {
      const told = this.curves.get(trial);
      this.curves.set(trial, loaded);
      const last = loaded.resource.at(-1) ?? -Infinity; // until there the answer is whole
      told?.resource.forEach((resource, index) => { if (resource > last) this.add(trial, resource, told.value[index] as number); });
    }
    this.leftOut.value = leftOut;
  }
}
