import { act, type Decision, type PhaseTable, rest, rowsOf, wait } from '@metal/kube/controller/decide.ts';
import { minutes, seconds } from '@metal/kube/runtime/durations.ts';
import type { DataImageAction, DataImageFacts, DataImagePhase } from './facts.ts';
import type { DataImageReason } from './reasons.ts';

const row = rowsOf<DataImagePhase, DataImageFacts, DataImageAction, DataImageReason>();
const blockedMs = minutes(10);
const detachedMs = seconds(20);

export const dataImageTable: PhaseTable<DataImagePhase, DataImageFacts, DataImageAction, DataImageReason> = {
  Present: row([], ({ blocker, isOwned }) => {
    if (blocker?.reason === 'HostMissing' || blocker?.reason === 'HostPaused')
      return wait(blockedMs, blocker.reason, blocker.message);
    if (!isOwned) return act('makeOwner', 'MakingOwner');
    if (blocker?.reason === 'HostDetached') return wait(detachedMs, blocker.reason, blocker.message);
    return rest;
  }),
};

/** The host takes the image out of the drive, at its next start. */
export function decideDeletion(facts: DataImageFacts): Decision<never, DataImageAction, DataImageReason> {
  const { blocker, drive, nextReadInMs, failure } = facts;
  if (blocker?.reason === 'HostPaused') return wait(blockedMs, blocker.reason, blocker.message);
  if (blocker !== undefined || drive === 'empty') return rest;
  if (failure !== undefined) return wait(nextReadInMs, 'DriveUnreadable', failure);
  if (drive === 'attached') return wait(nextReadInMs, 'StillAttached');
  return act('readDrive', 'ReadingDrive');
}
