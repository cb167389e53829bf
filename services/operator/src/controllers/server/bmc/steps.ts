import { act, wait } from '@metal/kube/controller/decide.ts';
import { minutes, seconds } from '@metal/kube/runtime/durations.ts';
import { healthStep } from '../health/steps.ts';
import type { ServerReason } from '../reasons.ts';
import type { ServerFacts, Step } from '../types.ts';

/** Every step that concerns the machine starts here: the BMC has to be reachable and the machine observed once. */
export function blocker({ bmc, powerSeenMsAgo }: ServerFacts): Step | undefined {
  if (!bmc.isReachable) return wait(seconds(600), bmc.reason, bmc.message);
  return powerSeenMsAgo === undefined ? act('observe', 'NotYetSeen') : undefined;
}

/** Resources that could not be read are read again after this time, also by a process that has not read them itself. */
const incompleteForMs = minutes(15);

const isRereadDue = ({ hardwareIncomplete, hardwareSeenMsAgo = incompleteForMs }: ServerFacts): boolean =>
  hardwareIncomplete && hardwareSeenMsAgo >= incompleteForMs;

/**
 * Waits with the given reason, observes the machine at the polling interval, and follows its health, but not while a boot is
 * awaited or the next observation is near: reading the parts takes a while.
 */
export function pollOrWait(server: ServerFacts, reason: ServerReason, message: string): Step {
  if (!server.bmc.isReachable) return wait(minutes(10), reason, message);
  if (server.nextPollInMs <= 0) return act(isRereadDue(server) ? 'readInventory' : 'observe', 'PeriodicLook');
  const isBusy = reason === 'WaitingForBoot' || server.nextPollInMs < seconds(1);
  return (isBusy ? undefined : healthStep(server)) ?? wait(Math.max(server.nextPollInMs, seconds(1)), reason, message);
}
