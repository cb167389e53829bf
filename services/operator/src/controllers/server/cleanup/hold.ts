import { act, wait } from '@metal/kube/controller/decide.ts';
import { resyncMs } from '../resync.ts';
import type { ServerFacts, Step } from '../types.ts';
import { erasedSoFar } from './progress.ts';

/** The server has a claim reference again. The registry and the boot service see that, too, and stop the eraser. */
export function holdCleanup(server: ServerFacts): Step {
  const message = heldMessage(server);
  return server.cleanup.boot === undefined || server.cleanup.lastHeldMessage === message
    ? wait(resyncMs, 'CleanupHeldByClaim', message)
    : act('recordHeldEvent', 'CleanupHeldByClaim', message);
}

/** Names the claim, and what was erased before. */
export function heldMessage({ claim, cleanup }: Pick<ServerFacts, 'claim' | 'cleanup'>): string {
  const names = `spec.serverClaimRef names claim ${claim.binding === 'unbound' ? '' : claim.name}`;
  return cleanup.boot === undefined
    ? `${names}; nothing is done to it until that is cleared`
    : `${names}; ${erasedSoFar(cleanup.record)}`;
}
