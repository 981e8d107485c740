// The model over two parameters.
import type { Surface } from '../api/shapes.ts';

// The same with x and y exchanged.
export function transposed(surface: Surface): Surface {
  const { x, y, x_values: columns, y_values: rows } = surface;
  const turn = (cells: readonly number[]): number[] => columns.flatMap((_, column) => rows.map((_row, row) => cells[row * columns.length + column] as number));
  return { ...surface, x: y, y: x, x_values: rows, y_values: columns, mean: turn(surface.mean), deviation: turn(surface.deviation) };
}
