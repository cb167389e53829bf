import { TemplateError } from './errors.ts';

/** Literal text, or the contents of an action. */
export type Piece =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'action'; readonly body: string; readonly line: number };

/**
 * Splits a template into text and actions. `{{- ` trims white space before an action and ` -}}` after it; comments are dropped.
 */
export function piecesOf(template: string): Piece[] {
  const pieces: Piece[] = [];
  let at = 0;
  let trimNext = false;
  for (;;) {
    const start = template.indexOf('{{', at);
    const text = template.slice(at, start < 0 ? undefined : start);
    const kept = trimNext ? text.trimStart() : text;
    if (start < 0) {
      pieces.push({ kind: 'text', text: kept });
      return pieces.filter((piece) => piece.kind === 'action' || piece.text !== '');
    }
    const line = lineAt(template, start);
    const end = endOfAction(template, start + 2, line);
    const inside = template.slice(start + 2, end);
    pieces.push({ kind: 'text', text: /^-\s/.test(inside) ? kept.trimEnd() : kept });
    trimNext = /\s-$/.test(inside);
    const body = inside
      .replace(/^-(?=\s)/, '')
      .replace(/(?<=\s)-$/, '')
      .trim();
    if (!isComment(body, line)) pieces.push({ kind: 'action', body, line });
    at = end + 2;
  }
}

/** The first `}}` outside strings and comments. */
function endOfAction(template: string, start: number, line: number): number {
  const inert = /\/\*.*?\*\/|"(?:[^"\\\n]|\\.)*"|`[^`]*`|\}\}/gs;
  inert.lastIndex = start;
  for (let match = inert.exec(template); match !== null; match = inert.exec(template)) {
    if (match[0] === '}}') return match.index;
  }
  throw new TemplateError(line, 'found {{ without }}');
}

function isComment(body: string, line: number): boolean {
  if (!body.startsWith('/*')) return false;
  if (body.endsWith('*/')) return true;
  throw new TemplateError(line, `{{ ${body} }}: a comment ends with */ just before }}`);
}

const lineAt = (text: string, index: number): number => text.slice(0, index).split('\n').length;
