import type { BMC } from '@metal/api/v1alpha1/bmc.ts';
import type { ErasureReport } from '@metal/api/v1alpha1/erasure-report.ts';
import { waiverName } from '@metal/api/v1alpha1/erasure-report.ts';
import type { Server } from '@metal/api/v1alpha1/server.ts';
import type { ServerBootConfiguration } from '@metal/api/v1alpha1/server-boot-configuration.ts';
import {
  cleanupAttemptAnnotation,
  cleanupNeedAnnotation,
  cleanupPreparedAnnotation,
  uncleanSystemAnnotation,
  waiveCleanupAnnotation,
} from '@metal/api/wire/contract.ts';
import type { OperatorContext } from '../../context.ts';
import type { ObservedSystem } from '../../../bmc-connections/observed-state.ts';
import { type BootFacts, bootFactsOf, isProbeBootOf } from '../boot/configuration-facts.ts';
import { type CleanupPolicy, needsBoot, policyOf } from './policy.ts';
import { progressOf } from './progress.ts';
import { isAdmitted } from '../../../cleanup/cleanup-queue.ts';
import { type QueueFacts, queueFacts } from '../../../cleanup/queue-position.ts';
import type { Cache } from '@metal/kube/cache/store.ts';
import { freshForMs } from '../power/facts.ts';
import type { SharedDisk } from './disks.ts';
import { inventoryOf, sharedDiskIn } from './disks.ts';
import { erasesNothing, recordOf, evaluateReport } from './erasure-report.ts';
import { type BiosFacts, biosFacts, type BootOrderFacts, bootOrderResetFacts } from './reset-facts.ts';

/** What is known of the cleanup of a server. */
export interface CleanupFacts {
  readonly policy: CleanupPolicy;
  /** A claim has had the server, and nothing was done about it since. */
  readonly needed: boolean;
  /** Its BMC says so of an earlier Server of the machine. */
  readonly marksEarlierServer: boolean;
  /** The attempt that is under way did it all and that was certified, or it was waived: what makes up for the need. */
  readonly clearance: 'Cleaned' | 'Waived' | undefined;
  /** Number of the attempt under way; 0 until the limits let the server in, for each attempt anew. */
  readonly attempt: number;
  /** Since the cleanup last began. */
  readonly failedAttempts: number;
  readonly maxAttempts: number;
  /** The limits let it in, which its status may not tell yet. */
  readonly admitted: boolean;
  /** Replicas share the servers: one of them lets servers in, for all. */
  readonly isAdmittedByLeader: boolean;
  /** Only where it is asked for: looking at all servers costs something. */
  readonly queue: QueueFacts | undefined;
  /** What the attempt boots. */
  readonly boot: BootFacts | undefined;
  /** Something else is where the boot of the attempt has to be, or the server refers to something else. */
  readonly otherBootLeft: boolean;
  /** Whether its machine has run since the boot of the attempt was prepared; unknown until it was looked at just now. */
  readonly hasRun: 'yes' | 'no' | 'unknown';
  /** When that was first known, RFC 3339. */
  readonly poweredOnTime: string | undefined;
  readonly report: { readonly state: 'Running' | 'Succeeded' | 'Failed'; readonly message: string } | undefined;
  /** The report itself, once there is one. */
  readonly record: ErasureReport | undefined;
  readonly bios: BiosFacts;
  readonly bootOrder: BootOrderFacts;
  /** How far the disks are, in words. */
  readonly progress: string;
  /** The order of the attempt was withdrawn before its end: whatever came of it counts for nothing. */
  readonly withdrawn: boolean;
  /** What was told last while a claim reference held the cleanup. */
  readonly lastHeldMessage: string | undefined;
  /** Since the attempt was let in, or prepared, or since its last word. */
  readonly noProgressForMs: number;
  readonly timeoutMs: number;
  readonly disksKnown: boolean;
  /** Before anything is prepared: a disk that is to be erased, and that another server has as well. */
  readonly sharedDisk: SharedDisk | undefined;
  readonly overrideCleared: boolean;
  /** Who waives, and why. */
  readonly waiver: string | undefined;
}

interface FactsInput {
  readonly memory: ObservedSystem;
  readonly context: OperatorContext;
  readonly now: number;
}

export function cleanupFacts(server: Server, input: FactsInput): CleanupFacts {
  const { memory, context, now } = input;
  const { caches, config } = context;
  const { metadata, spec, status } = server;
  const inCleanup = status?.state === 'Cleanup';
  const attempt = inCleanup ? (status.cleanup?.attempt ?? 0) : 0;
  const found = caches.bootConfigurations.get({ namespace: config.managerNamespace, name: metadata.name });
  const policy = policyOf(server, context);
  const boot = found !== undefined && isBootOfAttempt(found, server, attempt, policy) ? found : undefined;
  const hasRecord = attempt > 0 && (boot !== undefined || !needsBoot(policy));
  const record = hasRecord ? recordOf(server, boot, context) : undefined;
  const known = inventoryOf(server, caches.inventories.get(metadata.name));
  const withdrawn = inCleanup && (status.cleanup?.withdrawnTime !== undefined || record?.spec.withdrawn !== undefined);
  const result = record === undefined || withdrawn ? undefined : evaluateReport(record, boot, known);
  const settings = { server, policy, boot, memory, context, now };
  const marksEarlierServer = isMarkedAtBmc(server, caches.bmcs);
  const poweredOnTime = boot === undefined ? undefined : poweredOnTimeOf(server, boot, memory);
  return {
    policy,
    // An Available one has been through it, or the policy asks for nothing.
    needed: isNeeded(server) || (marksEarlierServer && status?.state !== 'Available'),
    marksEarlierServer,
    clearance: clearanceOf(server, result?.state === 'Succeeded' && record?.status?.certificate !== undefined, context),
    attempt,
    failedAttempts: inCleanup ? (status.cleanup?.failedAttempts ?? 0) : 0,
    maxAttempts: config.cleanupAttempts,
    admitted: attempt > 0 || (inCleanup && (context.cleanupQueue.isReserved(server) || isAdmitted(server))),
    isAdmittedByLeader: config.shards === 'auto',
    queue: inCleanup && attempt === 0 ? queueFacts(server, context, now) : undefined,
    boot: boot === undefined ? undefined : bootFactsOf(boot, server, now),
    otherBootLeft: boot === undefined && (found !== undefined || spec.bootConfigurationRef !== undefined),
    hasRun: poweredOnTime === undefined ? (isPowerFresh(memory, now) ? 'no' : 'unknown') : 'yes',
    poweredOnTime,
    report: result,
    record,
    bios: biosFacts(settings),
    bootOrder: bootOrderResetFacts(settings),
    progress: progressOf(record),
    withdrawn,
    lastHeldMessage: memory.reportedCleanupHold,
    noProgressForMs: attempt === 0 ? 0 : msSinceProgress({ server, boot, record }, now),
    timeoutMs: config.cleanupTimeoutMs,
    disksKnown: known !== undefined,
    sharedDisk: attempt > 0 && boot === undefined && policy.disks !== 'None' ? sharedDiskIn(known, caches) : undefined,
    overrideCleared: memory.overrideCleared,
    waiver: metadata.annotations?.[waiveCleanupAnnotation],
  };
}

const withClaim: readonly (string | undefined)[] = ['Reserved', 'Released'];

/**
 * The mark is written in the same write that says Reserved. A status without one, in a state that only servers with
 * claims are in, was written by a version that knew none.
 */
function isNeeded({ status }: Server): boolean {
  if (status?.cleanup?.neededSince !== undefined) return true;
  const state = status?.state === 'Maintenance' ? status.stateBeforeMaintenance : status?.state;
  return withClaim.includes(state) || state === 'Cleanup';
}

function isMarkedAtBmc({ spec }: Server, bmcs: Cache<BMC>): boolean {
  const mark = uncleanSystemAnnotation(spec.systemUUID);
  const bmc = spec.bmcRef && bmcs.get(spec.bmcRef.name);
  return mark !== undefined && bmc?.metadata.annotations?.[mark] !== undefined;
}

/** Of this need and this attempt: what an earlier one came to says nothing. Nor does one that was to erase nothing. */
function isBootOfAttempt(
  boot: ServerBootConfiguration,
  server: Server,
  attempt: number,
  { disks }: CleanupPolicy,
): boolean {
  const { annotations = {} } = boot.metadata;
  return (
    attempt > 0 &&
    isProbeBootOf(boot, server) &&
    annotations[cleanupAttemptAnnotation] === String(attempt) &&
    annotations[cleanupNeedAnnotation] === server.status?.cleanup?.neededSince &&
    (disks === 'None' || !erasesNothing(boot))
  );
}

/**
 * The operator asked it to start, or saw it run: of this boot, so that no start for an earlier one counts. It is written to the
 * status with the power that it tells of; what was lost with a process is another attempt, unless the machine still runs.
 */
function poweredOnTimeOf(
  { status }: Server,
  { metadata }: ServerBootConfiguration,
  { transition, seenOnAt }: ObservedSystem,
): string | undefined {
  const preparedAt = Date.parse(metadata.annotations?.[cleanupPreparedAnnotation] ?? '');
  const written = status?.cleanup?.poweredOnTime;
  if (written !== undefined && Date.parse(written) >= preparedAt) return written;
  const requestedAt = transition?.target === 'On' ? transition.firstRequestAt : undefined;
  const at = [requestedAt, seenOnAt].find((time) => time !== undefined && time >= preparedAt);
  return at === undefined ? undefined : new Date(at).toISOString();
}

const isPowerFresh = ({ state }: ObservedSystem, now: number): boolean =>
  state !== undefined && now - state.at < freshForMs;

function clearanceOf(
  { metadata, status }: Server,
  isCertified: boolean,
  { caches }: OperatorContext,
): CleanupFacts['clearance'] {
  if (isCertified) return 'Cleaned';
  const since = status?.cleanup?.neededSince;
  if ((status?.state !== 'Cleanup' && status?.state !== 'Error') || since === undefined) return undefined;
  const waiver = caches.erasures.get(waiverName(metadata.name, since))?.spec;
  return waiver?.state === 'Waived' && waiver.serverRef.uid === metadata.uid ? 'Waived' : undefined;
}

/** A report that carries a later time than ours comes from a registry whose clock is ahead. */
function msSinceProgress(
  attempt: { server: Server; boot: ServerBootConfiguration | undefined; record: ErasureReport | undefined },
  now: number,
): number {
  const { server, boot, record } = attempt;
  const times = [
    server.status?.cleanup?.startedTime,
    boot?.metadata.annotations?.[cleanupPreparedAnnotation],
    record?.spec.receivedTime,
  ].map((time) => Date.parse(time ?? ''));
  // A time that cannot be read is one long ago.
  return Math.max(0, now - Math.max(0, ...times.filter((time) => !Number.isNaN(time))));
}
