import { type ErasureReport, waiverName } from '@metal/api/v1alpha1/erasure-report.ts';
import type { ServerBootConfiguration } from '@metal/api/v1alpha1/server-boot-configuration.ts';
import type { Server } from '@metal/api/v1alpha1/server.ts';
import {
  cleanupAttemptAnnotation,
  cleanupNeedAnnotation,
  cleanupPreparedAnnotation,
  waiveCleanupAnnotation,
} from '@metal/api/wire/contract.ts';
import { decommissionOf } from '@metal/api/wire/decommission.ts';
import type { ObservedSystem } from '../../../bmc-connections/observed-state.ts';
import { isAdmitted } from '../../../cleanup/cleanup-queue.ts';
import { type QueueFacts, queueFacts } from '../../../cleanup/queue-position.ts';
import type { OperatorContext } from '../../context.ts';
import { type BootFacts, bootFactsOf, isProbeBootOf } from '../boot/configuration-facts.ts';
import { isMarkedAtBmc } from './bmc-mark.ts';
import { inventoryOf, type SharedDisk, sharedDiskIn } from './disks.ts';
import { type AttemptResult, erasesNothing, recordOf, evaluateReport } from './erasure-report.ts';
import { type CleanupPolicy, needsBoot, policyOf } from './policy.ts';
import { progressOf } from './progress.ts';
import { type BiosFacts, biosFacts, type BootOrderFacts, bootOrderResetFacts } from './reset-facts.ts';
import { type RunFacts, runFacts } from './run-facts.ts';
import { lostStatusUnclean } from './unclean-mark.ts';

export interface CleanupFacts extends RunFacts {
  readonly policy: CleanupPolicy;
  /** A claim has had the server since the last cleanup. */
  readonly needed: boolean;
  /** The server is to leave the fleet, and was not cleaned up for that yet. */
  readonly isLast: boolean;
  /** The BMC object has the mark of an earlier Server of the machine. */
  readonly marksEarlierServer: boolean;
  /** Ends the need: the present attempt was certified, or the cleanup was waived. */
  readonly clearance: 'Cleaned' | 'Waived' | undefined;
  /** Number of the present attempt; 0 until it is admitted. Each attempt is admitted on its own. */
  readonly attempt: number;
  /** Since the present cleanup began. */
  readonly failedAttempts: number;
  readonly maxAttempts: number;
  /** The attempt is admitted; the status may not hold that yet. */
  readonly admitted: boolean;
  /** With shards, the leader admits attempts for all replicas. */
  readonly isAdmittedByLeader: boolean;
  /** Undefined where it is not needed: it is computed from all servers. */
  readonly queue: QueueFacts | undefined;
  /** The boot configuration of the attempt. */
  readonly boot: BootFacts | undefined;
  /** Another boot configuration has its name, or the server refers to another one. */
  readonly otherBootLeft: boolean;
  readonly report: AttemptResult | undefined;
  /** The ErasureReport of the attempt. */
  readonly record: ErasureReport | undefined;
  readonly bios: BiosFacts;
  readonly bootOrder: BootOrderFacts;
  /** Progress of the disks, for messages. */
  readonly progress: string;
  /** The order of the attempt was withdrawn before its end: its result does not count. */
  readonly withdrawn: boolean;
  /** The last message that an event reported while a claim reference held the cleanup. */
  readonly lastHeldMessage: string | undefined;
  /** Since the admission, the preparation or the last report of the attempt. */
  readonly noProgressForMs: number;
  readonly timeoutMs: number;
  readonly disksKnown: boolean;
  /** A disk to erase that another server reports, too. Determined before the boot is prepared. */
  readonly sharedDisk: SharedDisk | undefined;
  /** The one-time boot override was cleared since the last network boot, or since the claim. */
  readonly overrideCleared: boolean;
  /** Text of the waiver annotation: author and reason. */
  readonly waiver: string | undefined;
}

interface FactsInput {
  readonly memory: ObservedSystem;
  readonly context: OperatorContext;
  readonly now: number;
}

export function cleanupFacts(server: Server, input: FactsInput): CleanupFacts {
  const { memory, context } = input;
  const { metadata, status } = server;
  const policy = policyOf(server, context);
  const attempt = attemptFacts(server, policy, input);
  const isCertified = attempt.report?.state === 'Succeeded' && attempt.record?.status?.certificate !== undefined;
  const marksEarlierServer = isMarkedAtBmc(server, memory, context.caches.bmcs);
  return {
    policy,
    // An Available server was cleaned up, or the policy requests nothing.
    needed: isNeeded(server) || (marksEarlierServer && status?.state !== 'Available'),
    isLast: isLast(server),
    marksEarlierServer,
    clearance: clearanceOf(server, isCertified, context),
    ...attempt,
    ...admissionFacts(server, attempt.attempt, input),
    lastHeldMessage: memory.reportedCleanupHold,
    overrideCleared: memory.overrideCleared,
    waiver: metadata.annotations?.[waiveCleanupAnnotation],
  };
}

type AdmissionFacts = Pick<CleanupFacts, 'admitted' | 'isAdmittedByLeader' | 'queue'>;

function admissionFacts(server: Server, attempt: number, { context, now }: FactsInput): AdmissionFacts {
  const inCleanup = server.status?.state === 'Cleanup';
  return {
    admitted: attempt > 0 || (inCleanup && (context.cleanupQueue.isReserved(server) || isAdmitted(server))),
    isAdmittedByLeader: context.config.shards === 'auto',
    queue: inCleanup && attempt === 0 ? queueFacts(server, context, now) : undefined,
  };
}

type AttemptFacts = Omit<
  CleanupFacts,
  | keyof AdmissionFacts
  | 'policy'
  | 'needed'
  | 'isLast'
  | 'marksEarlierServer'
  | 'clearance'
  | 'lastHeldMessage'
  | 'overrideCleared'
  | 'waiver'
>;

function attemptFacts(server: Server, policy: CleanupPolicy, { memory, context, now }: FactsInput): AttemptFacts {
  const { caches, config } = context;
  const { metadata, spec, status } = server;
  const cleanup = status?.state === 'Cleanup' ? status.cleanup : undefined;
  const attempt = cleanup?.attempt ?? 0;
  const found = caches.bootConfigurations.get({ namespace: config.managerNamespace, name: metadata.name });
  const boot = found !== undefined && isBootOfAttempt(found, server, attempt, policy) ? found : undefined;
  const record =
    attempt > 0 && (boot !== undefined || !needsBoot(policy)) ? recordOf(server, boot, context) : undefined;
  const known = inventoryOf(server, caches.inventories.get(metadata.name));
  const withdrawn =
    status?.state === 'Cleanup' && (cleanup?.withdrawnTime !== undefined || record?.spec.withdrawn !== undefined);
  const settings = { server, policy, boot, memory, context, now };
  return {
    attempt,
    failedAttempts: cleanup?.failedAttempts ?? 0,
    maxAttempts: config.cleanupAttempts,
    boot: boot === undefined ? undefined : bootFactsOf(boot, server, now),
    otherBootLeft: boot === undefined && (found !== undefined || spec.bootConfigurationRef !== undefined),
    ...runFacts(server, boot, memory, now),
    report: record === undefined || withdrawn ? undefined : evaluateReport(record, boot, known),
    record,
    bios: biosFacts(settings),
    bootOrder: bootOrderResetFacts(settings),
    progress: progressOf(record),
    withdrawn,
    noProgressForMs: attempt === 0 ? 0 : msSinceProgress({ server, boot, record }, now),
    timeoutMs: config.cleanupTimeoutMs,
    disksKnown: known !== undefined,
    sharedDisk: attempt > 0 && boot === undefined && policy.disks !== 'None' ? sharedDiskIn(known, caches) : undefined,
  };
}

const withClaim: readonly (string | undefined)[] = ['Reserved', 'Released'];

/**
 * The mark is written together with state Reserved. A status without it, in a state that only claimed servers have, was
 * written by a version without cleanup.
 */
function isNeeded(server: Server): boolean {
  const { status } = server;
  if (status?.cleanup?.neededSince !== undefined || lostStatusUnclean(server)) return true;
  const state = status?.state === 'Maintenance' ? status.stateBeforeMaintenance : status?.state;
  return withClaim.includes(state) || state === 'Cleanup';
}

const afterCleanup: readonly (string | undefined)[] = ['Decommissioning', 'Decommissioned'];

const isLast = (server: Server): boolean =>
  decommissionOf(server) !== undefined && !afterCleanup.includes(server.status?.state);

/** Prepared for this need and this attempt; and it erases disks, if the policy requests that. */
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

/** Not negative: the clock of the registry may be ahead. */
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
  // An invalid time counts as long ago.
  return Math.max(0, now - Math.max(0, ...times.filter((time) => !Number.isNaN(time))));
}
