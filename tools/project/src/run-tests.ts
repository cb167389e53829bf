import { spawn } from 'node:child_process';
import { statSync } from 'node:fs';
import { rm, writeFile } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { findBinaries } from '@metal/controlplane/binaries.ts';
import { ControlPlaneError } from '@metal/controlplane/errors.ts';
import { processorTimeMs } from '@metal/process/processor-time.ts';
import { FleetError } from '@metal/simulator/errors.ts';
import { qemuAvailable } from '@metal/simulator/qemu/programs.ts';
import { Command } from 'commander';
import { arrangeFiles } from './arranged-files.ts';
import { findButane } from './butane.ts';
import { ControlPlanePool } from './control-plane-pool.ts';
import { findHelm } from './helm.ts';
import { ImportGraph } from './import-graph.ts';
import { findImageRegistry } from './image-registry.ts';
import { type Leftovers, markRun } from './leftovers.ts';
import { findPromtool } from './promtool.ts';
import { sourceFiles } from './source-files.ts';
import { describeTimes, readTestTimes, testTimesVariable, timesByPath } from './test-times.ts';

const root = join(dirname(fileURLToPath(import.meta.url)), '../../..');
const testTimeoutMs = 600_000;
/** Full matrices, load tests, seeds, programs built from Go, several replicas, and long waits in real time. */
const matrixFolder = 'test/matrix/';
/** Default number of seeds for the seeded stories, without and with --all. */
const seedsOf = { test: 5, all: 10 };
/** Stories wait for half of their time, so that there are more at once than cores. Each may have an API server of 300 MB. */
const mostAtOnce = 8;
/** A machine without KVM uses one core, and the tests have deadlines. */
const mostMachinesAtOnce = 1;

const goPrograms = [
  { file: 'tools/project/src/promtool.ts', find: findPromtool },
  { file: 'tools/project/src/image-registry.ts', find: findImageRegistry },
  { file: 'tools/project/src/butane.ts', find: findButane },
  { file: 'tools/project/src/helm.ts', find: findHelm },
];

const command = new Command('run-tests')
  .description(
    'Runs the tests with node:test: table tests first, then those that need a control plane, which is built first if\nnecessary. Exits with the code of node:test, or with 1 if tests leave processes or files behind.',
  )
  .argument('[words...]', 'run only files whose path contains one of the words, including those of --all')
  .option('--all', 'also run the full matrices, load tests and seeds of test/matrix', false)
  .option('--only <pattern>', 'run only tests whose title matches the pattern')
  .option('--seeds <count>', 'number of seeds for the seeded stories')
  .option('--first-seed <number>', 'first seed, to repeat a failed one')
  .option('--late-watches <ms>', 'deliver events to the tests this much later from kind to kind; negative: in reverse')
  .option('--e2e', 'run the files that boot machines in QEMU (*.e2e.ts) instead of the tests', false)
  .option('--junit <file>', 'write results and durations to a file in JUnit format')
  .option('--at-once <count>', 'number of files that run at once')
  .option('--times <file>', 'write the milliseconds of processor time to a file')
  .option('--list', 'list the files instead of running them', false)
  .action(main);

interface Flags {
  all: boolean;
  only?: string;
  seeds?: string;
  firstSeed?: string;
  lateWatches?: string;
  e2e: boolean;
  junit?: string;
  atOnce?: string;
  times?: string;
  list: boolean;
}

async function main(patterns: string[], flags: Flags): Promise<void> {
  const { all, list, e2e, firstSeed, lateWatches } = flags;
  const isWanted = (path: string) =>
    patterns.length === 0 ? all || !path.startsWith(matrixFolder) : patterns.some((pattern) => path.includes(pattern));
  const selected = testFiles(isWanted, e2e ? '.e2e.ts' : '.test.ts');
  if (selected.length === 0) throw new Error(`no test file's path contains ${patterns.join(' or ')}`);
  if (list) return void process.stdout.write(`${selected.map(({ path }) => path).join('\n')}\n`);
  if (e2e) await demandQemu();
  await buildPrograms(selected);
  await using run = await markRun(process.env);
  const usual = e2e ? mostMachinesAtOnce : Math.min(mostAtOnce, availableParallelism() + 2);
  const atOnce = Number(flags.atOnce ?? usual);
  const needsPool = !e2e && selected.some(({ needsControlPlane }) => needsControlPlane);
  // In the temporary directory of the run, so that its files are removed too.
  process.env.TMPDIR = run.environment.TMPDIR;
  const pool = await ControlPlanePool.start(needsPool ? Math.min(atOnce, selected.length) : 0);
  const timesFile = join(run.environment.TMPDIR ?? '', 'test-times');
  const seeds = flags.seeds ?? String(all ? seedsOf.all : seedsOf.test);
  const environment = {
    ...run.environment,
    ...pool.environment,
    METAL_SEEDS: seeds,
    [testTimesVariable]: timesFile,
    ...(firstSeed === undefined ? {} : { METAL_FIRST_SEED: firstSeed }),
    ...(lateWatches === undefined ? {} : { METAL_LATE_WATCHES: lateWatches }),
  };
  const { true: stories = [], false: tables = [] } = Object.groupBy(selected, (file) => `${file.needsControlPlane}`);
  const others = stories.map(({ path }) => ({ path, weight: sizeOf(path) }));
  const timeoutMs = testTimeoutMs * Math.max(1, Math.ceil(Number(seeds) / seedsOf.all));
  const arranged = await arrangeFiles(root, { tables: tables.map(({ path }) => path), others, timeoutMs });
  const code = await runNode(
    arranged.map(({ file }) => file),
    { ...flags, timeoutMs: timeoutMs * Math.max(...arranged.map(({ paths }) => paths.length)), atOnce },
    environment,
  );
  const testsMs = processorTimeMs();
  await pool[Symbol.asyncDispose]();
  const files = timesByPath(readTestTimes(timesFile), arranged);
  // The programs of the pool count once they have ended.
  const processorMs = processorTimeMs();
  const wallMs = performance.now();
  process.stderr.write(`${describeTimes({ wallMs, processorMs, controlPlanesMs: processorMs - testsMs, files })}\n`);
  if (flags.times !== undefined) await writeFile(flags.times, `${processorMs}\n`);
  await rm(timesFile, { force: true });
  const leftovers = await run.leftovers();
  process.exitCode = report(leftovers) ? code || 1 : code;
}

/** Builds programs before the tests, once and with progress. */
async function buildPrograms(files: readonly TestFile[]): Promise<void> {
  const log = (line: string) => void process.stdout.write(`${line}\n`);
  if (files.some(({ needsControlPlane }) => needsControlPlane)) await findBinaries({ log });
  for (const { file, find } of goPrograms)
    if (files.some(({ goFiles }) => goFiles.includes(file))) await find({ environment: process.env, log });
}

async function demandQemu(): Promise<void> {
  const available = await qemuAvailable();
  if (!available.isAvailable) throw new FleetError('QemuMissing', available.reason);
}

interface TestFile {
  readonly path: string;
  readonly needsControlPlane: boolean;
  /** The files in `goPrograms` that it imports. */
  readonly goFiles: readonly string[];
}

/** Files that take long for their size. */
const longest = [
  'test/stories/faults.test.ts',
  'test/stories/uninstall.test.ts',
  'test/stories/erasure-withdrawn.test.ts',
];

const sizeOf = (path: string): number => (longest.includes(path) ? 1e6 : statSync(join(root, path)).size);

/** Table tests first, so that errors show early; then the longest first, so that none of them runs alone at the end. */
function testFiles(isWanted: (path: string) => boolean, ending: '.test.ts' | '.e2e.ts'): TestFile[] {
  const imports = new ImportGraph(root);
  return sourceFiles(root)
    .filter((path) => path.endsWith(ending) && isWanted(path))
    .map((path) => ({
      path,
      needsControlPlane: imports.reaches(path, 'tools/controlplane/src/binaries.ts'),
      goFiles: goPrograms.map(({ file }) => file).filter((file) => imports.reaches(path, file)),
    }))
    .toSorted(
      (one, other) =>
        Number(one.needsControlPlane) - Number(other.needsControlPlane) || sizeOf(other.path) - sizeOf(one.path),
    );
}

interface NodeTestOptions {
  readonly only?: string;
  readonly junit?: string;
  readonly timeoutMs: number;
  readonly atOnce: number;
}

function runNode(
  files: readonly string[],
  { only, junit, timeoutMs, atOnce }: NodeTestOptions,
  environment: NodeJS.ProcessEnv,
): Promise<number> {
  const flags = [
    '--test',
    `--import=${new URL('end-in-time.ts', import.meta.url).href}`,
    `--test-concurrency=${atOnce}`,
    `--test-timeout=${timeoutMs}`,
    '--test-reporter=spec',
    '--test-reporter-destination=stdout',
    ...(junit === undefined ? [] : ['--test-reporter=junit', `--test-reporter-destination=${resolve(junit)}`]),
    ...(only === undefined ? [] : [`--test-name-pattern=${only}`]),
  ];
  const child = spawn(process.execPath, [...flags, ...files], {
    cwd: root,
    // Saves a third of a second for every file that uses the test environment.
    env: { ...environment, NODE_COMPILE_CACHE: join(root, 'node_modules/.cache/node') },
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => child.kill(signal));
  return new Promise((done) => child.once('exit', (code) => done(code ?? 1)));
}

/** True if there are leftovers. Printed to stderr, so that the summary of node:test is the last output on stdout. */
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
