import { TemplateError } from './errors.ts';

export type Token =
  | { readonly kind: 'word'; readonly text: string }
  /** `.`, `.Name`, `.Labels.rack`, `$`, `$.Name`, `$value.Name`: start and members. */
  | { readonly kind: 'path'; readonly start: string; readonly members: readonly string[] }
  | { readonly kind: 'literal'; readonly value: string | number | boolean | undefined }
  | { readonly kind: 'sign'; readonly text: '(' | ')' | '|' | ',' | ':=' };

const shapes =
  /\s+|(?<string>"(?:[^"\\\n]|\\.)*"|`[^`]*`)|(?<path>\$\w*(?:\.[A-Za-z_]\w*)*|(?:\.[A-Za-z_]\w*)+|\.)|(?<number>-?\d+(?:\.\d+)?)|(?<word>[A-Za-z_]\w*)|(?<sign>:=|[()|,])/y;

/** The tokens of an action. */
export function tokensOf(body: string, line: number): Token[] {
  const tokens: Token[] = [];
  shapes.lastIndex = 0;
  while (shapes.lastIndex < body.length) {
    const at = shapes.lastIndex;
    const match = shapes.exec(body);
    if (match === null) throw new TemplateError(line, `{{ ${body} }}: "${body.slice(at, at + 10)}" is not understood`);
    const token = tokenOf(match.groups ?? {}, body, line);
    if (token !== undefined) tokens.push(token);
  }
  return tokens;
}

function tokenOf(
  { string, path, number, word: identifier, sign: punctuation }: Record<string, string | undefined>,
  body: string,
  line: number,
): Token | undefined {
  if (string !== undefined) return { kind: 'literal', value: textIn(string, body, line) };
  if (path !== undefined) {
    const [start = '', ...members] = path.split('.');
    return { kind: 'path', start, members: members.filter((member) => member !== '') };
  }
  if (number !== undefined) return { kind: 'literal', value: Number(number) };
  if (identifier === 'true' || identifier === 'false') return { kind: 'literal', value: identifier === 'true' };
  if (identifier === 'nil') return { kind: 'literal', value: undefined };
  if (identifier !== undefined) return { kind: 'word', text: identifier };
  // The pattern matches exactly these signs.
  return punctuation === undefined ? undefined : { kind: 'sign', text: punctuation as '(' | ')' | '|' | ',' | ':=' };
}

function textIn(quoted: string, body: string, line: number): string {
  if (quoted.startsWith('`')) return quoted.slice(1, -1);
  try {
    // JSON has the common escapes of Go.
    return String(JSON.parse(quoted));
  } catch {
    throw new TemplateError(line, `{{ ${body} }}: the string ${quoted} has an escape that is not understood`);
  }
}
