import { join } from 'node:path';
import type { DiskErasure, ErasureOrder, ErasureReportBody } from '@metal/api/wire/erasure.ts';
import { ProbeError } from '../errors.ts';
import type { ProbeClock, ProbeLog, RunProgram } from '../environment.ts';
import { type DiskToErase, eraseDisk } from './erase-disk.ts';
import { type ErasureFiles, filesOfMachine, type Inventory, openDisk, takeInventory } from './inventory.ts';
import { postEnd, postUntilAcknowledged, type Registry, reportWhile } from './post-report.ts';
import { runTool } from './run-tool.ts';

export interface ErasureOptions {
  order: ErasureOrder;
  /** Base URL of the registry. */
  registryUrl: string;
  /** Token of this boot. Never logged. */
  token: string | undefined;
  systemUUID: string;
  clock: ProbeClock;
  /** Ends everything, except commands that a disk executes on its own. */
  signal: AbortSignal;
  log: ProbeLog;
  /** Starts nvme, hdparm and blkdiscard, without a deadline, because a secure erase takes hours. */
  run?: RunProgram | undefined;
  files?: ErasureFiles | undefined;
  /** Between 0 and 1; jitter of the pauses between reports. */
  random?: (() => number) | undefined;
  fetch?: typeof globalThis.fetch | undefined;
  attemptTimeoutMs?: number | undefined;
}

const disksAtOnce = 8;

/**
 * Erases exactly the disks of the order, and resolves with the last report once it is acknowledged. Nothing is written before
 * the registry has acknowledged the order, and nothing at all if machine and order differ.
 *
 *   mode None --------------------------------------------> Succeeded
 *   compare --differs--------------------------------------> Failed
 *     '--same--> Running --acknowledged--> erase, verify --> Succeeded or Failed
 *                   '------rejected----------'--rejected---> Failed with the progress of each disk; then thrown
 *
 * @throws ProbeError `ErasureRefused` if the registry rejects a report; the signal's reason when aborted.
 */
export async function runErasure(options: ErasureOptions): Promise<ErasureReportBody> {
  try {
    return await executeOrder(options);
  } catch (error) {
    if (error instanceof ProbeError) options.log.warn({ code: error.code }, `erasure stopped: ${error.message}`);
    throw error;
  }
}

async function executeOrder(options: ErasureOptions): Promise<ErasureReportBody> {
  const { order, files = filesOfMachine(), signal, log } = options;
  // In mode None the start itself is the result; disks are not read.
  if (order.mode === 'None') return postEnd(reporter(options, [])('Succeeded', ''), registryOf(options), signal);
  const inventory = await takeInventory(order, files, signal);
  const records = order.disks.map((ordered) => recordOf(ordered, inventory));
  const report = reporter(options, records);
  const registry = registryOf(options);
  if (inventory.problems.length > 0) {
    const reason = inventory.problems.join('; ');
    log.warn({ attempt: order.attempt }, `nothing was erased: ${reason}`);
    return postEnd(report('Failed', `nothing was erased: ${reason}`), registry, signal);
  }
  await postUntilAcknowledged(report('Running', ''), registry, signal);
  const attempt = { inventory, records, registry, report };
  try {
    await eraseAndReport(options, attempt);
    return await postEnd(endOf(attempt), registry, signal);
  } catch (error) {
    if (isErasureRefused(error)) await reportStopped(attempt, signal);
    throw error;
  }
}

function endOf({ records, report }: Attempt): ErasureReportBody {
  const failed = records.filter(({ result }) => result !== 'Erased').map(({ name }) => name);
  return failed.length === 0
    ? report('Succeeded', '')
    : report('Failed', `${failed.length} of ${records.length} disks were not erased: ${failed.join(', ')}`);
}

const isErasureRefused = (error: unknown): boolean => error instanceof ProbeError && error.code === 'ErasureRefused';

/** The registry records this report for a withdrawn order, and rejects it for an outdated attempt. */
async function reportStopped({ records, registry, report }: Attempt, signal: AbortSignal): Promise<void> {
  const continuing = records.filter(({ continuesByItself }) => continuesByItself).map(({ name }) => name);
  const rest =
    continuing.length === 0 ? '' : `; erasure continues inside ${continuing.join(', ')} and cannot be stopped`;
  const stopped = report('Failed', `stopped because the order was withdrawn${rest}`);
  registry.log.warn({ devices: continuing }, stopped.message);
  try {
    await postUntilAcknowledged(stopped, registry, signal);
  } catch (error) {
    signal.throwIfAborted();
    if (!isErasureRefused(error)) throw error;
  }
}

const recordOf = (ordered: ErasureOrder['disks'][number], { disks }: Inventory): DiskErasure => ({
  ...ordered,
  name: disks.find((disk) => disk.ordered === ordered)?.facts.name ?? '',
  erasedBytes: 0,
  samples: 0,
  verified: false,
  result: 'Pending',
  message: '',
});

type Report = (state: ErasureReportBody['state'], message: string) => ErasureReportBody;

const reporter =
  ({ systemUUID, order }: ErasureOptions, records: readonly DiskErasure[]): Report =>
  (state, message) => ({
    systemUUID: systemUUID.toLowerCase(),
    attempt: order.attempt,
    state,
    message: message.slice(0, 2_000),
    disks: records.map((record) => ({ ...record })),
  });

const registryOf = ({ registryUrl, token, clock, log, order, ...options }: ErasureOptions): Registry => ({
  route: 'erasures',
  order: `attempt ${order.attempt}`,
  registryUrl,
  token,
  clock,
  log,
  fetch: options.fetch ?? globalThis.fetch,
  attemptTimeoutMs: options.attemptTimeoutMs ?? 5_000,
  random: options.random ?? Math.random,
});

interface Attempt {
  inventory: Inventory;
  records: DiskErasure[];
  registry: Registry;
  report: Report;
}

const eraseAndReport = (options: ErasureOptions, attempt: Attempt): Promise<void> =>
  reportWhile(
    { report: () => attempt.report('Running', ''), changesIn },
    { registry: attempt.registry, signal: options.signal },
    (signal) => eraseAll(disksToErase({ ...options, signal }, attempt)),
  );

/** Changes that cause a report; the number of erased bytes does not. */
const changesIn = ({ disks }: ErasureReportBody): string =>
  JSON.stringify(disks.map(({ name, method, result, message }) => [name, method, result, message]));

function disksToErase(options: ErasureOptions, { inventory, records }: Attempt): DiskToErase[] {
  const { order, clock, signal, log, run = runTool, files = filesOfMachine() } = options;
  return inventory.disks.map(({ ordered, facts }) => ({
    mode: order.mode,
    seed: `${order.attempt} ${ordered.wwid} ${ordered.serial}`,
    record: (change) => {
      const record = records[order.disks.indexOf(ordered)];
      if (record === undefined) return;
      Object.assign(record, change);
      logResult(record, change, log);
    },
    work: {
      disk: facts,
      path: join(files.devRoot, facts.name),
      siblings: inventory.others.filter((name) => facts.commands === 'nvme' && name.startsWith(`${facts.controller}n`)),
      clock,
      run,
      signal,
      open: () => openDisk(facts, files),
      reportProgress: (progress) => Object.assign(records[order.disks.indexOf(ordered)] ?? {}, progress),
    },
  }));
}

function logResult(
  { name, method, message }: DiskErasure,
  { result, method: startedMethod }: Partial<DiskErasure>,
  log: ProbeLog,
) {
  if (startedMethod !== undefined) log.info({ disk: name }, `${name}: ${startedMethod} started`);
  if (result === 'Erased') log.info({ disk: name }, `${name}: erased by ${method ?? 'nothing'} and verified`);
  if (result === 'Failed') log.warn({ disk: name }, `${name}: not erased: ${message}`);
}

/** Erases disks of one controller in sequence, because a controller runs one sanitize at a time, and others in parallel. */
async function eraseAll(disks: readonly DiskToErase[]): Promise<void> {
  const groups = Map.groupBy(disks, ({ work }) => work.disk.controller).values();
  const eraseGroups = async (): Promise<void> => {
    // The workers share one iterator, so that each group is processed once.
    for (const group of groups) for (const disk of group) await eraseDisk(disk);
  };
  // Waits for all workers, so that none is writing after this function has thrown.
  const ends = await Promise.allSettled(Array.from({ length: disksAtOnce }, eraseGroups));
  for (const end of ends) if (end.status === 'rejected') throw end.reason;
}
