import type { Server } from '@metal/api/v1alpha1/server.ts';
import type { Outcome } from '@metal/kube/controller/definition.ts';
import type { ServerFacts, ServerPhase } from '../types.ts';
import { isClean } from './steps.ts';

type CleanupStatus = NonNullable<NonNullable<Server['status']>['cleanup']>;

const afterCleanup: readonly ServerPhase[] = ['Decommissioning', 'Decommissioned'];

/**
 * The mark that the disks may hold data of a claim (`neededSince`). It is written together with state Reserved, before
 * anything is done for the claim, and removed together with state Available, which only `makeAvailable` leads to:
 *
 *   Available ─claimed─► Reserved + mark ─► … mark stays in every state … ─► Cleanup + mark ─clean─► Available
 *
 * Each status write carries the mark, so an interruption cannot lose it. When the Server is deleted, `writeBmcMark` keeps the
 * mark at the BMC for the next Server of the machine.
 */
export function cleanupStatus(
  { spec, status }: Server,
  facts: ServerFacts,
  { phase, phaseSince, at = phaseSince, decision }: Outcome<ServerPhase>,
): CleanupStatus | undefined {
  const { cleanup } = facts;
  const before = status?.cleanup ?? {};
  const ref = spec.serverClaimRef;
  const isOver = phase === 'Available' || (afterCleanup.includes(phase) && isClean(facts));
  const isNeeded = cleanup.needed || (cleanup.isLast && phase === 'Cleanup');
  if (isOver || (ref === undefined && !isNeeded)) return unlessEmpty(pick(before, 'startedTime'));
  const formerClaim = ref === undefined ? before.formerClaim : pick(ref, 'namespace', 'name', 'uid');
  const mark: CleanupStatus = {
    ...pick(before, 'startedTime'),
    neededSince: before.neededSince ?? at,
    ...(formerClaim === undefined ? {} : { formerClaim }),
  };
  if (phase === 'Error') return { ...mark, ...pick(before, 'failedAttempts') };
  return phase === 'Cleanup' ? { ...mark, ...attemptFields(cleanup, { reason: decision.reason, before, at }) } : mark;
}

function attemptFields(
  { attempt, failedAttempts, poweredOnTime, boot }: ServerFacts['cleanup'],
  { reason, before, at }: { reason: string | undefined; before: CleanupStatus; at: string },
): CleanupStatus {
  const failed = failedAttempts > 0 ? { failedAttempts } : {};
  const isWithdrawn = reason === 'CleanupHeldByClaim' && boot !== undefined;
  const withdrawnTime = before.withdrawnTime ?? (isWithdrawn ? at : undefined);
  switch (reason ?? '') {
    case 'CleanupStarts':
      return { ...failed, startedTime: at, attempt: failedAttempts + 1 };
    case 'CleanupAttemptFailed':
      return { failedAttempts: attempt };
    case 'CleanupBeginsAnew':
      return {};
    case 'CleanupQueued':
      return { ...failed, queuedSince: before.queuedSince ?? at };
    default:
      return {
        ...failed,
        ...(attempt > 0 ? { attempt } : {}),
        ...(poweredOnTime === undefined ? {} : { poweredOnTime }),
        ...(withdrawnTime === undefined ? {} : { withdrawnTime }),
      };
  }
}

function pick<T extends object, K extends keyof T>(object: T, ...names: K[]): Pick<T, K> {
  // The entries are those of T under names of K; undefined ones are left out, as optional fields may be.
  return Object.fromEntries(
    names.flatMap((name) => (object[name] === undefined ? [] : [[name, object[name]]])),
  ) as Pick<T, K>;
}

const unlessEmpty = (cleanup: CleanupStatus): CleanupStatus | undefined =>
  Object.keys(cleanup).length === 0 ? undefined : cleanup;
