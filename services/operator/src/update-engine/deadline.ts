import type { Explanation } from '../controllers/ready-condition.ts';
import type { UpdateFacts } from './types.ts';

type Overdue = Explanation & { readonly holdsMaintenance?: true };

/** Infinity while there is none. */
export function deadlineInMs({ attempt, sentMsAgo, startedMsAgo, timeoutMs, isFlash }: UpdateFacts): number {
  if (attempt.sendTime !== undefined) return timeoutMs - sentMsAgo;
  return isFlash && attempt.startTime !== undefined ? timeoutMs - startedMsAgo : Infinity;
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

const neverSent = ({ isHostOn, needsHostOn }: UpdateFacts): Overdue => ({
  reason: 'UpgradeIssueFailed',
  message:
    needsHostOn && !isHostOn
      ? 'the machine did not turn on in time, so nothing was sent; see the condition Ready of the Server, then retry'
      : 'the BMC did not take the image in time; the installed version is as before; look at the BMC, then retry',
});

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

function unverified({ attempt, comparison, unhealthy, isHostOn }: UpdateFacts): Overdue {
  return { reason: 'VerificationFailed', message: message() };

  function message(): string {
    if (comparison?.problem !== undefined) return `after the change: ${comparison.problem.message}`;
    if (attempt.restart === 'Host' && attempt.resetTime === undefined)
      return 'the image is installed, but the machine was not restarted in time; see the condition Ready of the Server, then retry';
    if (unhealthy !== undefined)
      return `the change is not reported, and the hardware of Server ${unhealthy} is not OK any more: look at the machine before you retry`;
    if (attempt.restart === 'Host' && !isHostOn)
      return 'the change is not reported, and the machine is off: it lost power meanwhile; look at it before you retry';
    return 'the BMC accepted the change and does not report it; compare status.plan with the BMC, then retry';
  }
}
