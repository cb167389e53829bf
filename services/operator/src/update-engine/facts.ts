import type { BMC } from '@metal/api/v1alpha1/bmc.ts';
import type { Server } from '@metal/api/v1alpha1/server.ts';
import {
  operationAnnotation,
  operations,
  rolloutStartedAnnotation,
  rolloutWaitAnnotation,
} from '@metal/api/wire/contract.ts';
import { controllerOf } from '@metal/kube/kinds/kind.ts';
import { minutes } from '@metal/kube/runtime/durations.ts';
import { jitter } from '@metal/kube/runtime/jitter.ts';
import type { OperatorContext } from '../controllers/context.ts';
import { healthy } from '../controllers/health-condition.ts';
import { conditionsOf } from '../controllers/ready-condition.ts';
import { hostPowerOf } from './host-power.ts';
import type { Compared, UpdateMemory } from './memory.ts';
import { reservedBy, versionFacts } from './other-updates.ts';
import type { Attempt, BmcResetFacts, UpdateFacts, UpdateObject } from './types.ts';
import type { UpdateKind } from './update-kind.ts';
import { windowOf } from './window.ts';
import { wantedPowerOf } from './wanted-power.ts';

/** Compared again for drift this often, less up to a tenth. */
const driftCheckMs = minutes(60);
/** Variables are read again this often, less up to a tenth. */
const variablesReadMs = minutes(5);
const firstRetryMs = minutes(1);
const longestRetryMs = minutes(60);

export function updateFacts<T extends UpdateObject>(
  kind: UpdateKind<T>,
  object: T,
  context: OperatorContext,
  { now, memory }: { readonly now: number; readonly memory: Readonly<UpdateMemory> },
): UpdateFacts {
  const { metadata, status } = object;
  const target = kind.targetOf(object, context);
  const powerOf = (server: Server) =>
    hostPowerOf(server, context.bmcConnections.observedSystem(server.metadata.uid ?? ''), memory.attempt);
  const compared = memory.compared?.generation === metadata.generation ? memory.compared : undefined;
  return {
    target,
    rival: kind.rivalOf(object, context, compared?.value),
    reference: referenceOf(kind, object, context),
    retry: retryOf(object),
    isDryRun: object.spec.dryRun === true,
    rolloutWait: metadata.annotations?.[rolloutWaitAnnotation],
    holdsForRollout: holdsForRollout(object),
    comparison: compared?.value,
    ...comparisonTimes(object, compared, memory, now),
    window: windowOf(object, target, context.caches, kind.isFlash ? memory.attempt : {}, (maintenance) =>
      wantedPowerOf(maintenance, context),
    ),
    ...versionFacts(compared, target, context),
    ...progressFacts(object, memory, now),
    unhealthy: target.servers.find(isUnhealthy)?.metadata.name,
    isHostOn: target.servers.every((server) => powerOf(server) === 'On'),
    isHostOff: target.servers.every((server) => powerOf(server) === 'Off'),
    needsHostOn: kind.needsHostOn,
    restartsOnlyIfNeeded: kind.restartsOnlyIfNeeded(object),
    isFlash: kind.isFlash,
    bmcReset: bmcResetOf(target.bmc, memory.attempt, context),
    maxAttempts: object.spec.retryPolicy?.maxAttempts ?? context.config.defaultFailedAutoRetryCount,
    timeoutMs: kind.timeoutMs(context),
    reservedBy: reservedBy(object, target, context),
    maintenanceLimit: context.maintenanceSlots.limit,
    isDrift: status?.observedGeneration === metadata.generation && compared?.hasNewDesired !== true,
  };
}

type ComparisonTimes = Pick<UpdateFacts, 'comparedMsAgo' | 'nextDriftCheckInMs' | 'nextVariablesReadInMs'>;

function comparisonTimes(
  { metadata: { name } }: UpdateObject,
  compared: Compared | undefined,
  { variablesReadAt }: Readonly<UpdateMemory>,
  now: number,
): ComparisonTimes {
  if (compared === undefined)
    return { comparedMsAgo: Infinity, nextDriftCheckInMs: 0, nextVariablesReadInMs: Infinity };
  const hasVariables = compared.value.hasVariables === true;
  return {
    comparedMsAgo: now - compared.at,
    nextDriftCheckInMs: compared.at + jitter(driftCheckMs, name) - now,
    nextVariablesReadInMs: hasVariables ? variablesReadAt + jitter(variablesReadMs, name) - now : Infinity,
  };
}

type ProgressFacts = Pick<
  UpdateFacts,
  | 'attempt'
  | 'isRecorded'
  | 'sending'
  | 'task'
  | 'nextPollInMs'
  | 'failure'
  | 'failedGeneration'
  | 'failedAttempts'
  | 'nextAttemptInMs'
  | 'isCorrected'
  | 'retriedBy'
  | 'isUnreadable'
  | 'sentMsAgo'
  | 'startedMsAgo'
  | 'installedMsAgo'
  | 'restartedMsAgo'
>;

function progressFacts({ metadata, status }: UpdateObject, memory: Readonly<UpdateMemory>, now: number): ProgressFacts {
  const { attempt, failure, failedGeneration, failedAttempts, sending, task, retriedBy } = memory;
  const ago = (time: string | undefined): number => (time === undefined ? 0 : now - Date.parse(time));
  return {
    attempt,
    isRecorded: isSame(attempt, status?.attempt ?? {}),
    sending,
    task,
    nextPollInMs: memory.nextPollAt - now,
    failure,
    failedGeneration,
    failedAttempts,
    nextAttemptInMs: failure === undefined ? 0 : Date.parse(failure.time) + backoffOf(failedAttempts) - now,
    isCorrected: failure !== undefined && failedGeneration !== metadata.generation,
    retriedBy,
    isUnreadable: memory.isComparing,
    sentMsAgo: ago(attempt.sendTime),
    startedMsAgo: ago(attempt.startTime),
    installedMsAgo: ago(attempt.installTime),
    restartedMsAgo: ago(attempt.resetTime),
  };
}

const backoffOf = (failedAttempts: number): number => Math.min(firstRetryMs * 2 ** failedAttempts, longestRetryMs);

function referenceOf<T extends UpdateObject>(
  { holdsTarget }: UpdateKind<T>,
  object: T,
  context: OperatorContext,
): UpdateFacts['reference'] {
  if (holdsTarget === undefined) return 'none';
  return holdsTarget(object, context) ? 'ours' : 'missing';
}

const retryAnnotations: readonly string[] = [operations.retry, operations.retryPropagated];

function retryOf({ metadata }: UpdateObject): string | undefined {
  const value = metadata.annotations?.[operationAnnotation];
  return value !== undefined && retryAnnotations.includes(value) ? value : undefined;
}

/** Its set let it begin once. */
const holdsForRollout = (object: UpdateObject): boolean => {
  const { [rolloutStartedAnnotation]: started, [rolloutWaitAnnotation]: waits } = object.metadata.annotations ?? {};
  return started !== undefined && waits === undefined && controllerOf(object) !== undefined;
};

/** Members that are undefined do not exist in the status. */
function isSame(attempt: Attempt, recorded: Attempt): boolean {
  const names = new Set([...Object.keys(attempt), ...Object.keys(recorded)]) as Set<keyof Attempt>;
  return [...names].every((name) => attempt[name] === recorded[name]);
}

/** A BMC that restarts is not Enabled until it answers again. The cache may not have the request of a reset yet. */
function bmcResetOf(bmc: BMC | undefined, attempt: Attempt, { config }: OperatorContext): BmcResetFacts {
  const requested = bmc?.metadata.annotations?.[operationAnnotation];
  const isRequested = requested === operations.gracefulRestartBmc;
  const { reset, lastResetTime = '' } = bmc?.status ?? {};
  const hasFailed = reset?.failedAt !== undefined;
  const requestedAt = attempt.sendTime === undefined ? attempt.bmcResetTime : undefined;
  const isAwaited = bmc !== undefined && requestedAt !== undefined && !hasFailed && lastResetTime < requestedAt;
  const isUnderWay = isRequested || isAwaited || (reset !== undefined && !hasFailed);
  const heldBy = requested === undefined || isRequested ? undefined : `${operationAnnotation}=${requested}`;
  return { isWanted: config.resetsBmcBeforeWork && bmc !== undefined, isUnderWay, heldBy };
}

const isUnhealthy = (server: Server): boolean =>
  conditionsOf(server).some(({ type, status }) => type === healthy && status === 'False');
