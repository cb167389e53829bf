import { isMap, isScalar, isSeq, parseDocument, visit } from 'yaml';

/** Lines and columns count from 1. */
export interface Place {
  readonly line: number;
  /** Undefined if it could not be determined. */
  readonly column?: number | undefined;
  /** The error may be some lines below: butane names the line of its collection. */
  readonly isNear?: boolean;
}

/** The offsets of the values of a line, from the outermost to the innermost, and of its first error. */
interface ParsedLine {
  readonly values: readonly { readonly tag: string; readonly at: number }[];
  readonly errorAt: number | undefined;
}

/** Longer lines and documents are not parsed, so that parsing takes some milliseconds at most. */
const maxLineLength = 1_000;
const maxDocumentLength = 4_096;

/** Parses one line alone: a collection that continues below is truncated, and still found. */
export function parseLine(text: string): ParsedLine {
  const document = parseDocument(text, { prettyErrors: false, logLevel: 'silent', uniqueKeys: false });
  const values: { tag: string; at: number }[] = [];
  visit(document, {
    Node: (key, node) => {
      const tag = isSeq(node) ? 'seq' : isMap(node) ? 'map' : isScalar(node) ? 'scalar' : 'alias';
      if (key !== 'key') values.push({ tag, at: node.range?.[0] ?? 0 });
    },
  });
  return { values, errorAt: document.errors[0]?.pos[0] };
}

/** Determines columns that butane does not report. A large document is not parsed as a whole, as a megabyte takes seconds. */
export class Places {
  readonly #text: string;
  readonly #parse: typeof parseLine;
  /** Offsets of line starts, determined on demand. */
  readonly #starts = [0];

  constructor(text: string, parse = parseLine) {
    this.#text = text;
    this.#parse = parse;
  }

  /** Of the innermost value with the tag on the line. */
  ofValue(line: number, tag: string): Place {
    const wanted = tag === 'seq' || tag === 'map' ? tag : 'scalar';
    const parsed = this.#parsed(line);
    if (parsed === undefined) return { line };
    const found = parsed.values.findLast((value) => value.tag === wanted);
    return found === undefined ? this.ofLine(line) : { line, column: found.at + 1 };
  }

  /** Of the first token on the line. */
  ofLine(line: number): Place {
    const text = this.#lineAt(line);
    return { line, column: text === undefined ? undefined : Math.max(text.search(/[^\s-]/), 0) + 1 };
  }

  /** Of the value of a plain key at the root, or the start of the document. */
  ofKey(key: string): Place {
    const match = new RegExp(`^(?:\\{[ \\t]*)?["']?${key}["']?[ \\t]*:`, 'm').exec(this.#text);
    return match === null ? { line: 1, column: 1 } : this.ofValue(this.#lineOf(match.index), 'str');
  }

  ofSyntaxError(line: number, message: string): Place {
    const [, anchor] = /^unknown anchor '([\w-]+)' referenced$/.exec(message) ?? [];
    const alias = anchor === undefined ? undefined : this.#aliasOf(anchor);
    if (alias !== undefined) return alias;
    // Butane often names the line of the collection that contains the error.
    const offset = this.#text.length > maxDocumentLength ? undefined : this.#parse(this.#text).errorAt;
    if (offset !== undefined) return this.#placeAt(offset);
    const at = this.#parsed(line)?.errorAt;
    return at === undefined ? { line, isNear: true } : { line, column: at + 1 };
  }

  #aliasOf(anchor: string): Place | undefined {
    const at = new RegExp(`\\*${anchor}(?![\\w-])`).exec(this.#text)?.index;
    return at === undefined ? undefined : this.#placeAt(at);
  }

  #placeAt(offset: number): Place {
    const line = this.#lineOf(offset);
    return { line, column: offset - (this.#starts[line - 1] ?? 0) + 1 };
  }

  #parsed(line: number): ParsedLine | undefined {
    const text = this.#lineAt(line);
    return text === undefined || text.length > maxLineLength ? undefined : this.#parse(text);
  }

  #lineAt(line: number): string | undefined {
    this.#find((count) => count > line);
    const start = this.#starts[line - 1];
    const next = this.#starts[line];
    return start === undefined ? undefined : this.#text.slice(start, next === undefined ? undefined : next - 1);
  }

  #lineOf(offset: number): number {
    this.#find((_, last) => last > offset);
    return this.#starts.findLastIndex((start) => start <= offset) + 1;
  }

  /** Scans for line starts until there are enough. */
  #find(isEnough: (count: number, last: number) => boolean): void {
    for (let last = this.#starts.at(-1) ?? 0; !isEnough(this.#starts.length, last); ) {
      const end = this.#text.indexOf('\n', last);
      if (end < 0) return;
      last = end + 1;
      this.#starts.push(last);
    }
  }
}
