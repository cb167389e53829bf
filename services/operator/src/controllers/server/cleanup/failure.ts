import type { CleanupFacts } from './facts.ts';
import { needsBoot } from './policy.ts';
import type { Failure, ServerFacts } from '../types.ts';
import { formatDuration } from '@metal/kube/runtime/durations.ts';

/** Why the attempt under way is lost. */
export function failedBecause({ cleanup }: Pick<ServerFacts, 'cleanup'>): string | undefined {
  const { attempt, boot, report, noProgressForMs, timeoutMs, sharedDisk } = cleanup;
  if (attempt === 0) return undefined;
  if (report?.state === 'Failed') return report.message || 'the agent reported failure and no cause';
  if (isUnconfirmedSuccess(cleanup) && cleanup.hasRun === 'no')
    return 'success was reported, but its machine has not run since its boot was prepared; whoever told it was not on it';
  const setting = failedSetting(cleanup);
  if (setting !== undefined) return setting;
  if (sharedDisk !== undefined)
    return `disk ${sharedDisk.wwid} is one of server ${sharedDisk.serverName}, too, and would be erased for both; take it away from one of them, and annotate that one metal.ironcore.dev/operation=rediscover; if it is in use or cannot report, delete its ServerInventory`;
  if (report?.state === 'Succeeded' || noProgressForMs < timeoutMs) return undefined;
  // One that gets nowhere gives its place away; it comes back when its BMC answers.
  if (boot === undefined) return missedAction(cleanup);
  return `nothing was heard for ${formatDuration(timeoutMs)}; ${report === undefined ? boot.explanation : cleanup.progress}`;
}

/** Whoever knows the UUID of a machine can ask for its boot, and for the token in that: a machine that is off erased nothing. */
export const isUnconfirmedSuccess = ({ clearance, boot, report, hasRun }: CleanupFacts): boolean =>
  clearance === undefined && boot !== undefined && report?.state === 'Succeeded' && hasRun !== 'yes';

/** Whoever asked for a reset gets it, or hears that there is none. */
function failedSetting({ clearance, bios, bootOrder, timeoutMs }: CleanupFacts): string | undefined {
  if (clearance !== undefined) return undefined;
  if (bios.kind === 'failed') return `its BIOS is not reset: ${bios.message}`;
  if (bootOrder.kind === 'failed') return `its boot order is not restored: ${bootOrder.message}`;
  if (bios.kind === 'requested' && bios.forMs >= timeoutMs)
    return `its BIOS is not reset within ${formatDuration(timeoutMs)}; the BMC took the order, the machine has started since, and the reset is still pending`;
  if (bootOrder.kind === 'requested' && bootOrder.forMs >= timeoutMs) return bootOrderNotShown(timeoutMs);
  return undefined;
}

const bootOrderNotShown = (timeoutMs: number): string =>
  `its boot order is not restored within ${formatDuration(timeoutMs)}; the BMC took the order and does not show it`;

/** What would have been next, had the time sufficed. */
function missedAction({ policy, bios, bootOrder, timeoutMs }: CleanupFacts): string {
  const within = `within ${formatDuration(timeoutMs)}`;
  if (needsBoot(policy))
    return `${bios.kind === 'due' ? 'its BIOS could not be reset' : 'what it boots could not be prepared'} ${within}`;
  if (bootOrder.kind === 'done') return `its boot order is as wanted, but the cleanup did not end ${within}`;
  // It was asked for later than the attempt began, so that its own time is not over.
  return bootOrder.kind === 'requested'
    ? bootOrderNotShown(timeoutMs)
    : `its boot order could not be restored ${within}`;
}

/** The last attempt is lost: that is for a person. */
export function cleanupFailure(facts: Pick<ServerFacts, 'cleanup'>): Failure | undefined {
  const { attempt, maxAttempts } = facts.cleanup;
  const reason = attempt < maxAttempts ? undefined : failedBecause(facts);
  if (reason === undefined) return undefined;
  return {
    reason: 'CleanupFailed',
    message: `it may hold what a former claim left; attempt ${attempt} of ${maxAttempts} to clean it up: ${reason}`,
  };
}
