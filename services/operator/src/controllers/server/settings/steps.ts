import { act } from '@metal/kube/controller/decide.ts';
import { freshForMs } from '../power/facts.ts';
import type { ServerFacts, ServerPhase, Step } from '../types.ts';

/** A desired setting is sent once, after a fresh observation of the machine. Nothing is sent to a parked or decommissioned server. */
export function settingsStep(name: ServerPhase, server: ServerFacts): Step | undefined {
  if (name === 'Parked' || name === 'Decommissioned') return undefined;
  if (!server.bmc.isReachable || server.powerSeenMsAgo === undefined) return undefined;
  const { light, bootOrder } = server;
  if (light.isDone && bootOrder.isDone) return undefined;
  if (server.powerSeenMsAgo >= freshForMs) return act('observe', 'LookBeforeChange');
  if (!light.isDone) return act('setLight', 'LocatorLightWanted', light.desired);
  return act('setBootOrder', 'BootOrderWanted', bootOrder.desired);
}
