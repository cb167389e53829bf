import { act, wait } from '@metal/kube/controller/decide.ts';
import { readHardwareAgain } from '../discovery/steps.ts';
import type { ServerFacts, ServerPhase, Step } from '../types.ts';

/**
 * The mainboard was replaced. The reconcile ends after the hardware was read, so that the status holds it before the request is
 * removed: a process that takes over reads it again.
 */
export function replacementStep(name: ServerPhase, server: ServerFacts): Step | undefined {
  const { replacement, bmc, parked, hardware } = server;
  if (replacement === 'none' || parked || name === 'Decommissioned' || !bmc.isReachable) return undefined;
  if (replacement === 'requested') return act('acceptSystemUuid', 'HardwareAccepted');
  return (
    readHardwareAgain(server) ??
    (hardware === undefined ? undefined : wait(1, 'HardwareMayHaveChanged')) ??
    act('finishReplacement', 'HardwareAccepted')
  );
}
