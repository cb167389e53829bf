import { act, type Decision, type Go, go, wait } from '@metal/kube/controller/decide.ts';
import { minutes, seconds } from '@metal/kube/runtime/durations.ts';
import { limitReached, type QueueFacts, type QueueLimit, queuePollMs } from '../../../cleanup/queue-position.ts';
import { blocker } from '../bmc/steps.ts';
import { clearLeftOverride, leavesBoot } from '../boot/steps.ts';
import { ensureFailedOff, ensurePower } from '../power/steps.ts';
import type { ServerReason } from '../reasons.ts';
import { resyncMs } from '../resync.ts';
import type { ServerAction, ServerFacts, ServerPhase, Step } from '../types.ts';
import { failedBecause, isUnconfirmedSuccess } from './failure.ts';
import { holdCleanup } from './hold.ts';
import { needsBoot, policyText, requestsNothing } from './policy.ts';
import { erasedSoFar } from './progress.ts';

type ToAvailable = Go<'Available', ServerReason>;
/** A clean server becomes Available, or leaves the fleet. One that was adopted without a discovery is discovered first. */
type Onward = Go<'Available' | 'Decommissioning' | 'Initial', ServerReason>;
type Otherwise<Phase extends ServerPhase> = Decision<Phase, ServerAction, ServerReason>;

/**
 * No claim has had the server, or the policy requests nothing, or the cleanup was certified or waived. A server that leaves the
 * fleet is cleaned up in any case, so that its record has a certificate.
 */
export const isClean = ({ cleanup }: Pick<ServerFacts, 'cleanup'>): boolean =>
  (!cleanup.needed && !cleanup.isLast) || requestsNothing(cleanup.policy) || cleanup.clearance !== undefined;

/** The only way into Available, and out of the fleet. A server that is not clean goes to Cleanup, or continues with the given alternative. */
export function makeAvailable(server: ServerFacts, toAvailable: ToAvailable): Onward | Go<'Cleanup', ServerReason>;
export function makeAvailable<Phase extends ServerPhase>(
  server: ServerFacts,
  toAvailable: ToAvailable,
  otherwise: (server: ServerFacts) => Otherwise<Phase>,
): Onward | Otherwise<Phase>;
export function makeAvailable<Phase extends ServerPhase>(
  server: ServerFacts,
  toAvailable: ToAvailable,
  otherwise?: (server: ServerFacts) => Otherwise<Phase>,
): Onward | Otherwise<Phase> | Go<'Cleanup', ServerReason> {
  const { request } = server.decommission;
  if (isClean(server) && request !== undefined)
    return go('Decommissioning', 'DecommissionRequested', request.operation);
  if (isClean(server)) return server.isUndiscovered ? go('Initial', 'AdoptedNotDiscovered') : toAvailable;
  return (
    otherwise?.(server) ??
    go('Cleanup', 'CleanupNeeded', `a claim has had it; policy: ${policyText(server.cleanup.policy)}`)
  );
}

/** Phase Cleanup. */
export function cleanUp(server: ServerFacts): Otherwise<'Available' | 'Decommissioning' | 'Initial' | 'Error'> {
  const { claim, cleanup } = server;
  if (claim.binding !== 'unbound') return holdCleanup(server);
  if (cleanup.marksEarlierServer) return act('removeBmcMark', 'CleanupNeeded');
  if (cleanup.waiver !== undefined && !requestsNothing(cleanup.policy) && cleanup.clearance !== 'Cleaned')
    return waive(server);
  if (isClean(server))
    return leave(server) ?? makeAvailable(server, go('Available', 'CleanupDone', outcomeOf(server)), proceed);
  return proceed(server);
}

/** A waiver set in advance would skip a cleanup that its author does not know: it is dropped outside of Cleanup and Error. */
export function waiverStep(name: ServerPhase, { cleanup: { waiver } }: ServerFacts): Step | undefined {
  if (waiver === undefined || (waiver.trim() !== '' && (name === 'Cleanup' || name === 'Error'))) return undefined;
  return act('dropWaiver', 'WaiverDropped');
}

/** The machine is powered off before the waiver is recorded, so that no eraser runs under the next claim. */
const waive = (server: ServerFacts): Step<'Error'> =>
  blocker(server) ?? ensureOff(server, 'CleanedServersStayOff') ?? act('recordWaiver', 'CleanupWaived');

function leave(server: ServerFacts): Step<'Error'> | undefined {
  return blocker(server) ?? ensureOff(server, 'CleanedServersStayOff') ?? clearLeftOverride(server);
}

function outcomeOf({ cleanup }: ServerFacts): string {
  if (cleanup.clearance === 'Cleaned') return `attempt ${cleanup.attempt}: ${cleanup.progress}`;
  return cleanup.clearance === 'Waived' ? 'it was waived' : 'the policy is None';
}

function proceed(server: ServerFacts): Otherwise<'Initial' | 'Error'> {
  const { cleanup, failure } = server;
  // The reconcile ends here: the status drops the attempt before its boot is deleted.
  if (cleanup.withdrawn)
    return wait(
      1,
      'CleanupBeginsAnew',
      `the order of ${attemptOf(server)} was withdrawn; ${erasedSoFar(cleanup.record)}`,
    );
  const reason = failedBecause(server);
  if (reason !== undefined && failure !== undefined) return go('Error', failure.reason, failure.message);
  // The reconcile ends here: the status records the failure before the boot is deleted.
  if (reason !== undefined) return wait(1, 'CleanupAttemptFailed', `${attemptOf(server)}: ${reason}`);
  if (cleanup.report?.state === 'Succeeded') return confirmRun(server) ?? finish(server);
  if (cleanup.boot?.referenced === true) return runAttempt(server, cleanup.boot);
  return blocker(server) ?? ensureOff(server, 'CleanupStartsFromOff') ?? clearLeftOverride(server) ?? begin(server);
}

/** An earlier process may have started the machine. */
const confirmRun = (server: ServerFacts): Step<'Error'> | undefined =>
  isUnconfirmedSuccess(server.cleanup) ? (blocker(server) ?? act('observe', 'LookBeforeChange')) : undefined;

function runAttempt(server: ServerFacts, boot: NonNullable<ServerFacts['cleanup']['boot']>): Step<'Error'> {
  const { cleanup } = server;
  const lostInMs = Math.max(cleanup.timeoutMs - cleanup.noProgressForMs, 1);
  if (boot.state === 'Error')
    return wait(lostInMs, 'BootConfigurationFailed', `${attemptOf(server)}: ${boot.explanation}`);
  if (boot.state === 'Pending')
    return wait(lostInMs, 'WaitingForBootConfiguration', `${attemptOf(server)}: its image: ${boot.explanation}`);
  const nextMs = Math.min(lostInMs, Math.max(server.nextPollInMs, seconds(1)));
  return (
    blocker(server) ??
    ensurePower(server, { target: 'On', reason: 'CleanupMustRun', start: 'networkBoot', mayForce: true }) ??
    pollNow(server) ??
    (cleanup.report === undefined
      ? wait(nextMs, 'WaitingForEraser', `${attemptOf(server)}: on; ${boot.explanation}`)
      : wait(nextMs, 'ErasingDisks', `${attemptOf(server)}: ${cleanup.progress}`))
  );
}

const pollNow = ({ nextPollInMs }: ServerFacts): Step | undefined =>
  nextPollInMs <= 0 ? act('observe', 'PeriodicLook') : undefined;

function begin(server: ServerFacts): Otherwise<'Initial' | 'Error'> {
  const { cleanup, foreignProbeBoot } = server;
  const { policy, queue, bios } = cleanup;
  if (foreignProbeBoot === 'taken')
    return wait(
      resyncMs,
      'ProbeBootNameTaken',
      'a ServerBootConfiguration of somebody else has the name of this server in the manager namespace; delete or rename it',
    );
  if (cleanup.otherBootLeft) return act('clearBoot', 'EarlierAttemptLeftItsBoot');
  if (policy.disks !== 'None' && !cleanup.disksKnown)
    return go('Initial', 'DisksNotKnown', 'discovered first, as no ServerInventory tells which disks it has');
  // The status does not hold Cleanup yet, so the queue does not count the server.
  if (!cleanup.admitted && queue === undefined) return wait(1, 'CleanupNeeded');
  if (!cleanup.admitted && queue !== undefined) return awaitAdmission(server, queue);
  // The reconcile ends here: the status records the admission before anything is done.
  if (cleanup.attempt === 0) return wait(1, 'CleanupStarts', policyText(policy));
  if (!needsBoot(policy)) return finish(server);
  // The reset takes effect at the start of the machine, so it is requested first.
  if (bios.kind === 'due') return act('resetBios', 'BIOSMustBeReset');
  return act('prepareCleanupBoot', 'NoCleanupBootYet');
}

function awaitAdmission({ cleanup }: ServerFacts, queue: QueueFacts): Step {
  const limit = limitReached(queue);
  if (limit !== undefined) return queued(queue, limit);
  return cleanup.isAdmittedByLeader
    ? wait(minutes(5), 'CleanupQueued', awaitsLeaderMessage)
    : act('admitCleanup', 'CleanupStarts');
}

/** The last steps, with the machine off. The boot order comes after the BIOS reset, which may change it. */
function finish(server: ServerFacts): Step<'Error'> {
  return (
    blocker(server) ??
    ensureOff(server, 'CleanedServersStayOff') ??
    finishSettings(server) ??
    clearLeftOverride(server) ??
    act(server.cleanup.report === undefined ? 'recordCleanup' : 'certifyCleanup', 'CleanupIsCertified')
  );
}

function finishSettings(server: ServerFacts): Step | undefined {
  const { bios, bootOrder } = server.cleanup;
  if (bios.kind === 'requested')
    return bios.nextPollInMs > 0
      ? wait(bios.nextPollInMs, 'BIOSResetPending', `${attemptOf(server)}: asked for at ${bios.requestedTime}`)
      : act('observeBios', 'BIOSResetPending');
  if (bootOrder.kind === 'due') return act('restoreBootOrder', 'BootOrderMustBeRestored');
  if (bootOrder.kind === 'requested')
    return bootOrder.nextPollInMs > 0
      ? wait(bootOrder.nextPollInMs, 'BootOrderPending', `${attemptOf(server)}: ${bootOrder.devices.join(', ')}`)
      : act('restoreBootOrder', 'BootOrderPending');
  return undefined;
}

/** Phase Error after a failed cleanup: powers off and clears the boot. Only a waiver or a retry leads further. */
export function endFailedCleanup(
  server: ServerFacts,
): Step<'Available' | 'Decommissioning' | 'Cleanup' | 'Initial'> | undefined {
  const { claim, cleanup } = server;
  const off = ensureFailedOff(server);
  if (off !== undefined) return off;
  if (leavesBoot(server)) return act('clearBoot', 'CleanupFailed');
  if (claim.binding !== 'unbound') return undefined;
  if (cleanup.waiver !== undefined) return act('recordWaiver', 'CleanupWaived');
  if (cleanup.clearance === 'Waived') return makeAvailable(server, go('Available', 'CleanupWaived'));
  return server.bmc.isReachable && server.power === 'Off' ? clearLeftOverride(server) : undefined;
}

const awaitsLeaderMessage = 'its turn has come; the leading replica, which counts for all, lets it in';

function queued(queue: QueueFacts, limit: QueueLimit): Step {
  const { ahead, atOnce, perHour } = queue;
  const because: Record<QueueLimit, string> = {
    atOnce: `as many are being cleaned up as --cleanup-at-once allows (${atOnce})`,
    perHour: `as many were let in within an hour as --cleanup-per-hour allows (${perHour})`,
    inFlight: 'those before it are started first',
  };
  return wait(queuePollMs(queue), 'CleanupQueued', `${positionOf(ahead)}; ${because[limit]}`);
}

/** Rounded, the more the longer the queue is: otherwise each start would update the status of every queued server. */
function positionOf(ahead: number): string {
  if (ahead < 10) return `number ${ahead + 1} in the queue`;
  const step = 10 ** Math.floor(Math.log10(ahead));
  return `at least ${Math.floor(ahead / step) * step} before it in the queue`;
}

/** No claim holds the machine, so it may be forced off. */
const ensureOff = (server: ServerFacts, reason: ServerReason): Step<'Error'> | undefined =>
  ensurePower(server, { target: 'Off', reason, confirmation: 'fresh', mayForce: true });

const attemptOf = ({ cleanup }: ServerFacts): string => `attempt ${cleanup.attempt} of ${cleanup.maxAttempts}`;
