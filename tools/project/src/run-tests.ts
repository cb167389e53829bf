import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { findBinaries } from '@metal/controlplane/binaries.ts';
import { ControlPlaneError } from '@metal/controlplane/errors.ts';
import { sourceFiles } from './source-files.ts';

const root = join(dirname(fileURLToPath(import.meta.url)), '../../..');
const patterns = process.argv.slice(2);

/** Test files that were asked for; tables first, then what needs a control plane, so that mistakes show early. */
function testFiles(): string[] {
  const files = sourceFiles(root).filter(
    (file) =>
      file.endsWith('.test.ts') && (patterns.length === 0 || patterns.some((pattern) => file.includes(pattern))),
  );
  return [...files.filter((file) => !needsControlPlane(file)), ...files.filter(needsControlPlane)];
}

const needsControlPlane = (file: string): boolean =>
  /openCluster|openLab|labsOfFile|startControlPlane/.test(readFileSync(join(root, file), 'utf8'));

async function main(): Promise<number> {
  const files = testFiles();
  if (files.length === 0) {
    process.stderr.write(`no test file's path contains ${patterns.join(' or ')}\n`);
    return 1;
  }
  // Built once and with progress, rather than inside the first test that waits for it.
  if (files.some(needsControlPlane)) await findBinaries({ say: (line) => process.stdout.write(`${line}\n`) });
  const concurrency = Math.max(2, availableParallelism());
  const child = spawn(process.execPath, ['--test', `--test-concurrency=${concurrency}`, ...files], {
    cwd: root,
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  const forward = (signal: NodeJS.Signals) => child.kill(signal);
  process.on('SIGINT', forward);
  process.on('SIGTERM', forward);
  return new Promise((resolve) => child.once('exit', (code) => resolve(code ?? 1)));
}

main().then(
  (code) => process.exit(code),
  (error: unknown) => {
    process.stderr.write(
      `run-tests: ${error instanceof ControlPlaneError ? error.message : error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`,
    );
    process.exit(1);
  },
);
