import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { lineAt, readCode } from './code-text.ts';
import { sourceFiles } from './source-files.ts';
import type { Violation } from './violation.ts';

/** Words that identifiers must not contain, each with the terms to use instead. */
export interface RetiredWords {
  /** Parts of an identifier: `turn` in `serverTurn`, not in `return`. Lower case. */
  readonly words: Readonly<Record<string, string>>;
  /** Consecutive parts of an identifier: `letGo` in `letGoOf`. */
  readonly compounds: Readonly<Record<string, string>>;
  /** Identifiers that are allowed although they contain a retired word. */
  readonly allowed: readonly string[];
}

/** Reads `retired-words.json` and lists identifiers that use a retired word. Strings, such as reasons, annotations and labels, are exempt. */
export function findRetiredWords(root: string): Violation[] {
  const retired = readRetiredWords(root);
  return sourceFiles(root)
    .filter((file) => !holdsContract(file))
    .flatMap((file) => retiredWordsIn(file, readFileSync(join(root, file), 'utf8'), retired));
}

/** Files with reasons as property names. */
const holdsContract = (file: string): boolean => /(?:^|[-/])reasons\.ts$/.test(file);

export function readRetiredWords(root: string): RetiredWords {
  // A file of this repository.
  return JSON.parse(readFileSync(join(root, 'tools/project/retired-words.json'), 'utf8')) as RetiredWords;
}

/** Violations of one file, one for each identifier; `file` is relative to the root. */
export function retiredWordsIn(file: string, text: string, retired: RetiredWords): Violation[] {
  const seen = new Set<string>();
  return [...readCode(text).bare.matchAll(/[A-Za-z_$][\w$]*/g)].flatMap(({ 0: identifier, index }) => {
    if (seen.has(identifier)) return [];
    seen.add(identifier);
    const found = retiredIn(identifier, retired);
    if (found === undefined) return [];
    const [word, terms] = found;
    return [{ file, line: lineAt(text, index), message: `found ${identifier}: "${word}" is retired; use ${terms}` }];
  });
}

function retiredIn(
  identifier: string,
  { words, compounds, allowed }: RetiredWords,
): readonly [string, string] | undefined {
  if (allowed.includes(identifier)) return undefined;
  const parts = partsOf(identifier);
  const compound = Object.entries(compounds).find(([name]) =>
    ` ${parts.join(' ')} `.includes(` ${partsOf(name).join(' ')} `),
  );
  if (compound !== undefined) return compound;
  const word = parts.find((part) => Object.hasOwn(words, part));
  return word === undefined ? undefined : [word, words[word] ?? ''];
}

/** `readHTTPBody` is read, http and body. */
const partsOf = (identifier: string): string[] =>
  identifier.split(/[_$]+|(?<=[a-z\d])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])/).map((part) => part.toLowerCase());
