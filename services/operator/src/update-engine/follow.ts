import { act, go, wait } from '@metal/kube/controller/decide.ts';
import { minutes } from '@metal/kube/runtime/durations.ts';
import { deadlineFailure, isTaskOpen } from './deadline.ts';
import { resyncMs, type Step } from './decisions.ts';
import type { UpdateReason } from './reasons.ts';
import type { Comparison, UpdateFacts } from './types.ts';

/** A BMC restarts itself within this time after it has installed an image, or not at all. */
const selfRestartMs = minutes(2);
/** A machine that flashes at its start is done after this time. */
const flashAtStartMs = minutes(10);

/** The Server controller follows. */
export function powered(update: UpdateFacts, power: 'On' | 'Off'): Step {
  if (update.window.power !== power) return act(power === 'On' ? 'turnOn' : 'turnOff', 'RestartingHost');
  return wait(resyncMs, 'RestartingHost', `the Server controller turns the machine ${power === 'On' ? 'on' : 'off'}`);
}

/** The BMC is restarted by annotation, and has one at a time. */
export function awaitOperation({ bmcReset: { heldBy }, target: { bmcName } }: UpdateFacts): Step | undefined {
  if (heldBy === undefined) return undefined;
  return wait(resyncMs, 'BMCOperationFirst', `BMC ${bmcName} has annotation ${heldBy}; remove it, or wait for its end`);
}

/** The change was sent, or is about to be. */
export function follow(update: UpdateFacts): Step<'Done'> {
  const { attempt } = update;
  // The reconcile ends here, with a write of the status.
  if (mustSurvive(update) && !update.isRecorded) return recording(update);
  const overdue = deadlineFailure(update);
  if (overdue !== undefined) return act('recordFailure', overdue.reason as UpdateReason, overdue.message);
  if (update.target.blocker !== undefined)
    return wait(resyncMs, update.target.blocker.reason as UpdateReason, update.target.blocker.message);
  if (attempt.acceptTime === undefined) return send(update);
  if (attempt.installTime === undefined) return awaitTask(update);
  if (attempt.resetTime === undefined) return restart(update);
  return verify(update);
}

/**
 * What a process that takes over cannot find out: that an image was about to be sent, the task of the BMC, and that the machine was
 * off already. The rest it reads from the BMC, and settings may be sent twice.
 */
const mustSurvive = ({ isFlash, attempt }: UpdateFacts): boolean =>
  (isFlash && attempt.installTime === undefined) ||
  (attempt.powerOffTime !== undefined && attempt.resetTime === undefined);

/** Written at once. */
function recording({ attempt }: UpdateFacts): Step {
  if (attempt.acceptTime === undefined) return wait(1, 'SendingChange', 'the change is recorded before it is sent', 0);
  if (attempt.installTime === undefined) return wait(1, 'Installing', 'the BMC accepted the change', 0);
  return wait(1, 'RestartingHost', 'the machine is off, and is turned on to apply the change', 0);
}

function send(update: UpdateFacts): Step {
  if (update.sending !== 'intended') {
    if (update.nextPollInMs > 0) return wait(update.nextPollInMs, 'SearchingChange', lostMessage);
    return act('findSent', 'SearchingChange', lostMessage);
  }
  if (update.comparison === undefined) return act('beginStep', 'SpecChanged');
  // Somebody deleted the maintenance; it waits for this update, which begins anew in the next one.
  if (update.window.isEnding) return act('beginStep', 'MaintenanceWanted');
  if (update.window.state !== 'granted') return regain(update);
  return act('apply', 'SendingChange');
}

const lostMessage = 'the response of the BMC was lost; tasks and versions are read before anything is sent again';

/** Somebody took the maintenance away while the change is under way. */
function regain({ window }: UpdateFacts): Step {
  if (window.missing.length > 0) return act('requestMaintenance', 'MaintenanceWanted');
  return wait(resyncMs, 'ServerMaintenanceWaitingOnApproval', window.explanation);
}

export function awaitTask(update: UpdateFacts): Step {
  if (update.nextPollInMs <= 0) return act('readTask', 'Installing');
  const { percentageComplete, state } = update.task ?? {};
  const progress = percentageComplete === undefined ? (state ?? 'running') : `${percentageComplete} %`;
  return wait(update.nextPollInMs, 'Installing', `the BMC installs the change: ${progress}`);
}

export function restart(update: UpdateFacts): Step {
  const { attempt, bmcReset } = update;
  if (attempt.restart === 'None') return act('recordRestart', 'Verifying');
  const early = update.restartsOnlyIfNeeded && attempt.powerOffTime === undefined ? seenEarly(update) : undefined;
  if (early !== undefined) return early;
  if (attempt.restart === 'BMC') return awaitOperation(update) ?? act('resetBmc', 'ResettingBMC');
  if (bmcReset.isUnderWay) return wait(resyncMs, 'ResettingBMC', 'the BMC restarts; the machine follows');
  if (update.window.state !== 'granted') return regain(update);
  if (attempt.powerOffTime === undefined)
    return update.isHostOff ? act('recordOff', 'RestartingHost') : powered(update, 'Off');
  return update.isHostOn && update.window.power === 'On' ? act('recordRestart', 'Verifying') : powered(update, 'On');
}

/** The BMC reports the change without a restart of ours, or may restart itself in a moment. */
function seenEarly(update: UpdateFacts): Step | undefined {
  const { comparison, attempt } = update;
  if (update.bmcReset.isUnderWay) return undefined;
  if (comparison === undefined) return act('compare', 'Verifying');
  const isForThis = comparison.desired === attempt.desired;
  if (isForThis && !isOpen(comparison, attempt)) return act('recordRestart', 'Verifying');
  if (attempt.restart === 'Host' || update.installedMsAgo > selfRestartMs) return undefined;
  if (update.nextPollInMs <= 0) return act('compare', 'Verifying');
  return wait(update.nextPollInMs, 'Verifying', 'the BMC does not report the change yet');
}

/** True if the difference is still there; one that cannot be read any more may be. */
const isOpen = ({ steps, problem }: Comparison, { step = '' }: UpdateFacts['attempt']): boolean =>
  problem !== undefined || steps.some(({ name }) => name === step);

function verify(update: UpdateFacts): Step<'Done'> {
  const { comparison, attempt, bmcReset } = update;
  if (bmcReset.isUnderWay) return wait(resyncMs, 'ResettingBMC', 'the BMC restarts to activate the change');
  // Another process turned the machine on. This one keeps it on.
  const isUnwanted =
    attempt.restart === 'Host' && update.window.state === 'granted' && update.window.power === undefined;
  if (isUnwanted) return act('turnOn', 'Verifying');
  if (isTaskOpen(update)) return awaitTask(update);
  if (comparison === undefined)
    return update.nextPollInMs <= 0
      ? act('compare', 'Verifying')
      : wait(update.nextPollInMs, 'Verifying', 'the machine or its BMC starts with the change');
  if (comparison.problem?.reason === 'VerificationFailed') return act('recordFailure', 'VerificationFailed');
  // What was sent is not what is desired now.
  const isAsDesired = comparison.steps.length === 0 && comparison.problem === undefined;
  if (!isAsDesired && comparison.desired !== attempt.desired) return sendLater(update);
  if (!isOpen(comparison, attempt)) {
    if (comparison.steps.length === 0) return go('Done', 'ChangeVerified');
    // The status keeps what is known of the step.
    return update.isRecorded ? act('beginStep', 'NextStep') : wait(1, 'NextStep', 'the step is recorded', 0);
  }
  if (update.nextPollInMs <= 0) return act('compare', 'Verifying');
  return wait(update.nextPollInMs, 'Verifying', 'the BMC does not report the change yet');
}

/** The spec changed meanwhile: what was sent cannot be verified, but a machine that starts with it may still be flashing. */
function sendLater({ isFlash, restartedMsAgo }: UpdateFacts): Step {
  if (!isFlash || restartedMsAgo > flashAtStartMs) return act('beginStep', 'SpecChanged');
  return wait(flashAtStartMs - restartedMsAgo + 1, 'SpecChanged', 'the change that was sent first comes to its end');
}
