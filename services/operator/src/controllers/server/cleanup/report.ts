import type { Server } from '@metal/api/v1alpha1/server.ts';
import type { Outcome } from '@metal/kube/controller/definition.ts';
import type { ServerFacts, ServerPhase } from '../types.ts';

type CleanupStatus = NonNullable<NonNullable<Server['status']>['cleanup']>;

/**
 * The mark that the disks may hold data of a claim. It is written with the state that a claim brings, and before anything
 * is done for the claim; and it goes in the write that says Available, which comes from `offer` alone:
 *
 *   Available ─claimed─► Reserved + mark ─► … mark stays, whatever happens … ─► Cleanup + mark ─clean─► Available
 *
 * What is in between may be cut off anywhere, as each write says all of it. When the Server is deleted its BMC keeps the mark
 * (`leaveMark`), for the next one of the machine.
 */
export function cleanupStatus(
  { spec, status }: Server,
  { cleanup }: ServerFacts,
  { phase, phaseSince, at = phaseSince, decision }: Outcome<ServerPhase>,
): CleanupStatus | undefined {
  const before = status?.cleanup ?? {};
  const ref = spec.serverClaimRef;
  if (phase === 'Available' || (ref === undefined && !cleanup.needed)) return unlessEmpty(pick(before, 'startedTime'));
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
  // Entries of T under names of K; what is undefined is left out, as optional fields may be.
  return Object.fromEntries(
    names.flatMap((name) => (object[name] === undefined ? [] : [[name, object[name]]])),
  ) as Pick<T, K>;
}

const unlessEmpty = (cleanup: CleanupStatus): CleanupStatus | undefined =>
  Object.keys(cleanup).length === 0 ? undefined : cleanup;
