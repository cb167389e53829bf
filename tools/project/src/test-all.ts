import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { processorTimeMs } from '@metal/process/processor-time.ts';
import { Command } from 'commander';
import { describeParts, runParts, type TestPart } from './test-parts.ts';
import { describeSummary, sumOf } from './test-summary.ts';

async function main({ inSequence }: { inSequence: boolean }): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), 'metal-test-all-'));
  process.once('exit', () => rmSync(directory, { recursive: true, force: true }));
  const check: TestPart = { name: 'check', command: script('check.ts'), processorMs: () => processorTimeMs() };
  const write = (text: string) => void process.stdout.write(text);
  const checked = await runParts([[check]], write);
  if (checked.some(({ code }) => code !== 0)) process.exit(1);
  const run = (name: string, ...args: string[]) => testPart(name, join(directory, name), args);
  // A machine without KVM uses one core.
  const atOnce = inSequence ? [] : [`--at-once=${availableParallelism()}`];
  const tests = [run('tests', '--seeds=10', ...atOnce), run('matrix', '--all', ...atOnce, 'test/matrix/')];
  const e2e = { ...run('e2e', '--e2e'), isHeld: !inSequence };
  const ran = await runParts(inSequence ? [[...tests, e2e]] : [tests, [e2e]], write);
  const summaries = ran.flatMap(({ summary }) => summary ?? []);
  write(`\n${describeParts([...checked, ...ran])}\n\n${describeSummary(sumOf(summaries), performance.now())}\n`);
  process.exitCode = ran.some(({ code }) => code !== 0) ? 1 : 0;
}

const script = (name: string): string[] => [process.execPath, fileURLToPath(new URL(name, import.meta.url))];

const testPart = (name: string, times: string, args: readonly string[]): TestPart => ({
  name,
  command: [...script('run-tests.ts'), `--times=${times}`, ...args],
  processorMs: () => (existsSync(times) ? Number(readFileSync(times, 'utf8')) : 0),
});

await new Command('test-all')
  .description(
    'Everything that CI runs: checks, tests, the matrix, and machines in QEMU beside both. Prints the time of each part, and last the sum\nof their summaries as node:test does. Exits with 1 if a part fails; the others are completed.',
  )
  .option('--in-sequence', 'machines in QEMU after the tests, for a comparison', false)
  .action(main)
  .parseAsync();
