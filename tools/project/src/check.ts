import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { findBoundaryViolations } from './check-boundaries.ts';
import { findChartProblem } from './check-chart.ts';
import { findConventionViolations } from './check-conventions.ts';
import { findBrokenLinks } from './check-links.ts';
import { findLockViolations } from './check-lock.ts';
import { findSizeViolations } from './check-sizes.ts';
import { findRetiredWords } from './check-words.ts';
import type { Violation } from './violation.ts';

const root = join(dirname(fileURLToPath(import.meta.url)), '../../..');
const bin = (name: string) => join(root, 'node_modules/.bin', name);

interface CheckResult {
  readonly name: string;
  readonly seconds: number;
  readonly problem: string | undefined;
}

function run(command: string, args: readonly string[]): Promise<string | undefined> {
  return new Promise((resolve) => {
    execFile(command, args, { cwd: root, maxBuffer: 64 * 1024 * 1024 }, (error, stdout, stderr) =>
      resolve(error === null ? undefined : `${stdout}${stderr}`.trim() || error.message),
    );
  });
}

const list = (violations: readonly Violation[]): string | undefined =>
  violations.length === 0
    ? undefined
    : violations.map(({ file, line, message }) => `${file}:${line} ${message}`).join('\n');

/** Checks that do not run the product. The output has one line for each, with its time. */
const checks: Record<string, () => Promise<string | undefined>> = {
  types: () => run(bin('tsc'), ['--noEmit']),
  lint: () => run(bin('oxlint'), ['--type-aware', '--deny-warnings', 'packages', 'services', 'tools', 'test']),
  format: () => run(bin('biome'), ['format']),
  boundaries: async () => list(findBoundaryViolations(root)),
  conventions: async () => list(findConventionViolations(root)),
  words: async () => list(findRetiredWords(root)),
  sizes: async () => list(await findSizeViolations(root)),
  links: async () => list(findBrokenLinks(root)),
  lock: async () => list(findLockViolations(root)),
  chart: () => findChartProblem(process.env),
  freshness: async () =>
    existsSync(join(root, 'tools/project/src/generate.ts'))
      ? run(process.execPath, [join(root, 'tools/project/src/generate.ts'), '--check'])
      : undefined,
};

async function runCheck(name: string, check: () => Promise<string | undefined>): Promise<CheckResult> {
  const startedAt = performance.now();
  const problem = await check();
  const seconds = (performance.now() - startedAt) / 1_000;
  process.stdout.write(`${problem === undefined ? '✔' : '✖'} ${name.padEnd(11)} ${seconds.toFixed(1).padStart(5)} s\n`);
  return { name, seconds, problem };
}

const results = await Promise.all(Object.entries(checks).map(([name, check]) => runCheck(name, check)));
for (const { name, problem } of results) {
  if (problem !== undefined) process.stdout.write(`\n${name}:\n${problem}\n`);
}
process.exit(results.some(({ problem }) => problem !== undefined) ? 1 : 0);
