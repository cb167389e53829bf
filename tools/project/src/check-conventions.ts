import { readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import type { Violation } from './check-boundaries.ts';
import { type CodeText, lineAt, readCode } from './code-text.ts';
import { sourceFiles } from './source-files.ts';

interface Convention {
  readonly applies: (file: string) => boolean;
  /** Where the pattern must not be found: code is without comments, bare code without texts too. It begins outside texts. */
  readonly part: keyof CodeText;
  readonly pattern: RegExp;
  readonly message: string;
}

const everywhere = (): boolean => true;
const isTest = (file: string): boolean => /\.(?:test|e2e)\.ts$/.test(file);
const isProduct = (file: string): boolean => /^(packages|services)\/[^/]+\/src\//.test(file) && !isTest(file);
const mayReadEnvironment = (file: string): boolean => /\/(config|main|options)\.ts$/.test(file);

/** Habits that a reader of the text can check; those that need types are the linter's. Each says what to do instead. */
const conventions: readonly Convention[] = [
  {
    applies: everywhere,
    part: 'comments',
    pattern: /\b(?:TODO|FIXME|XXX)\b(?!\(#\d+\))/g,
    message: 'expected a TODO with its issue, as TODO(#12): otherwise nobody finds it again',
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
    message: 'found a default export; export by name, so that the name is the same everywhere',
  },
  {
    applies: isTest,
    part: 'bare',
    pattern: /(?<!\.)\bsetTimeout\(|\bawait sleep\(/g,
    message: 'tests do not sleep; wait for what you expect, or use the clock of the lab',
  },
  {
    applies: isTest,
    part: 'bare',
    pattern: /\b(?:test|it|describe|suite)\.(?:only|skip|todo)\(/g,
    message: 'every test runs, or is removed',
  },
  {
    applies: isTest,
    part: 'bare',
    pattern: /\.listen\(\s*[1-9]/g,
    message: 'found a fixed port; listen on 0 and ask which port it became',
  },
  {
    applies: isTest,
    part: 'code',
    pattern: /\b(?:test|it)\(\s*(['"`])(?:[^\s$]+(?:\s[^\s$]+)?\1|(?:(?!\1).)*\bshould\b)/g,
    message: 'expected a title that is a sentence about behaviour, in the present: "a claim that nobody matches waits"',
  },
  {
    applies: (file) => isProduct(file) && !mayReadEnvironment(file),
    part: 'bare',
    pattern: /\bprocess\.(?:env|argv)\b/g,
    message: 'only config.ts, options.ts and main.ts read flags and environment; take an argument',
  },
  {
    applies: isProduct,
    part: 'bare',
    pattern: /\bconsole\.(?:log|info|warn|error|debug)\(/g,
    message: 'found the console; write to the log that you are given',
  },
];

/** Lines that go against a habit of the house. */
export function findConventionViolations(root: string): Violation[] {
  return sourceFiles(root).flatMap((file) => conventionViolationsIn(file, readFileSync(join(root, file), 'utf8')));
}

/** The bad habits of one file; `file` is relative to the root. */
export function conventionViolationsIn(file: string, text: string): Violation[] {
  return [...nameViolations(file), ...lineViolations(file, text)].toSorted((one, other) => one.line - other.line);
}

const forbiddenNames: readonly (readonly [RegExp, string])[] = [
  [/^(?:[\w-]+-)?(?:utils?|helpers?)\.(?:test\.)?ts$/, 'no utils and no helpers; name the file after what it answers'],
  [/^index\.ts$/, 'no barrels; import the file that has the name'],
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
