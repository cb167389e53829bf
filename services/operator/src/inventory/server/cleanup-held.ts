import { act, minutes, wait } from '@metal/kube/decide.ts';
import { erasedSoFar } from './cleanup-progress.ts';
import type { ServerFacts } from './facts.ts';
import type { Step } from './prelude.ts';

const untilSomebodyActs = minutes(60);

/** The registry and the boot service withdraw the order at the same sight; they are what stops an eraser. */
export function hold(server: ServerFacts): Step {
  const message = heldText(server);
  return server.cleanup.boot === undefined || server.cleanup.heldTold === message
    ? wait(untilSomebodyActs, 'CleanupHeldByClaim', message)
    : act('tellHeld', 'CleanupHeldByClaim', message);
}

/** Why nothing is done, and what was done before. */
export function heldText({ claim, cleanup }: Pick<ServerFacts, 'claim' | 'cleanup'>): string {
  const names = `spec.serverClaimRef names claim ${claim.standing === 'none' ? '' : claim.name}`;
  return cleanup.boot === undefined
    ? `${names}; nothing is done to it until that is cleared`
    : `${names}; ${erasedSoFar(cleanup.record)}`;
}
