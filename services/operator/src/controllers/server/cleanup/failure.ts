import { formatDuration } from '@metal/kube/runtime/durations.ts';
import type { Failure, ServerFacts } from '../types.ts';
import type { CleanupFacts } from './facts.ts';
import { needsBoot } from './policy.ts';

/** Why the present attempt failed; undefined while it has not. */
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
  // An attempt without progress frees its place in the queue, for example while its BMC is unreachable.
  if (boot === undefined) return missedAction(cleanup);
  return `nothing was heard for ${formatDuration(timeoutMs)}; ${report === undefined ? boot.explanation : cleanup.progress}`;
}

/** Anybody who knows the system UUID can fetch the boot data with their token: a report counts only if the machine has run. */
export const isUnconfirmedSuccess = ({ clearance, boot, report, hasRun }: CleanupFacts): boolean =>
  clearance === undefined && boot !== undefined && report?.state === 'Succeeded' && hasRun !== 'yes';

/** A requested reset that cannot be confirmed fails the attempt. */
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

/** The action that was not reached within the timeout. */
function missedAction({ policy, bios, bootOrder, timeoutMs }: CleanupFacts): string {
  const within = `within ${formatDuration(timeoutMs)}`;
  if (needsBoot(policy))
    return `${bios.kind === 'due' ? 'its BIOS could not be reset' : 'what it boots could not be prepared'} ${within}`;
  if (bootOrder.kind === 'done') return `its boot order is as wanted, but the cleanup did not end ${within}`;
  // It was requested after the attempt began: its own timeout is not over.
  return bootOrder.kind === 'requested'
    ? bootOrderNotShown(timeoutMs)
    : `its boot order could not be restored ${within}`;
}

/** The last allowed attempt failed: a person has to act. */
export function cleanupFailure(facts: Pick<ServerFacts, 'cleanup'>): Failure | undefined {
  const { attempt, maxAttempts } = facts.cleanup;
  const reason = attempt < maxAttempts ? undefined : failedBecause(facts);
  if (reason === undefined) return undefined;
  return {
    reason: 'CleanupFailed',
    message: `it may hold what a former claim left; attempt ${attempt} of ${maxAttempts} to clean it up: ${reason}`,
  };
}
