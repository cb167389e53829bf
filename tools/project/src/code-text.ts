/** The parts of a source file. Each has the length and the lines of the whole; the other parts are blank. */
export interface CodeText {
  /** Without comments; strings are kept. */
  readonly code: string;
  /** Without comments and without the contents of strings. */
  readonly bare: string;
  readonly comments: string;
}

/**
 * Comments, strings, templates and regular expressions; the first one in the text matches. A slash starts a regular expression if
 * no value can end before it. Types and JSX are irrelevant here.
 */
const token =
  /(?<comment>\/\/[^\n]*|\/\*[\s\S]*?\*\/)|(?<text>'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*"|`(?:\\.|[^`\\])*`)|(?<=(?:^|[=(,:;!&|?{}[\n]|=>|\breturn)[^\S\n]*)(?<pattern>\/(?![*/])(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\[\n])+\/[a-z]*)/g;

export function readCode(text: string): CodeText {
  const kept = { code: '', bare: '', comments: '' };
  let end = 0;
  const add = (code: string, bare: string, comments: string) => {
    kept.code += code;
    kept.bare += bare;
    kept.comments += comments;
  };
  for (const match of text.matchAll(token)) {
    const between = text.slice(end, match.index);
    add(between, between, blank(between));
    const [whole] = match;
    if (match.groups?.comment === undefined) add(whole, emptied(whole), blank(whole));
    else add(blank(whole), blank(whole), whole);
    end = match.index + whole.length;
  }
  const rest = text.slice(end);
  add(rest, rest, blank(rest));
  return kept;
}

const blank = (text: string): string => text.replace(/[^\n]/g, ' ');
/** Keeps the quotes, so that the result is still a string. */
const emptied = (text: string): string => `${text.slice(0, 1)}${blank(text.slice(1, -1))}${text.slice(-1)}`;

export const lineAt = (text: string, index: number): number => text.slice(0, index).split('\n').length;

export interface Import {
  readonly specifier: string;
  readonly line: number;
  /** `import type`: nothing of it is loaded. */
  readonly isTypeOnly: boolean;
}

const importing =
  /(?:^|[;\n])[^\S\n]*(?:import|export)\b[^'"`;]*?\bfrom\s*['"]([^'"]+)['"]|(?:^|[;\n])[^\S\n]*import\s*['"]([^'"]+)['"]|\bimport(?:\.meta\.resolve)?\(\s*['"]([^'"]+)['"]/g;

/** Static and dynamic imports of a file, with the line of the specifier. */
export function importsIn(text: string): Import[] {
  const { code, bare } = readCode(text);
  return [...code.matchAll(importing)]
    .filter(({ 0: whole, index }) => /\b(?:import|export)\b/.test(bare.slice(index, index + whole.length)))
    .map((match) => ({
      specifier: match[1] ?? match[2] ?? match[3] ?? '',
      line: lineAt(code, match.index + match[0].length),
      isTypeOnly: /\b(?:import|export)\s+type\b(?!\s+from\b)/.test(match[0]),
    }));
}
