import { minutes } from '@metal/kube/runtime/durations.ts';
import { act, wait } from '@metal/kube/controller/decide.ts';
import { erasedSoFar } from './progress.ts';
import type { ServerFacts, Step } from '../types.ts';

const resyncMs = minutes(60);

/** The registry and the boot service withdraw the order at the same sight; they are what stops an eraser. */
export function holdCleanup(server: ServerFacts): Step {
  const message = heldMessage(server);
  return server.cleanup.boot === undefined || server.cleanup.lastHeldMessage === message
    ? wait(resyncMs, 'CleanupHeldByClaim', message)
    : act('recordHeldEvent', 'CleanupHeldByClaim', message);
}

/** Why nothing is done, and what was done before. */
export function heldMessage({ claim, cleanup }: Pick<ServerFacts, 'claim' | 'cleanup'>): string {
  const names = `spec.serverClaimRef names claim ${claim.binding === 'unbound' ? '' : claim.name}`;
  return cleanup.boot === undefined
    ? `${names}; nothing is done to it until that is cleared`
    : `${names}; ${erasedSoFar(cleanup.record)}`;
}
