import { act, type Decision, rest, wait } from '@metal/kube/controller/decide.ts';
import { minutes } from '@metal/kube/runtime/durations.ts';
import type { ServerReason } from '../reasons.ts';
import type { ServerAction, ServerFacts, ServerPhase } from '../types.ts';

/** The deletion never waits for the hardware: it deletes dependent objects and records an event. */
export function decideDeletion({ deletion }: ServerFacts): Decision<ServerPhase, ServerAction, ServerReason> {
  if (deletion.heldByMaintenance)
    return wait(
      minutes(10),
      'DeletionWaitsForMaintenance',
      'a maintenance has the server; end it, or annotate metal.ironcore.dev/operation=allow-in-progress-delete',
    );
  if (deletion.bootsLeft) return act('dropBootsOfDeleted', 'ServerDeleted');
  return deletion.deletionReported ? rest : act('recordDeletionEvent', 'ServerDeleted');
}
