import { readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { type CodeText, lineAt, readCode } from './code-text.ts';
import { sourceFiles } from './source-files.ts';
import { isTest } from './test-code.ts';
import type { Violation } from './violation.ts';

interface Convention {
  readonly applies: (file: string) => boolean;
  /** The part to search: `code` is without comments, `bare` also without string contents. A match starts outside strings. */
  readonly part: keyof CodeText;
  readonly pattern: RegExp;
  readonly message: string;
}

const everywhere = (): boolean => true;
const isProduct = (file: string): boolean => /^(packages|services)\/[^/]+\/src\//.test(file) && !isTest(file);
const mayReadEnvironment = (file: string): boolean => /\/(main|options)\.ts$/.test(file);

/** Conventions that can be checked on the text; the linter checks those that need types. Each message has the remedy. */
const conventions: readonly Convention[] = [
  {
    applies: everywhere,
    part: 'comments',
    pattern: /\b(?:TODO|FIXME|XXX)\b(?!\(#\d+\))/g,
    message: 'expected a TODO with its issue, as TODO(#12): otherwise it is forgotten',
  },
  {
    applies: everywhere,
    part: 'comments',
    pattern:
      /@ts-ignore|@ts-nocheck|@ts-expect-error(?!\s+\w+ \w+)|(?:ox|es)lint-disable(?![^\n]*-- \w+)|biome-ignore(?![^\n]*: \w+ \w+)/g,
    message: 'expected the reason of the exemption on the same line, as in `oxlint-disable-next-line RULE -- REASON`',
  },
  {
    applies: everywhere,
    part: 'bare',
    pattern: /^export default\b/gm,
    message: 'found a default export; use a named export, so that the name is the same everywhere',
  },
  {
    applies: isTest,
    part: 'bare',
    pattern: /(?<!\.)\bsetTimeout\(|\bawait sleep\(/g,
    message: 'found a sleep in a test; wait for the expected state, or use the clock of the test environment',
  },
  {
    applies: isTest,
    part: 'bare',
    pattern: /\b(?:test|it|describe|suite)\.(?:only|skip|todo)\(/g,
    message: 'found only, skip or todo; run the test or remove it',
  },
  {
    applies: isTest,
    part: 'bare',
    pattern: /\.listen\(\s*[1-9]/g,
    message: 'found a fixed port; listen on port 0 and read the assigned port',
  },
  {
    applies: isTest,
    part: 'code',
    pattern: /\b(?:test|it)\(\s*(['"`])(?:[^\s$]+(?:\s[^\s$]+)?\1|(?:(?!\1).)*\bshould\b)/g,
    message:
      'expected a title that is a sentence about behaviour in the present tense: "a claim without a matching server waits"',
  },
  {
    applies: (file) => isProduct(file) && !mayReadEnvironment(file),
    part: 'bare',
    pattern: /\bprocess\.(?:env|argv)\b/g,
    message: 'found process.env or process.argv outside options.ts and main.ts; take an argument',
  },
  {
    applies: isProduct,
    part: 'bare',
    pattern: /\bconsole\.(?:log|info|warn|error|debug)\(/g,
    message: 'found console output; write to the injected log',
  },
];

/** Lists violations of the conventions in all source files. */
export function findConventionViolations(root: string): Violation[] {
  return sourceFiles(root).flatMap((file) => conventionViolationsIn(file, readFileSync(join(root, file), 'utf8')));
}

/** The violations of one file; `file` is relative to the root. */
export function conventionViolationsIn(file: string, text: string): Violation[] {
  return [...nameViolations(file), ...lineViolations(file, text)].toSorted((one, other) => one.line - other.line);
}

const forbiddenNames: readonly (readonly [RegExp, string])[] = [
  [/^(?:[\w-]+-)?(?:utils?|helpers?)\.(?:test\.)?ts$/, 'no utils or helpers files; name the file after its contents'],
  [/^index\.ts$/, 'no barrels; import the file that declares the name'],
];

const nameViolations = (file: string): Violation[] =>
  forbiddenNames
    .filter(([pattern]) => pattern.test(basename(file)))
    .map(([, message]) => ({ file, line: 1, message: `found ${basename(file)}: ${message}` }));

function lineViolations(file: string, text: string): Violation[] {
  const parts = readCode(text);
  return conventions
    .filter(({ applies }) => applies(file))
    .flatMap(({ part, pattern, message }) =>
      [...parts[part].matchAll(pattern)]
        .filter(({ index }) => part === 'comments' || parts.bare[index] === text[index])
        .map(({ index }) => ({ file, line: lineAt(text, index), message })),
    );
}
