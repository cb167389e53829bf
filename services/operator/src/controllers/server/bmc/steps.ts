import { act, wait } from '@metal/kube/controller/decide.ts';
import type { ServerFacts, Step } from '../types.ts';
import type { PowerDecision } from '../power/steps.ts';
import type { ServerReason } from '../reasons.ts';
import { seconds, minutes } from '@metal/kube/runtime/durations.ts';

/** Why nothing can be done at the machine at all, or that it has to be looked at first. */
export function blocker({ bmc, powerSeenMsAgo }: ServerFacts): PowerDecision | undefined {
  if (!bmc.isReachable) return wait(seconds(600), bmc.reason, bmc.message);
  return powerSeenMsAgo === undefined ? act('observe', 'NotYetSeen') : undefined;
}

/** What could not be read is tried again now and then, also by a process that has not read it itself. */
const incompleteForMs = minutes(15);

const isRereadDue = ({ hardwareIncomplete, hardwareSeenMsAgo = incompleteForMs }: ServerFacts): boolean =>
  hardwareIncomplete && hardwareSeenMsAgo >= incompleteForMs;

/** At rest, a machine is still looked at now and then. */
export function pollOrWait(server: ServerFacts, reason: ServerReason, message: string): Step {
  if (!server.bmc.isReachable) return wait(minutes(10), reason, message);
  if (server.nextPollInMs <= 0) return act(isRereadDue(server) ? 'readInventory' : 'observe', 'PeriodicLook');
  return wait(Math.max(server.nextPollInMs, seconds(1)), reason, message);
}
