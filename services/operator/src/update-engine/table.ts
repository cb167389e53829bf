import { act, type Decision, go, type PhaseTable, type Row, wait } from '@metal/kube/controller/decide.ts';
import { seconds } from '@metal/kube/runtime/durations.ts';
import { deadlineFailure, deadlineInMs } from './deadline.ts';
import { type Done, type Inner, resyncMs, type Step, type UpdateAction, type UpdatePhase } from './decisions.ts';
import { awaitOperation, follow, powered } from './follow.ts';
import type { UpdateReason } from './reasons.ts';
import type { Comparison, UpdateFacts } from './types.ts';

/** Values that were read before a wait are read again before they are acted on. */
const freshMs = seconds(30);
const endedMs = seconds(5);
/** Times in a status are whole seconds. */
const arrivedMs = seconds(2);

/** compare → validate → maintenance → apply → restart → verify → release, for every kind of update. */
export function updateTable(done: Done): PhaseTable<UpdatePhase, UpdateFacts, UpdateAction, UpdateReason> {
  const row = (
    to: readonly Inner[],
    decide: (update: UpdateFacts) => Step<Inner>,
  ): Row<UpdatePhase, UpdateFacts, UpdateAction, UpdateReason> => ({
    to: to.map((phase) => (phase === 'Done' ? done : phase)),
    decide: (update) => named(decide(update), done),
  });
  const rows = {
    Pending: row(['InProgress', 'Done', 'Failed'], pending),
    InProgress: row(['Pending', 'Done', 'Failed'], inProgress),
    [done]: row(['Pending'], isDone),
    Failed: row(['Pending'], failed),
  };
  // The kind has exactly one of the two final states.
  return rows as PhaseTable<UpdatePhase, UpdateFacts, UpdateAction, UpdateReason>;
}

const named = (decision: Step<Inner>, done: Done): Decision<UpdatePhase, UpdateAction, UpdateReason> =>
  decision.kind === 'go' ? { ...decision, phase: decision.phase === 'Done' ? done : decision.phase } : decision;

/**
 * An object that waits gives its maintenance back, unless its BMC is silent or runs an update: an earlier attempt may have left it
 * flashing, and a server that is released is turned off.
 */
function pending(update: UpdateFacts): Step<'InProgress' | 'Done' | 'Failed'> {
  const step = nextStep(update);
  const { target, window, comparison } = update;
  const mayFlash =
    target.blocker !== undefined || (window.held.length > 0 && comparison?.hold?.reason === 'OtherUpdateRuns');
  const isIdle = step.kind === 'wait' && !mayFlash && window.own.length > 0;
  return isIdle ? act('releaseMaintenance', step.reason, step.message) : step;
}

function nextStep(update: UpdateFacts): Step<'InProgress' | 'Done' | 'Failed'> {
  const { comparison } = update;
  if (update.retry !== undefined) return act('beginRetry', 'RetryRequested');
  if (update.failure !== undefined) return go('Failed', update.failure.reason as UpdateReason, update.failure.message);
  if (update.rival !== undefined) return taken(update, update.rival);
  const before = beforeWork(update);
  if (before !== undefined) return before;
  if (comparison === undefined) return act('compare', 'Comparing');
  if (comparison.problem !== undefined) return act('recordFailure', comparison.problem.reason as UpdateReason);
  if (comparison.steps.length === 0) return go('Done', 'AsDesired');
  if (update.isDryRun) return waitAndCompare(update, 'DryRun', planOf(update));
  if (update.rolloutWait !== undefined) return waitAndCompare(update, 'RolloutWaiting', update.rolloutWait);
  const { hold } = comparison;
  if (hold !== undefined && !update.joinsWindow)
    return waitAndCompare(update, hold.reason as UpdateReason, hold.message);
  const tooLow = limitTooLow(update);
  if (tooLow !== undefined) return waitAndCompare(update, 'MaintenanceLimitTooLow', tooLow);
  return begin(update);
}

/** The first status of the phase has the maintenance. */
function begin(update: UpdateFacts): Step<'InProgress'> {
  const { window, reservedBy } = update;
  if (window.missing.length > 0 && reservedBy === undefined) return act('requestMaintenance', 'MaintenanceWanted');
  // Its status has the plan and the time; the result has an event.
  return go('InProgress', 'ChangeNeeded', planOf(update), 'none');
}

/** The servers of a BMC are in maintenance together: with a lower limit each one that has a slot would wait for the others for ever. */
function limitTooLow({ target: { servers, bmcName }, maintenanceLimit: limit }: UpdateFacts): string | undefined {
  if (limit === 0 || servers.length <= limit) return undefined;
  return `BMC ${bmcName} needs its ${servers.length} servers in maintenance together; --max-servers-in-maintenance is ${limit}, raise it to ${servers.length}`;
}

/** Why nothing is read or sent. */
function beforeWork({ target, reference }: UpdateFacts): Step | undefined {
  const cause = target.blocker ?? target.awaited;
  if (cause !== undefined) return wait(resyncMs, cause.reason as UpdateReason, cause.message);
  if (reference === 'missing') return act('claimTarget', 'TargetClaimed');
  return undefined;
}

/** Where the machine shows who the rivals are, it is read again: its hardware may change. */
function taken({ comparison, nextDriftCheckInMs, target }: UpdateFacts, rival: string): Step {
  if (comparison !== undefined && nextDriftCheckInMs <= 0 && target.blocker === undefined)
    return act('compare', 'Comparing');
  return wait(resyncMs, 'TargetTaken', takenMessage(rival));
}

const takenMessage = (rival: string): string => `${rival}; delete one of the two objects`;

/** The cause of the wait may have ended without an event. */
function waitAndCompare(update: UpdateFacts, reason: UpdateReason, message: string): Step {
  const isOld = update.comparedMsAgo > resyncMs || (update.hasVersionArrived && update.comparedMsAgo > arrivedMs);
  if (isOld) return act('compare', 'Comparing');
  return wait(update.hasVersionArrived ? arrivedMs : resyncMs, reason, message);
}

/** A wait ends at the deadline at the latest. */
function inProgress(update: UpdateFacts): Step<'Pending' | 'Done' | 'Failed'> {
  const step = advance(update);
  const leftMs = deadlineInMs(update);
  return step.kind === 'wait' && leftMs > 0 ? { ...step, delayMs: Math.min(step.delayMs, leftMs) } : step;
}

function advance(update: UpdateFacts): Step<'Pending' | 'Done' | 'Failed'> {
  if (update.failure !== undefined) return go('Failed', update.failure.reason as UpdateReason, update.failure.message);
  if (update.attempt.sendTime !== undefined) return follow(update);
  const { comparison, window, rival } = update;
  if (rival !== undefined) return go('Pending', 'TargetTaken', takenMessage(rival));
  const before = beforeWork(update);
  if (before !== undefined) return inWindow(update) ?? before;
  if (comparison === undefined)
    return (update.isUnreadable ? inWindow(update) : undefined) ?? act('compare', 'Comparing');
  if (comparison.problem !== undefined) return act('recordFailure', comparison.problem.reason as UpdateReason);
  if (comparison.steps.length === 0) return go('Done', 'AsDesired');
  if (update.isDryRun) return go('Pending', 'DryRun');
  if (window.state !== 'granted') return awaitWindow(update);
  return work(update, comparison);
}

/** The server is kept for a BMC that gives no answer: the time of the step counts, and ends. */
function inWindow(update: UpdateFacts): Step | undefined {
  if (update.window.state !== 'granted') return undefined;
  if (update.attempt.startTime === undefined) return act('startAttempt', 'ServerMaintenanceApproval');
  return failOverdue(update);
}

function failOverdue(update: UpdateFacts): Step | undefined {
  const overdue = deadlineFailure(update);
  return overdue && act('recordFailure', overdue.reason as UpdateReason, overdue.message);
}

function awaitWindow(update: UpdateFacts): Step<'Pending'> {
  const { window, reservedBy, joinsWindow, comparison, comparedMsAgo } = update;
  // It lost its maintenance before anything was sent: the next one has all of its time.
  if (update.attempt.startTime !== undefined) return act('endAttempt', 'MaintenanceWanted');
  const tooLow = limitTooLow(update);
  if (tooLow !== undefined) return go('Pending', 'MaintenanceLimitTooLow', tooLow);
  if (reservedBy !== undefined && window.own.length > 0)
    return act('releaseMaintenance', 'BMCReserved', `${reservedBy} changes the same BMC first`);
  if (reservedBy !== undefined) return wait(resyncMs, 'BMCReserved', `${reservedBy} changes the same BMC first`);
  if (comparison?.hold?.version !== undefined && !joinsWindow && window.held.length === 0) {
    // The update that installs the version has ended, and the next maintenance has not begun.
    if (update.hasVersionArrived) return waitAndCompare(update, 'VersionUpgradePending', comparison.hold.message);
    if (comparedMsAgo > endedMs) return act('compare', 'Comparing');
    if (window.own.length > 0) return act('releaseMaintenance', 'VersionUpgradePending', comparison.hold.message);
    return go('Pending', 'VersionUpgradePending', comparison.hold.message);
  }
  if (window.missing.length > 0) return act('requestMaintenance', 'MaintenanceWanted');
  return wait(resyncMs, 'ServerMaintenanceWaitingOnApproval', window.explanation);
}

/** The maintenance is granted. */
function work(update: UpdateFacts, comparison: Comparison): Step<'Pending'> {
  const { attempt, bmcReset } = update;
  if (attempt.startTime === undefined || attempt.desired !== comparison.desired)
    return act('startAttempt', 'ServerMaintenanceApproval');
  if (update.comparedMsAgo > freshMs) return act('compare', 'Comparing');
  if (comparison.hold !== undefined)
    return holdInWindow(update, comparison.hold.reason as UpdateReason, comparison.hold.message);
  const overdue = failOverdue(update);
  if (overdue !== undefined) return overdue;
  if (bmcReset.isWanted && attempt.bmcResetTime === undefined)
    return awaitOperation(update) ?? act('resetBmcFirst', 'ResettingBMC');
  if (bmcReset.isUnderWay) return wait(resyncMs, 'ResettingBMC', 'the BMC restarts before the change');
  if (comparison.isPrepared === false) return act('prepare', 'SendingChange');
  if (update.needsHostOn && !update.isHostOn) return powered(update, 'On');
  return act('recordIntent', 'SendingChange');
}

/** A version that never comes, or a change of somebody else, does not keep the server for ever. */
function holdInWindow(update: UpdateFacts, reason: UpdateReason, message: string): Step<'Pending'> {
  const { window, startedMsAgo, timeoutMs, comparison, joinsWindow } = update;
  const isForVersion = comparison?.hold?.version !== undefined;
  if ((isForVersion && !joinsWindow) || startedMsAgo > timeoutMs) {
    if (window.own.length > 0) return act('releaseMaintenance', reason, message);
    return go('Pending', reason, message);
  }
  if (update.nextPollInMs <= 0) return act('compare', 'Comparing');
  return wait(update.nextPollInMs, reason, message);
}

function isDone(update: UpdateFacts): Step<'Pending'> {
  if (update.window.own.length > 0) return act('releaseMaintenance', 'ChangeVerified');
  if (update.retry !== undefined) return act('beginRetry', 'RetryRequested');
  if (update.rival !== undefined) return taken(update, update.rival);
  if (update.target.blocker !== undefined) return wait(resyncMs, 'AsDesired', 'as desired when it was last compared');
  if (update.comparison === undefined || update.nextDriftCheckInMs <= 0) return act('compare', 'Comparing');
  if (update.comparison.problem !== undefined || update.comparison.steps.length > 0) {
    const reason = update.isDrift ? 'Drifted' : 'SpecChanged';
    if (update.holdsForRollout) return act('holdForRollout', reason, planOf(update));
    if (update.attempt.desired !== undefined) return act('endAttempt', reason, planOf(update));
    return go('Pending', reason, planOf(update), update.isDrift ? { type: 'Warning' } : undefined);
  }
  if (update.nextVariablesReadInMs <= 0) return act('readVariables', 'Comparing');
  return wait(Math.min(update.nextDriftCheckInMs, update.nextVariablesReadInMs), 'AsDesired', 'as desired');
}

function failed(update: UpdateFacts): Step<'Pending'> {
  const { failure, window } = update;
  if (update.retry !== undefined) return act('beginRetry', 'RetryRequested');
  if (failure === undefined) return go('Pending', 'RetryRequested');
  if (update.isCorrected) return act('beginRetry', 'SpecChanged');
  const isRetried = update.failedAttempts < update.maxAttempts && failure.holdsMaintenance !== true;
  if (isRetried && update.nextAttemptInMs <= 0) return act('beginRetry', 'AutomaticRetry');
  if (failure.holdsMaintenance !== true && window.own.length > 0)
    return act('releaseMaintenance', failure.reason as UpdateReason, failure.message);
  return wait(isRetried ? update.nextAttemptInMs : resyncMs, failure.reason as UpdateReason, failure.message);
}

function planOf({ comparison }: UpdateFacts): string {
  const changes = (comparison?.steps ?? []).flatMap((step) => step.changes);
  const restarts = new Set((comparison?.steps ?? []).map(({ restart: what }) => what));
  const restartText = restarts.has('Host')
    ? 'restarts the host'
    : restarts.has('BMC')
      ? 'restarts the BMC'
      : 'no restart';
  return `${changes.length} ${changes.length === 1 ? 'change' : 'changes'}, ${restartText}`;
}
