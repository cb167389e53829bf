import { TemplateError } from './errors.ts';
import { functions } from './functions.ts';
import { type Piece, piecesOf } from './pieces.ts';
import { type Token, tokensOf } from './tokens.ts';

export type Operand =
  | { readonly kind: 'path'; readonly start: string; readonly members: readonly string[] }
  | { readonly kind: 'literal'; readonly value: string | number | boolean | undefined }
  | { readonly kind: 'pipeline'; readonly pipeline: Pipeline };

/** A function with its arguments; without a function, a single operand. */
export interface Command {
  readonly call: string | undefined;
  readonly operands: readonly Operand[];
}
/** Each command gets the result of the previous one as its last argument. */
export type Pipeline = readonly Command[];

export type Statement =
  | { readonly kind: 'text'; readonly text: string }
  | ({ readonly kind: 'print' } & PipelineAction)
  | ({ readonly kind: 'if' | 'with' | 'range' } & PipelineAction & Branches);

interface PipelineAction {
  readonly pipeline: Pipeline;
  readonly line: number;
  /** Text of the action, for messages. */
  readonly body: string;
}

interface Branches {
  /** Variables of `range $key, $value := …`; the last one is the value. */
  readonly variables: readonly string[];
  readonly inner: readonly Statement[];
  readonly otherwise: readonly Statement[];
}

const unsupported = new Set(['define', 'template', 'block', 'break', 'continue']);

/** @throws TemplateError with line and construct. */
export function parse(template: string): readonly Statement[] {
  const parser = new Parser(piecesOf(template));
  const { statements, ended } = parser.statements(new Set(['$']));
  if (ended !== undefined) throw new TemplateError(ended.line, `{{ ${ended.body} }} has no matching block`);
  return statements;
}

interface End {
  readonly keyword: 'end' | 'else';
  readonly body: string;
  readonly line: number;
  readonly tokens: readonly Token[];
}

class Parser {
  readonly #pieces: readonly Piece[];
  #at = 0;

  constructor(pieces: readonly Piece[]) {
    this.#pieces = pieces;
  }

  /** Up to the `end` or `else` that closes the block, or to the end of the template. */
  statements(known: ReadonlySet<string>): { statements: Statement[]; ended: End | undefined } {
    const statements: Statement[] = [];
    for (let piece = this.#next(); piece !== undefined; piece = this.#next()) {
      if (piece.kind === 'text') {
        statements.push(piece);
        continue;
      }
      const { body, line } = piece;
      const [first, ...rest] = tokensOf(body, line);
      const keyword = first?.kind === 'word' ? first.text : '';
      if (keyword === 'end' || keyword === 'else') return { statements, ended: { keyword, body, line, tokens: rest } };
      statements.push(this.#statement(first === undefined ? [] : [first, ...rest], body, line, known));
    }
    return { statements, ended: undefined };
  }

  #next(): Piece | undefined {
    const piece = this.#pieces[this.#at];
    this.#at += 1;
    return piece;
  }

  #statement(tokens: readonly Token[], body: string, line: number, known: ReadonlySet<string>): Statement {
    const [first] = tokens;
    const keyword = first?.kind === 'word' ? first.text : '';
    if (unsupported.has(keyword)) throw new TemplateError(line, `{{ ${body} }}: "${keyword}" is not supported`);
    if (keyword === 'if' || keyword === 'with' || keyword === 'range')
      return this.#block(keyword, tokens.slice(1), { body, line }, known);
    return { kind: 'print', pipeline: pipelineOf(tokens, { body, line, known }), line, body };
  }

  #block(
    kind: 'if' | 'with' | 'range',
    tokens: readonly Token[],
    { body, line }: { body: string; line: number },
    known: ReadonlySet<string>,
  ): Statement {
    const { variables, rest } = declared(tokens, kind, { body, line });
    const inside = new Set([...known, ...variables]);
    const pipeline = pipelineOf(rest, { body, line, known });
    const { statements: inner, ended } = this.statements(inside);
    if (ended === undefined) throw new TemplateError(line, `{{ ${body} }} is not closed; expected {{ end }}`);
    const otherwise = ended.keyword === 'end' ? [] : this.#otherwise(kind, ended, known);
    return { kind, pipeline, line, body, variables, inner, otherwise };
  }

  /** After `else`, or `else if …`, which is a block without an `end` of its own. */
  #otherwise(kind: string, { tokens, body, line }: End, known: ReadonlySet<string>): readonly Statement[] {
    const [first, ...rest] = tokens;
    if (first !== undefined) {
      if (first.kind === 'word' && first.text === 'if' && kind === 'if')
        return [this.#block('if', rest, { body, line }, known)];
      throw new TemplateError(
        line,
        `{{ ${body} }} is not understood; expected {{ else }} or, within an if, {{ else if … }}`,
      );
    }
    const { statements, ended } = this.statements(known);
    if (ended?.keyword === 'end') return statements;
    throw new TemplateError(line, `{{ ${body} }} is not closed; expected {{ end }}`);
  }
}

/** `range $value := …` and `range $key, $value := …`. */
function declared(
  tokens: readonly Token[],
  kind: string,
  { body, line }: { body: string; line: number },
): { variables: string[]; rest: readonly Token[] } {
  const sign = tokens.findIndex((token) => token.kind === 'sign' && token.text === ':=');
  if (sign < 0) return { variables: [], rest: tokens };
  const names = tokens.slice(0, sign).filter((token) => token.kind !== 'sign');
  const variables = names.flatMap((token) =>
    token.kind === 'path' && token.start.length > 1 && token.members.length === 0 ? [token.start] : [],
  );
  if (kind !== 'range' || variables.length !== names.length || variables.length < 1 || variables.length > 2)
    throw new TemplateError(line, `{{ ${body} }}: variables are declared only as {{ range $key, $value := … }}`);
  return { variables, rest: tokens.slice(sign + 1) };
}

interface Place {
  readonly body: string;
  readonly line: number;
  /** Variables in scope. */
  readonly known: ReadonlySet<string>;
}

function pipelineOf(tokens: readonly Token[], place: Place): Pipeline {
  const reader = new PipelineReader(tokens, place);
  const pipeline = reader.pipeline();
  if (reader.isDone) return pipeline;
  throw new TemplateError(place.line, `{{ ${place.body} }}: found ) without (`);
}

class PipelineReader {
  readonly #tokens: readonly Token[];
  readonly #place: Place;
  #at = 0;

  constructor(tokens: readonly Token[], place: Place) {
    this.#tokens = tokens;
    this.#place = place;
  }

  get isDone(): boolean {
    return this.#at >= this.#tokens.length;
  }

  /** Up to a closing parenthesis or the end. */
  pipeline(): Pipeline {
    const commands = [this.#command(true)];
    while (this.#takes('|')) commands.push(this.#command(false));
    return commands;
  }

  #command(isFirst: boolean): Command {
    const [first] = this.#tokens.slice(this.#at);
    const call = first?.kind === 'word' ? this.#functionName(first.text) : undefined;
    if (call !== undefined) this.#at += 1;
    const operands: Operand[] = [];
    for (let operand = this.#operand(); operand !== undefined; operand = this.#operand()) operands.push(operand);
    if (call === undefined && operands.length === 0) throw this.#error('expected a value');
    if (call === undefined && operands.length > 1) throw this.#error('a value takes no arguments; only functions do');
    if (call === undefined && !isFirst) throw this.#error('expected a function after |');
    return { call, operands };
  }

  #operand(): Operand | undefined {
    const token = this.#tokens[this.#at];
    if (token === undefined || (token.kind === 'sign' && (token.text === '|' || token.text === ')'))) return undefined;
    this.#at += 1;
    if (token.kind === 'literal') return token;
    if (token.kind === 'word')
      return { kind: 'pipeline', pipeline: [{ call: this.#functionName(token.text), operands: [] }] };
    if (token.kind === 'path') return this.#known(token);
    if (token.text !== '(') throw this.#error(`"${token.text}" is not understood here`);
    const pipeline = this.pipeline();
    if (!this.#takes(')')) throw this.#error('found ( without )');
    return { kind: 'pipeline', pipeline };
  }

  #known(token: Token & { kind: 'path' }): Operand {
    if (token.start === '' || this.#place.known.has(token.start)) return token;
    throw this.#error(`variable ${token.start} is not declared`);
  }

  #functionName(name: string): string {
    if (Object.hasOwn(functions, name)) return name;
    throw this.#error(`unknown function "${name}"; expected one of ${Object.keys(functions).join(', ')}`);
  }

  #takes(sign: string): boolean {
    const token = this.#tokens[this.#at];
    if (token?.kind !== 'sign' || token.text !== sign) return false;
    this.#at += 1;
    return true;
  }

  #error(problem: string): TemplateError {
    return new TemplateError(this.#place.line, `{{ ${this.#place.body} }}: ${problem}`);
  }
}
