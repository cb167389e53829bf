import type { Server } from '@metal/api/v1alpha1/server.ts';
import type { ObservedSystem } from '../bmc-connections/observed-state.ts';
import type { Attempt } from './types.ts';

/**
 * Power state of a machine: as the Server controller of this process observed it last, which the status reports later. Once a
 * restart has to be proved, only what was observed since the change was installed, or since the machine was off, counts; and a
 * machine that is being turned on is not off any more.
 */
export function hostPowerOf(
  { status }: Server,
  { state, transition }: Pick<ObservedSystem, 'state' | 'transition'>,
  { installTime, powerOffTime }: Pick<Attempt, 'installTime' | 'powerOffTime'>,
): string | undefined {
  const provenSince = powerOffTime ?? installTime;
  const isOld = state === undefined || (provenSince !== undefined && state.at < Date.parse(provenSince));
  if (isOld) return provenSince === undefined ? status?.powerState : undefined;
  const { powerState } = state.value;
  return transition === undefined || transition.target === powerState ? powerState : undefined;
}
