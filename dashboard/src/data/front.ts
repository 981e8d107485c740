// Of points those to which no other is as good or better in both: the less `a` the better, and `b` as the goal says.
export function frontOf<P extends { a: number; b: number }>(points: readonly P[], goal: 'maximize' | 'minimize'): P[] {
  const cost = (point: P): number => (goal === 'maximize' ? -point.b : point.b);
  let least = Infinity;
  return [...points].sort((one, other) => one.a - other.a || cost(one) - cost(other)).filter((point) => {
    if (!(cost(point) < least)) return false;
    least = cost(point);
    return true;
  });
}
