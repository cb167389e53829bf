import { act } from '@metal/kube/controller/decide.ts';
import { blocker } from '../bmc/steps.ts';
import { freshForMs } from '../power/facts.ts';
import type { ServerFacts, Step } from '../types.ts';

export const whileOff = (fetched: string): string => `${fetched} while the machine was off`;

/**
 * Boot data were fetched before the operator started the machine. An earlier process or a person may have started it, so it
 * is observed before the boot is rejected.
 */
export const confirmOff = (server: ServerFacts): Step | undefined =>
  blocker(server) ?? ((server.powerSeenMsAgo ?? 0) >= freshForMs ? act('observe', 'LookBeforeChange') : undefined);

/** A boot configuration of the server, or the reference to one, is left to clear. */
export const leavesBoot = ({ probeBoot, bootReferenced }: ServerFacts): boolean =>
  probeBoot !== undefined || bootReferenced;

/** An unused one-time override would redirect the next start. */
export function clearLeftOverride({ cleanup }: ServerFacts): Step | undefined {
  return cleanup.overrideCleared ? undefined : act('clearOverride', 'OverrideMayBeLeft');
}
