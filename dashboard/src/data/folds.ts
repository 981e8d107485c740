// Cross-validation, as a job's document has it.
import type { JobDocument } from '../api/shapes.ts';
import { fieldOf } from './documents.ts';

const foldsOf = (spec: JobDocument): unknown => fieldOf(spec, ['trainer', 'data', 'folds']);

// Each model of such a job was trained on all rows already.
export const hasFolds = (spec: JobDocument): boolean => Boolean(foldsOf(spec));

// Below max_resource fewer folds are trained: values there are no measure of those at it.
export function hasFewerFoldsBelow(spec: JobDocument): boolean {
  const { count = 0, early = count } = Object(foldsOf(spec)) as { count?: number; early?: number };
  return early < count;
}
