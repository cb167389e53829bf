import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { findBadHabits } from './check-conventions.ts';
import { type Breach, findBreaches } from './check-rooms.ts';

const root = join(dirname(fileURLToPath(import.meta.url)), '../../..');
const bin = (name: string) => join(root, 'node_modules/.bin', name);

interface Verdict {
  readonly name: string;
  readonly seconds: number;
  readonly complaint: string | undefined;
}

function run(command: string, args: readonly string[]): Promise<string | undefined> {
  return new Promise((resolve) => {
    execFile(command, args, { cwd: root, maxBuffer: 64 * 1024 * 1024 }, (error, stdout, stderr) =>
      resolve(error === null ? undefined : `${stdout}${stderr}`.trim() || error.message),
    );
  });
}

const list = (breaches: readonly Breach[]): string | undefined =>
  breaches.length === 0
    ? undefined
    : breaches.map(({ file, line, message }) => `${file}:${line} ${message}`).join('\n');

/** Everything that can be said without running the product; each line names one check and its time. */
const checks: Record<string, () => Promise<string | undefined>> = {
  types: () => run(bin('tsc'), ['--noEmit']),
  lint: () => run(bin('oxlint'), ['--type-aware', '--deny-warnings', 'packages', 'services', 'tools', 'test']),
  format: () => run(bin('biome'), ['format']),
  rooms: async () => list(findBreaches(root)),
  habits: async () => list(findBadHabits(root)),
  freshness: async () =>
    existsSync(join(root, 'tools/project/src/generate.ts'))
      ? run(process.execPath, [join(root, 'tools/project/src/generate.ts'), '--check'])
      : undefined,
};

async function judge(name: string, check: () => Promise<string | undefined>): Promise<Verdict> {
  const startedAt = performance.now();
  const complaint = await check();
  const seconds = (performance.now() - startedAt) / 1_000;
  process.stdout.write(
    `${complaint === undefined ? '✔' : '✖'} ${name.padEnd(10)} ${seconds.toFixed(1).padStart(5)} s\n`,
  );
  return { name, seconds, complaint };
}

const verdicts = await Promise.all(Object.entries(checks).map(([name, check]) => judge(name, check)));
for (const { name, complaint } of verdicts) {
  if (complaint !== undefined) process.stdout.write(`\n${name}:\n${complaint}\n`);
}
process.exit(verdicts.some(({ complaint }) => complaint !== undefined) ? 1 : 0);
