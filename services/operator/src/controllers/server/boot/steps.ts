import { act } from '@metal/kube/controller/decide.ts';
import type { ServerFacts, Step } from '../types.ts';
import { blocker } from '../bmc/steps.ts';
import { freshForMs } from '../power/facts.ts';

export const whileOff = (fetched: string): string => `${fetched} while the machine was off`;

/** An earlier process may have started it, or a person: it is looked at before the evidence is called early. */
export const confirmOff = (server: ServerFacts): Step<'Error'> | undefined =>
  blocker(server) ?? ((server.powerSeenMsAgo ?? 0) >= freshForMs ? act('observe', 'LookBeforeChange') : undefined);

/** A one-time override that was never used would take the next start somewhere else. */
export function forgetOverride({ cleanup }: ServerFacts): Step | undefined {
  return cleanup.overrideCleared ? undefined : act('clearOverride', 'OverrideMayBeLeft');
}

export const leavesBoot = ({ probeBoot, bootReferenced }: ServerFacts): boolean =>
  probeBoot !== undefined || bootReferenced;
