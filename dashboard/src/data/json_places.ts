// Where each value of a JSON text stands, by its path as the server writes it: `search_space.eta.max`, `enqueue[0].eta`.

export interface Span {
  from: number;
  to: number;
}

export type Places = ReadonlyMap<string, Span>;

// Of a text that is not JSON, the places up to the fault.
export function jsonPlaces(text: string): Places {
  const scanner = new Scanner(text);
  try {
    scanner.value('');
  } catch (error) {
    if (!(error instanceof Stopped)) throw error;
  }
  return scanner.places;
}

class Stopped extends Error {}

class Scanner {
  readonly places = new Map<string, Span>();
  private at = 0;
  constructor(private readonly text: string) {}

  value(path: string): void {
    this.space();
    const from = this.at;
    const mark = this.text[this.at];
    if (mark === '{') this.members(path);
    else if (mark === '[') this.elements(path);
    else if (mark === '"') this.string();
    else this.word();
    this.places.set(path, { from, to: this.at });
  }

  private members(path: string): void {
    this.at += 1;
    for (this.space(); this.text[this.at] !== '}'; this.comma('}')) {
      const name = JSON.parse(this.string()) as string;
      this.expect(':');
      this.value(path === '' ? name : `${path}.${name}`);
    }
    this.at += 1;
  }

  private elements(path: string): void {
    this.at += 1;
    let index = 0;
    for (this.space(); this.text[this.at] !== ']'; this.comma(']')) {
      this.value(`${path}[${index}]`);
      index += 1;
    }
    this.at += 1;
  }

  private comma(end: string): void {
    this.space();
    if (this.text[this.at] === end) return;
    this.expect(',');
    this.space();
  }

  private expect(mark: string): void {
    this.space();
    if (this.text[this.at] !== mark) throw new Stopped();
    this.at += 1;
  }

  private take(pattern: RegExp): string {
    pattern.lastIndex = this.at;
    const match = pattern.exec(this.text);
    if (!match) throw new Stopped();
    this.at = pattern.lastIndex;
    return match[0];
  }

  private space(): void { this.take(/\s*/y); }
  private string(): string { return this.take(/"(?:[^"\\\n]|\\.)*"/y); }
  private word(): void { this.take(/[-+\w.]+/y); }
}

// The place of a path, or of the nearest thing around it: what is missing has no place of its own.
export function placeOfPath(places: Places, path: string): Span | undefined {
  for (let rest = path; ; rest = rest.replace(/(\.[^.[\]]*|\[\d+\]|^[^.[\]]*)$/, '')) {
    const span = places.get(rest);
    if (span || rest === '') return span;
  }
}
