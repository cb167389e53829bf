import { join } from 'node:path';
import type { DiskErasure, ErasureOrder, ErasureReportBody } from '@metal/api/wire/erasure.ts';
import { ProbeError } from '../errors.ts';
import type { ProbeClock, ProbeLog, RunProgram } from '../environment.ts';
import { type DiskToErase, eraseDisk } from './erase-disk.ts';
import { type ErasureFiles, filesOfMachine, type Inventory, openDisk, takeInventory } from './inventory.ts';
import { keepPosting, postUntilAcknowledged, type Registry } from './post-report.ts';
import { runTool } from './run-tool.ts';

export interface ErasureOptions {
  order: ErasureOrder;
  /** Base URL of the registry. */
  registryUrl: string;
  /** Token of this boot. Never logged. */
  token: string | undefined;
  systemUUID: string;
  clock: ProbeClock;
  /** Ends everything; what a disk was told to do by itself it may go on doing. */
  signal: AbortSignal;
  log: ProbeLog;
  /** Starts nvme, hdparm and blkdiscard. Without a deadline of its own: a secure erase takes hours. */
  run?: RunProgram | undefined;
  files?: ErasureFiles | undefined;
  /** Between 0 and 1; spreads the attempts to report. */
  random?: (() => number) | undefined;
  fetch?: typeof globalThis.fetch | undefined;
  attemptTimeoutMs?: number | undefined;
}

const disksAtOnce = 8;

/**
 * Erases the disks of the order and no others, and comes back with the last report once it is acknowledged. Nothing is
 * written before the registry acknowledged that the order stands, and nothing at all when machine and order differ.
 *
 *   mode None --------------------------------------------> Succeeded
 *   look --differs-----------------------------------------> Failed
 *     '--same--> Running --acknowledged--> erase, verify --> Succeeded or Failed
 *                   '------refused-----------'--refused----> how far each disk is, as Failed; then thrown
 *
 * @throws ProbeError `ErasureRefused` when the registry does not want (any more) what is reported; the signal's reason.
 */
export async function runErasure(options: ErasureOptions): Promise<ErasureReportBody> {
  try {
    return await executeOrder(options);
  } catch (error) {
    if (error instanceof ProbeError) options.log.warn({ code: error.code }, `erasing ends: ${error.message}`);
    throw error;
  }
}

async function executeOrder(options: ErasureOptions): Promise<ErasureReportBody> {
  const { order, files = filesOfMachine(), signal, log } = options;
  // The order is to have started, and no more than that: whatever disks there are is nobody's concern.
  if (order.mode === 'None') return finish(reporter(options, [])('Succeeded', ''), registryOf(options), signal);
  const inventory = await takeInventory(order, files, signal);
  const records = order.disks.map((ordered) => recordOf(ordered, inventory));
  const report = reporter(options, records);
  const registry = registryOf(options);
  if (inventory.problems.length > 0) {
    const reason = inventory.problems.join('; ');
    log.warn({ attempt: order.attempt }, `nothing is erased: ${reason}`);
    return finish(report('Failed', `nothing was erased: ${reason}`), registry, signal);
  }
  await postUntilAcknowledged(report('Running', ''), registry, signal);
  const attempt = { inventory, records, registry, report };
  try {
    await eraseAndReport(options, attempt);
    return await finish(endOf(attempt), registry, signal);
  } catch (error) {
    if (isErasureRefused(error)) await reportStopped(attempt, signal);
    throw error;
  }
}

function endOf({ records, report }: Attempt): ErasureReportBody {
  const failed = records.filter(({ result }) => result !== 'Erased').map(({ name }) => name);
  return failed.length === 0
    ? report('Succeeded', '')
    : report('Failed', `${failed.length} of ${records.length} disks are not erased: ${failed.join(', ')}`);
}

const isErasureRefused = (error: unknown): boolean => error instanceof ProbeError && error.code === 'ErasureRefused';

/** A registry that withdrew the order writes this down; one that wants nothing of this attempt refuses that as well. */
async function reportStopped({ records, registry, report }: Attempt, signal: AbortSignal): Promise<void> {
  const continuing = records.filter(({ continuesByItself }) => continuesByItself).map(({ name }) => name);
  const rest = continuing.length === 0 ? '' : `; erasing goes on inside ${continuing.join(', ')}, which nothing stops`;
  const stopped = report('Failed', `stopped, as the order was withdrawn${rest}`);
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

const registryOf = ({ registryUrl, token, clock, log, ...options }: ErasureOptions): Registry => ({
  registryUrl,
  token,
  clock,
  log,
  fetch: options.fetch ?? globalThis.fetch,
  attemptTimeoutMs: options.attemptTimeoutMs ?? 5_000,
  random: options.random ?? Math.random,
});

async function finish(report: ErasureReportBody, registry: Registry, signal: AbortSignal): Promise<ErasureReportBody> {
  await postUntilAcknowledged(report, registry, signal);
  registry.log.info({ state: report.state }, `the registry knows how the erasure ended: ${report.state}`);
  return report;
}

interface Attempt {
  inventory: Inventory;
  records: DiskErasure[];
  registry: Registry;
  report: Report;
}

/** A refusal while disks are being erased ends the erasing: the machine may have been given to somebody. */
async function eraseAndReport(options: ErasureOptions, attempt: Attempt): Promise<void> {
  const rejected = new AbortController();
  const done = new AbortController();
  const signal = AbortSignal.any([options.signal, rejected.signal]);
  const posting = keepPosting(
    () => attempt.report('Running', ''),
    attempt.registry,
    AbortSignal.any([signal, done.signal]),
  ).catch((error: unknown) => rejected.abort(error));
  try {
    await eraseAll(disksToErase({ ...options, signal }, attempt));
  } finally {
    done.abort();
    await posting;
  }
  signal.throwIfAborted();
}

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
  if (startedMethod !== undefined) log.info({ disk: name }, `${name}: ${startedMethod} begins`);
  if (result === 'Erased') log.info({ disk: name }, `${name}: erased by ${method ?? 'nothing'} and verified`);
  if (result === 'Failed') log.warn({ disk: name }, `${name}: not erased: ${message}`);
}

/** Disks of one controller follow each other: a controller sanitizes once at a time. Others go side by side. */
async function eraseAll(disks: readonly DiskToErase[]): Promise<void> {
  const groups = Map.groupBy(disks, ({ work }) => work.disk.controller).values();
  const eraseGroups = async (): Promise<void> => {
    // All share one iterator, so that each group is taken once.
    for (const group of groups) for (const disk of group) await eraseDisk(disk);
  };
  // Nobody may still write when this comes back, whatever the others threw.
  const ends = await Promise.allSettled(Array.from({ length: disksAtOnce }, eraseGroups));
  for (const end of ends) if (end.status === 'rejected') throw end.reason;
}
