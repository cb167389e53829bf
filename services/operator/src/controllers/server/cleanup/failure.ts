import { formatDuration } from '@metal/kube/runtime/durations.ts';
import type { Failure, ServerFacts } from '../types.ts';
import type { CleanupFacts } from './facts.ts';
import { needsBoot } from './policy.ts';

/** Why the present attempt failed; undefined while it has not. */
export function failedBecause({ cleanup }: Pick<ServerFacts, 'cleanup'>): string | undefined {
  const { attempt, boot, report, noProgressForMs, timeoutMs, sharedDisk } = cleanup;
  if (attempt === 0) return undefined;
  if (report?.state === 'Failed') return shortened(report.message || 'the agent reported failure and no cause');
  if (isUnconfirmedSuccess(cleanup) && cleanup.hasRun === 'no')
    return 'success was reported for a machine that did not run';
  const setting = failedSetting(cleanup);
  if (setting !== undefined) return setting;
  if (sharedDisk !== undefined)
    return `server ${sharedDisk.serverName} has disk ${sharedDisk.wwid}, too; take it from one of them and rediscover that`;
  if (report?.state === 'Succeeded' || noProgressForMs < timeoutMs) return undefined;
  // An attempt without progress frees its place in the queue, for example while its BMC is unreachable.
  if (boot === undefined) return missedAction(cleanup);
  return `nothing was heard for ${formatDuration(timeoutMs)}; ${report === undefined ? boot.explanation : cleanup.progress}`;
}

/** Of a machine or a BMC: the ErasureReport and the log have all of it. */
const shortened = (text: string): string => (text.length > 69 ? `${text.slice(0, 68)}…` : text);

/** Anybody who knows the system UUID can fetch the boot data with their token: a report counts only if the machine has run. */
export const isUnconfirmedSuccess = ({ clearance, boot, report, hasRun }: CleanupFacts): boolean =>
  clearance === undefined && boot !== undefined && report?.state === 'Succeeded' && hasRun !== 'yes';

/** A requested reset that cannot be confirmed fails the attempt. */
function failedSetting({ clearance, bios, bootOrder, timeoutMs }: CleanupFacts): string | undefined {
  if (clearance !== undefined) return undefined;
  if (bios.kind === 'failed') return `its BIOS is not reset: ${shortened(bios.message)}`;
  if (bootOrder.kind === 'failed') return `its boot order is not restored: ${shortened(bootOrder.message)}`;
  if (bios.kind === 'requested' && bios.forMs >= timeoutMs)
    return `its BIOS reset was accepted and is still pending after ${formatDuration(timeoutMs)}`;
  if (bootOrder.kind === 'requested' && bootOrder.forMs >= timeoutMs) return bootOrderNotShown(timeoutMs);
  return undefined;
}

const bootOrderNotShown = (timeoutMs: number): string =>
  `its boot order was accepted and not shown within ${formatDuration(timeoutMs)}`;

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
    message: `attempt ${attempt} of ${maxAttempts} to clean it up: ${reason}`,
  };
}
