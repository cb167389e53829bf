import { readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import type { Breach } from './check-rooms.ts';
import { sourceFiles } from './source-files.ts';

interface Rule {
  readonly applies: (file: string) => boolean;
  readonly pattern: RegExp;
  readonly message: string;
}

const isTest = (file: string): boolean => file.endsWith('.test.ts');

/** Habits that a reader of the text can check. Each says why in its message. */
const rules: readonly Rule[] = [
  {
    applies: () => true,
    pattern: /\bTODO\b(?!\(#\d+\))/,
    message: 'a TODO names its issue, as TODO(#12): otherwise nobody finds it again',
  },
  {
    applies: isTest,
    pattern: /\bsetTimeout\(|\bawait sleep\(/,
    message: 'tests do not sleep: wait for what you expect, or use the clock of the lab',
  },
  { applies: isTest, pattern: /\btest\.(only|skip|todo)\(/, message: 'every test runs' },
  {
    applies: (file) => /^(packages|services)\//.test(file) && !isTest(file),
    pattern: /\bprocess\.env\b/,
    message: 'only config.ts and main.ts read the environment',
  },
];
const mayReadEnvironment = /\/(config|main|options)\.ts$/;

/** Lines that go against a habit of the house. */
export function findBadHabits(root: string): Breach[] {
  return sourceFiles(root).flatMap((file) => [
    ...badName(file),
    ...badLines(file, readFileSync(join(root, file), 'utf8')),
  ]);
}

function badName(file: string): Breach[] {
  if (!/^(utils?|helpers?)\.ts$/.test(basename(file))) return [];
  return [{ file, line: 1, message: 'no utils and no helpers: name the file after what it answers' }];
}

function badLines(file: string, text: string): Breach[] {
  if (file.startsWith('tools/project/src/check-')) return [];
  return text
    .split('\n')
    .flatMap((line, index) =>
      rules
        .filter(
          ({ applies, pattern }) =>
            applies(file) && pattern.test(line) && !(line.includes('process.env') && mayReadEnvironment.test(file)),
        )
        .map(({ message }) => ({ file, line: index + 1, message })),
    );
}
