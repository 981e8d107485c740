// The filter's language: `eta < 0.1 and state = stopped`, `max_depth in (3, 4) or not objective > 0.7`, `worker ~ gpu`.
// A parameter whose name is not a word, or is a field's, is written between backquotes.
import type { ParameterValue } from '../api/shapes.ts';
import { valueOf, type TrialRow, type TrialTable } from './trials.ts';

export type Cell = ParameterValue | null;
export type Predicate = (index: number) => boolean;
export type FilterResult = { ok: true; test: (table: TrialTable) => Predicate } | { ok: false; message: string; at: number };

type Reader = (table: TrialTable) => (index: number) => Cell;

const words: Record<string, Cell> = { nan: NaN, inf: Infinity, infinity: Infinity, null: null, none: null };

const fields: Record<string, (row: TrialRow) => Cell> = {
  trial: (row) => row.number,
  state: (row) => row.state,
  objective: valueOf,
  resource: (row) => row.resource,
  bracket: (row) => row.bracket,
  rung: (row) => row.rung,
  attempts: (row) => row.attempts,
  segments: (row) => row.segments,
  replicas: (row) => row.replicas,
  worker: (row) => row.worker,
  training_seconds: (row) => row.trainingSeconds,
  violation: (row) => row.violation,
  note: (row) => row.note,
};

export const fieldNames = Object.keys(fields);

interface Token {
  kind: 'word' | 'quoted_name' | 'text' | 'number' | 'sign' | 'end';
  text: string;
  at: number;
}

class Fault extends Error {
  constructor(
    message: string,
    readonly at: number,
  ) {
    super(message);
  }
}

const tokenPattern = /\s*(?:(`[^`]*`)|("(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')|(-?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)(?![\w.])|([\p{L}_][\p{L}\p{N}_.-]*)|(<=|>=|!=|==|&&|\|\||[<>=~!(),]))/uy;

function tokens(text: string): Token[] {
  const found: Token[] = [];
  let at = 0;
  while (text.slice(at).trim() !== '') {
    tokenPattern.lastIndex = at;
    const match = tokenPattern.exec(text);
    if (!match) throw new Fault(`cannot read “${text.slice(at).trim().slice(0, 12)}”`, at);
    const begin = match.index + match[0].length - match[0].trimStart().length;
    const [, name, quoted, number, word, sign] = match;
    if (name !== undefined) found.push({ kind: 'quoted_name', text: name.slice(1, -1), at: begin });
    else if (quoted !== undefined) found.push({ kind: 'text', text: quoted.slice(1, -1).replace(/\\(.)/g, '$1'), at: begin });
    else if (number !== undefined) found.push({ kind: 'number', text: number, at: begin });
    else if (word !== undefined) found.push({ kind: 'word', text: word, at: begin });
    else found.push({ kind: 'sign', text: sign ?? '', at: begin });
    at = tokenPattern.lastIndex;
  }
  found.push({ kind: 'end', text: '', at: text.length });
  return found;
}

function compare(sign: string, left: Cell, right: Cell): boolean {
  if (sign === '~') return left !== null && String(left).toLowerCase().includes(String(right).toLowerCase());
  if (sign === '=' || sign === '==') return equal(left, right);
  if (sign === '!=') return !equal(left, right);
  if (left === null || typeof left !== typeof right) return false;
  if (sign === '<') return left < (right as typeof left);
  if (sign === '<=') return left <= (right as typeof left);
  return sign === '>' ? left > (right as typeof left) : left >= (right as typeof left);
}

function equal(left: Cell, right: Cell): boolean {
  if (typeof left === 'number' && typeof right === 'number') return left === right || (Number.isNaN(left) && Number.isNaN(right));
  return left === null ? right === null : String(left) === String(right);
}

type Node = (table: TrialTable) => Predicate;

class Parser {
  private place = 0;
  constructor(
    private readonly all: Token[],
    private readonly parameters: ReadonlySet<string>,
  ) {}

  whole(): Node {
    const node = this.either();
    const rest = this.peek();
    if (rest.kind !== 'end') throw new Fault(`expected and, or, or the end, got “${rest.text}”`, rest.at);
    return node;
  }

  private peek(): Token {
    return this.all[this.place] as Token;
  }
  private next(): Token {
    const token = this.peek();
    if (token.kind !== 'end') this.place += 1;
    return token;
  }
  private takes(...texts: string[]): boolean {
    const token = this.peek();
    const found = (token.kind === 'word' || token.kind === 'sign') && texts.includes(token.text.toLowerCase());
    if (found) this.place += 1;
    return found;
  }

  private either(): Node {
    return this.chain(['or', '||'], () => this.both(), (tests, index) => tests.some((test) => test(index)));
  }

  private both(): Node {
    return this.chain(['and', '&&'], () => this.one(), (tests, index) => tests.every((test) => test(index)));
  }

  private chain(words: string[], next: () => Node, holds: (tests: Predicate[], index: number) => boolean): Node {
    const parts = [next()];
    while (this.takes(...words)) parts.push(next());
    if (parts.length === 1) return parts[0] as Node;
    return (table) => {
      const tests = parts.map((part) => part(table));
      return (index) => holds(tests, index);
    };
  }

  private one(): Node {
    if (this.takes('not', '!')) {
      const inner = this.one();
      return (table) => {
        const test = inner(table);
        return (index) => !test(index);
      };
    }
    if (this.takes('(')) {
      const inner = this.either();
      if (!this.takes(')')) throw new Fault('expected “)”', this.peek().at);
      return inner;
    }
    return this.comparison();
  }

  private comparison(): Node {
    const name = this.next();
    const read = this.reader(name);
    if (this.takes('in')) {
      const values = this.list();
      return (table) => {
        const cell = read(table);
        return (index) => values.some((value) => equal(cell(index), value));
      };
    }
    const sign = this.next();
    if (sign.kind !== 'sign' || !['<', '<=', '>', '>=', '=', '==', '!=', '~'].includes(sign.text)) {
      throw new Fault(`expected a comparison after “${name.text}”: = != < <= > >= ~ in`, sign.at);
    }
    const value = this.value();
    return (table) => {
      const cell = read(table);
      return (index) => compare(sign.text, cell(index), value);
    };
  }

  private list(): Cell[] {
    if (!this.takes('(')) throw new Fault('expected “(” after in', this.peek().at);
    const values = [this.value()];
    while (this.takes(',')) values.push(this.value());
    if (!this.takes(')')) throw new Fault('expected “)”', this.peek().at);
    return values;
  }

  private value(): Cell {
    const token = this.next();
    if (token.kind === 'number') return Number(token.text);
    if (token.kind === 'text') return token.text;
    if (token.kind !== 'word') throw new Fault('expected a value', token.at);
    const word = token.text.toLowerCase();
    return Object.hasOwn(words, word) ? (words[word] as Cell) : token.text;
  }

  private reader(token: Token): Reader {
    if (token.kind !== 'word' && token.kind !== 'quoted_name') throw new Fault('expected the name of a column', token.at);
    const field = token.kind === 'word' && Object.hasOwn(fields, token.text) ? fields[token.text] : undefined;
    if (field) return (table) => (index) => field(table.rows[index] as TrialRow);
    if (!this.parameters.has(token.text)) {
      throw new Fault(`there is no column “${token.text}”; there are ${[...fieldNames, ...this.parameters].join(', ')}`, token.at);
    }
    return (table) => {
      const column = table.parameters.get(token.text);
      return (index) => column?.[index] ?? null;
    };
  }
}

export function parseFilter(text: string, parameters: Iterable<string>): FilterResult {
  if (text.trim() === '') return { ok: true, test: () => () => true };
  try {
    return { ok: true, test: new Parser(tokens(text), new Set(parameters)).whole() };
  } catch (fault) {
    if (!(fault instanceof Fault)) throw fault;
    return { ok: false, message: fault.message, at: fault.at };
  }
}
