import { isMap, isScalar, isSeq, LineCounter, parseDocument, visit } from 'yaml';

/** What is wrong with a document, and where. Lines and columns count from 1. */
interface Finding {
  readonly line: number;
  readonly column: number;
  readonly says: string;
}

const mostFindings = 3;

/**
 * What butane says of a document that it refuses, in words that quote nothing of it: a document holds credentials, and
 * butane repeats texts, keys and names where they are wrong. A line of a shape that is not known here is left out.
 */
export function refusalIn(report: string, text: string): string {
  const places = new Places(text);
  const findings = report.split('\n').flatMap((line) => findingIn(line, places) ?? []);
  if (findings.length === 0) return 'butane refuses it for a reason that may quote it; see butane --strict --raw';
  const told = findings
    .slice(0, mostFindings)
    .map(({ line, column, says }) => `line ${line} column ${column}: ${says}`);
  const more = findings.length - told.length;
  return `${told.join('; ')}${more > 0 ? `; and ${more} more` : ''}`;
}

type Reader = (parts: readonly string[], places: Places) => Finding;

/** Every shape of a line that tells something; the summaries between them tell nothing. */
const shapes: readonly [RegExp, Reader][] = [
  [
    /^(?:error|warning) at \$([\w.-]*)\.[^,]*, line (\d+) col (\d+): unused key /i,
    ([path = '', line, column]) => ({ ...at(line, column), says: `unknown key${within(path)}` }),
  ],
  [
    /^(?:error|warning) at \$([\w.-]*), line (\d+) col (\d+): (.*)$/,
    ([path = '', line, column, says = '']) => ({ ...at(line, column), says: `${unquoted(says)}${within(path)}` }),
  ],
  [
    /^\s*line (\d+): cannot unmarshal !!(\w+).* into (\S+)$/,
    ([line, tag = '', type = ''], places) => ({
      ...places.ofValue(Number(line), tag),
      says: `expected ${wordOfType(type)}, found ${wordOfTag(tag)}`,
    }),
  ],
  [
    /^\s*line (\d+): mapping key .* already defined at line (\d+)$/,
    ([line, before], places) => ({ ...places.ofLine(Number(line)), says: `a key that line ${before} has already` }),
  ],
  [
    /^Error .* yaml: (?:line (\d+): )?([\w ,-]+(?: '.*)?)$/,
    ([line, says = ''], places) => ({ ...places.ofSyntaxError(Number(line ?? 1)), says: `no YAML: ${unquoted(says)}` }),
  ],
  [
    /^Error .*error parsing (variant|version);/,
    ([key = ''], places) => ({ ...places.ofKey(key), says: `expected ${key}: ${examples[key] ?? ''}` }),
  ],
  [
    /^Error .*No translator exists for variant /,
    (_, places) => ({ ...places.ofKey('version'), says: 'butane does not know this variant in this version' }),
  ],
];

const examples: Readonly<Record<string, string>> = { variant: 'fcos', version: '1.6.0' };

function findingIn(line: string, places: Places): Finding | undefined {
  for (const [shape, read] of shapes) {
    const [whole, ...parts] = shape.exec(line) ?? [];
    if (whole !== undefined) return read(parts, places);
  }
  return undefined;
}

const at = (line = '1', column = '1') => ({ line: Number(line), column: Number(column) });
const within = (path: string): string => (path === '' ? '' : ` (${path.replace(/^\./, '')})`);
/** From the first quotation mark to the last: what stands between may have some of its own. */
const unquoted = (words: string): string => words.replace(/["'`].*["'`]|["'`].*$/, '…').trim();

const words: Readonly<Record<string, string>> = {
  str: 'text',
  seq: 'a list',
  map: 'a map',
  int: 'a number',
  bool: 'true or false',
};
const wordOfTag = (tag: string): string => words[tag] ?? tag;

/** Go's name of a type: `[]v0_3.File`, `int`, `string`, or a structure. */
function wordOfType(type: string): string {
  if (type.startsWith('[]')) return 'a list';
  return { int: 'a number', string: 'text', bool: 'true or false' }[type] ?? 'a map';
}

/** Finds the columns that butane does not tell. */
class Places {
  readonly #lines = new LineCounter();
  readonly #document: ReturnType<typeof parseDocument>;

  constructor(text: string) {
    this.#document = parseDocument(text, { lineCounter: this.#lines, prettyErrors: false, logLevel: 'silent' });
  }

  /** The innermost value on the line that has the tag. */
  ofValue(line: number, tag: string): { line: number; column: number } {
    const isIt = (node: unknown): boolean =>
      tag === 'seq' ? isSeq(node) : tag === 'map' ? isMap(node) : isScalar(node);
    let found = this.ofLine(line);
    visit(this.#document, {
      Node: (key, node) => {
        const place = this.#placeOf(node.range?.[0]);
        if (key !== 'key' && place.line === line && isIt(node)) found = place;
      },
    });
    return found;
  }

  /** The first thing on the line. */
  ofLine(line: number): { line: number; column: number } {
    let column = 1;
    visit(this.#document, {
      Node: (_, node) => {
        const place = this.#placeOf(node.range?.[0]);
        if (place.line !== line) return undefined;
        ({ column } = place);
        return visit.BREAK;
      },
    });
    return { line, column };
  }

  /** Of the value at the root, or the beginning. */
  ofKey(key: string): { line: number; column: number } {
    const node = isMap(this.#document.contents) ? this.#document.contents.get(key, true) : undefined;
    return this.#placeOf(node?.range?.[0]);
  }

  /** Of what our own parser takes offence at, which counts columns; or of an alias that means nothing. */
  ofSyntaxError(line: number): { line: number; column: number } {
    const [first] = this.#document.errors;
    if (first !== undefined) return this.#placeOf(first.pos[0]);
    let found = { line, column: 1 };
    visit(this.#document, {
      Alias: (_, alias) => {
        if (alias.resolve(this.#document) !== undefined) return undefined;
        found = this.#placeOf(alias.range?.[0]);
        return visit.BREAK;
      },
    });
    return found;
  }

  #placeOf(offset = 0): { line: number; column: number } {
    const { line, col } = this.#lines.linePos(offset);
    return { line: Math.max(line, 1), column: Math.max(col, 1) };
  }
}
