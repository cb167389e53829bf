import { spawn } from 'node:child_process';
import { availableParallelism } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { findBinaries } from '@metal/controlplane/binaries.ts';
import { ControlPlaneError } from '@metal/controlplane/errors.ts';
import { FleetError } from '@metal/simulator/errors.ts';
import { qemuAvailable } from '@metal/simulator/qemu/programs.ts';
import { Command } from 'commander';
import { findButane } from './butane.ts';
import { ImportGraph } from './import-graph.ts';
import { findImageRegistry } from './image-registry.ts';
import { type Leftovers, markRun } from './leftovers.ts';
import { findPromtool } from './promtool.ts';
import { sourceFiles } from './source-files.ts';

const root = join(dirname(fileURLToPath(import.meta.url)), '../../..');
const testTimeoutMs = 600_000;
/** What the seeded stories try unless told otherwise. */
const usualSeeds = 20;
/** Each file at work may have an API server of 300 MB. */
const mostAtOnce = 8;
/** Machines without KVM take a core each, and what they do has deadlines. */
const mostMachinesAtOnce = 1;

const goPrograms = [
  { file: 'tools/project/src/promtool.ts', find: findPromtool },
  { file: 'tools/project/src/image-registry.ts', find: findImageRegistry },
  { file: 'tools/project/src/butane.ts', find: findButane },
];

const command = new Command('run-tests')
  .description(
    'Runs the tests with node:test: tables first, then whatever needs a control plane, which is built before if it has\nto be. Exits with the code of node:test, or with 1 when tests left processes or files behind.',
  )
  .argument('[words...]', 'only files whose path contains one of the words; all files without any')
  .option('--only <pattern>', 'only tests whose title matches the pattern')
  .option('--seeds <count>', 'how many seeds the seeded stories try')
  .option('--first-seed <number>', 'the first of them, to repeat one that failed')
  .option('--e2e', 'run the files that boot real machines in QEMU (*.e2e.ts) instead of the tests', false)
  .option('--list', 'list the files instead of running them', false)
  .action(main);

interface Flags {
  only?: string;
  seeds?: string;
  firstSeed?: string;
  e2e: boolean;
  list: boolean;
}

async function main(words: string[], { only, list, e2e, seeds, firstSeed }: Flags): Promise<void> {
  const files = testFiles(words, e2e ? '.e2e.ts' : '.test.ts');
  if (files.length === 0) throw new Error(`no test file's path contains ${words.join(' or ')}`);
  if (list) return void process.stdout.write(`${files.map(({ path }) => path).join('\n')}\n`);
  if (e2e) await demandQemu();
  // Built once and with progress, rather than inside the first test that waits for it.
  const say = (line: string) => void process.stdout.write(`${line}\n`);
  if (files.some(({ slow }) => slow)) await findBinaries({ say });
  for (const { file, find } of goPrograms)
    if (files.some(({ goFiles }) => goFiles.includes(file))) await find({ environment: process.env, say });
  await using run = await markRun(process.env);
  const code = await runNode(
    files.map(({ path }) => path),
    { only, seeds: Number(seeds ?? usualSeeds), atOnce: e2e ? mostMachinesAtOnce : mostAtOnce },
    {
      ...run.environment,
      ...(seeds === undefined ? {} : { METAL_SEEDS: seeds }),
      ...(firstSeed === undefined ? {} : { METAL_FIRST_SEED: firstSeed }),
    },
  );
  const leftovers = await run.leftovers();
  process.exitCode = report(leftovers) ? code || 1 : code;
}

async function demandQemu(): Promise<void> {
  const available = await qemuAvailable();
  if (!available.isAvailable) throw new FleetError('QemuMissing', available.reason);
}

interface TestFile {
  readonly path: string;
  /** Starts a control plane. */
  readonly slow: boolean;
  /** The finders of Go programs that it imports. */
  readonly goFiles: readonly string[];
}

/** Tables first, so that mistakes show early. */
function testFiles(words: readonly string[], ending: '.test.ts' | '.e2e.ts'): TestFile[] {
  const imports = new ImportGraph(root);
  return sourceFiles(root)
    .filter((path) => path.endsWith(ending) && (words.length === 0 || words.some((word) => path.includes(word))))
    .map((path) => ({
      path,
      slow: imports.reaches(path, 'tools/controlplane/src/binaries.ts'),
      goFiles: goPrograms.map(({ file }) => file).filter((file) => imports.reaches(path, file)),
    }))
    .toSorted((one, other) => Number(one.slow) - Number(other.slow));
}

function runNode(
  files: readonly string[],
  { only, seeds, atOnce }: { only: string | undefined; seeds: number; atOnce: number },
  environment: NodeJS.ProcessEnv,
): Promise<number> {
  const concurrency = Math.min(atOnce, Math.max(2, availableParallelism()));
  const flags = [
    '--test',
    `--import=${new URL('end-in-time.ts', import.meta.url).href}`,
    `--test-concurrency=${concurrency}`,
    `--test-timeout=${testTimeoutMs * Math.max(1, Math.ceil(seeds / usualSeeds))}`,
    ...(only === undefined ? [] : [`--test-name-pattern=${only}`]),
  ];
  const child = spawn(process.execPath, [...flags, ...files], {
    cwd: root,
    // Saves every file that uses the lab a third of a second.
    env: { ...environment, NODE_COMPILE_CACHE: join(root, 'node_modules/.cache/node') },
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => child.kill(signal));
  return new Promise((resolve) => child.once('exit', (code) => resolve(code ?? 1)));
}

/** True when there is something to complain about. It goes to stderr: the closing lines of node:test stay the last. */
function report({ files, processes }: Leftovers): boolean {
  for (const { pid, command: line } of processes) process.stderr.write(`run-tests: left running: ${pid} ${line}\n`);
  for (const name of files) process.stderr.write(`run-tests: left in the temporary directory: ${name}\n`);
  return files.length + processes.length > 0;
}

command.parseAsync().then(
  () => process.exit(),
  (error: unknown) => {
    const known =
      error instanceof ControlPlaneError ||
      error instanceof FleetError ||
      (error instanceof Error && error.message.startsWith('no test'));
    process.stderr.write(
      `run-tests: ${known ? error.message : error instanceof Error ? error.stack : String(error)}\n`,
    );
    process.exit(1);
  },
);
