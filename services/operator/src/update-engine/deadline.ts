import type { Explanation } from '../controllers/ready-condition.ts';
import { shortened } from './settings-changes.ts';
import type { UpdateFacts } from './types.ts';

type Overdue = Explanation & { readonly holdsMaintenance?: true };

/** Infinity while there is none: nobody is hurried to approve a maintenance. */
export function deadlineInMs({ attempt, sentMsAgo, startedMsAgo, timeoutMs }: UpdateFacts): number {
  if (attempt.sendTime !== undefined) return timeoutMs - sentMsAgo;
  return attempt.startTime === undefined ? Infinity : timeoutMs - startedMsAgo;
}

/** Why the attempt cannot succeed any more, and whether the change may still be running. */
export function deadlineFailure(update: UpdateFacts): Overdue | undefined {
  const { attempt, target } = update;
  if (deadlineInMs(update) > 0) return undefined;
  if (attempt.sendTime === undefined) return neverSent(update);
  if (target.blocker !== undefined) return unreachable(target.blocker);
  if (isTaskOpen(update)) return taskOverdue(update);
  return unverified(update);
}

/** The BMC has not reported that the image is installed, or goes on with it after a restart. */
export const isTaskOpen = ({ attempt, task, isFlash }: UpdateFacts): boolean =>
  isFlash &&
  attempt.acceptTime !== undefined &&
  (attempt.installTime === undefined || (task?.state !== undefined && task.state !== 'Completed'));

const neverSent = (update: UpdateFacts): Overdue => ({
  reason: update.isFlash ? 'UpgradeIssueFailed' : 'SettingsNotSent',
  message: neverSentMessage(update),
});

function neverSentMessage({ target, bmcReset, comparison, isHostOn, needsHostOn, isFlash }: UpdateFacts): string {
  const cause = target.blocker ?? target.awaited;
  if (cause !== undefined) return shortened(`nothing was sent in time; retry when this has ended: ${cause.message}`);
  if (bmcReset.heldBy !== undefined) return `the BMC was not restarted in time: remove ${bmcReset.heldBy}, then retry`;
  if (bmcReset.isUnderWay)
    return 'the BMC did not return in time from its restart before the change; look at the BMC, then retry';
  if (comparison === undefined)
    return 'the BMC does not let its present state be read, so nothing was sent; see the log of the operator, then retry';
  if (needsHostOn && !isHostOn)
    return 'the machine did not turn on in time, so nothing was sent; see the condition Ready of the Server, then retry';
  return isFlash
    ? 'the BMC did not take the image in time; the installed version is as before; look at the BMC, then retry'
    : 'the BMC did not take the settings in time; compare status.plan with the BMC, then retry';
}

const unreachable = ({ reason, message }: Explanation): Overdue => ({
  reason: 'BMCSilent',
  message:
    reason === 'BMCNotReady'
      ? 'the BMC does not answer since the change was sent; leave the machine as it is, look at the BMC, then retry'
      : `${message}; the change was sent before, and its result is not known`,
  holdsMaintenance: true,
});

const taskOverdue = ({ task }: UpdateFacts): Overdue => ({
  reason: 'TaskOverdue',
  message: `the BMC still installs (${task?.state ?? 'unknown'}, ${task?.percentageComplete ?? 0} %); leave the machine on, look at the BMC, then retry`,
  holdsMaintenance: true,
});

function unverified({ attempt, comparison, unhealthy, isHostOn, bmcReset }: UpdateFacts): Overdue {
  return { reason: 'VerificationFailed', message: message() };

  function message(): string {
    if (comparison?.problem !== undefined) return `after the change: ${comparison.problem.message}`;
    if (attempt.restart === 'BMC' && attempt.resetTime === undefined && bmcReset.heldBy !== undefined)
      return `the change is accepted, but the BMC was not restarted: remove ${bmcReset.heldBy}, then retry`;
    if (attempt.restart === 'Host' && attempt.resetTime === undefined)
      return 'the image is installed, but the machine was not restarted in time; see the condition Ready of the Server, then retry';
    if (unhealthy !== undefined)
      return `the change is not reported, and the hardware of Server ${unhealthy} is not OK any more: look at the machine before you retry`;
    if (attempt.restart === 'Host' && !isHostOn)
      return 'the change is not reported, and the machine is off: it lost power meanwhile; look at it before you retry';
    return 'the BMC accepted the change and does not report it; compare status.plan with the BMC, then retry';
  }
}
