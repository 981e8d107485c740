// Files that the page makes itself.

export function saveText(name: string, type: string, text: string): void {
  saveBlob(name, new Blob([text], { type }));
}

export function saveBlob(name: string, blob: Blob): void {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(blob);
  link.download = name.replace(/[^\w.-]+/g, '_');
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}

export interface Table {
  columns: string[];
  rows: (string | number | boolean | null)[][];
}

const likeAFormula = /^'*[=+\-@\t\r\n]/; // behind any apostrophes: one more is taken away again
const aNumber = /^[+-]?(?:(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?|inf(?:inity)?|nan(?:\(\w*\))?)$/i;

// RFC 4180. A text that a spreadsheet would take for a formula has an apostrophe in front, as in the server's own export
// (csv_cell).
export function csvOf(table: Table): string {
  const cell = (value: string | number | boolean | null): string => {
    if (value === null) return '';
    if (typeof value === 'number') return Number.isFinite(value) ? String(value) : Number.isNaN(value) ? 'nan' : value > 0 ? 'inf' : '-inf';
    const text = String(value);
    const safe = likeAFormula.test(text) && !aNumber.test(text) ? `'${text}` : text;
    return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
  };
  return [table.columns, ...table.rows].map((row) => `${row.map(cell).join(',')}\r\n`).join('');
}
