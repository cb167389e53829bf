import { execFile } from 'node:child_process';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as z from 'zod';
import type { Violation } from './violation.ts';

/** Files and functions that may be larger, by `file` or `file#function`, each with the reason. */
export type SizeExceptions = Readonly<Record<string, string>>;

const exceptionFile = 'tools/project/size-exceptions.json';

/**
 * Lists product files of more than 250 lines and functions of more than 40, except those in `size-exceptions.json`, and
 * exceptions that are no longer needed. `sizes.oxlintrc.json` has the limits.
 */
export async function findSizeViolations(root: string): Promise<Violation[]> {
  const exceptions = z
    .record(z.string(), z.string().min(1))
    .parse(JSON.parse(readFileSync(join(root, exceptionFile), 'utf8')));
  return compareWithExceptions(await measure(root), exceptions);
}

export interface Oversize extends Violation {
  /** Empty for a whole file. */
  readonly functionName: string;
}

/** Violations without an exception, and exceptions without a violation. */
export function compareWithExceptions(found: readonly Oversize[], exceptions: SizeExceptions): Violation[] {
  const keyOf = ({ file, functionName }: Oversize) => (functionName === '' ? file : `${file}#${functionName}`);
  const keys = new Set(found.map(keyOf));
  const unused = Object.keys(exceptions).filter((key) => !keys.has(key));
  return [
    ...found
      .filter((oversize) => !Object.hasOwn(exceptions, keyOf(oversize)))
      .map(({ file, line, message }) => ({ file, line, message })),
    ...unused.map((key) => ({
      file: exceptionFile,
      line: 1,
      message: `names ${key}, which is small enough; remove the entry`,
    })),
  ];
}

const diagnostics = z.object({
  diagnostics: z.array(
    z.object({
      filename: z.string(),
      message: z.string(),
      labels: z.array(z.object({ span: z.object({ line: z.int() }) })).min(1),
    }),
  ),
});

/** oxlint exits with 1 when it finds something. */
async function measure(root: string): Promise<Oversize[]> {
  const folders = globSync('{packages,services}/*/src', { cwd: root });
  const tests = ['test', 'e2e'].flatMap((kind) => ['--ignore-pattern', `**/*.${kind}.ts`]);
  const parameters = ['-c', 'tools/project/sizes.oxlintrc.json', '--format=json', ...tests, ...folders];
  const output = await new Promise<string>((resolve) => {
    execFile(join(root, 'node_modules/.bin/oxlint'), parameters, { cwd: root, maxBuffer: 2 ** 26 }, (_error, stdout) =>
      resolve(stdout),
    );
  });
  return diagnostics.parse(JSON.parse(output)).diagnostics.map(({ filename, message, labels: [label] }) => ({
    file: filename,
    line: label?.span.line ?? 1,
    message: `${message} Split it, or add it to ${exceptionFile} with a reason.`,
    functionName: message.startsWith('File ') ? '' : (/`([^`]+)`/.exec(message)?.[1] ?? 'anonymous'),
  }));
}
