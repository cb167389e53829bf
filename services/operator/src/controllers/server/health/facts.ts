import type { Server } from '@metal/api/v1alpha1/server.ts';
import { minutes } from '@metal/kube/runtime/durations.ts';
import type { ObservedSystem } from '../../../bmc-connections/observed-state.ts';
import { type HealthChange, healthChangeOf, type ObservedHealth } from '../../health-condition.ts';

export interface HealthFacts {
  /** Undefined before the first observation, and for a machine that is off and whose BMC then reports no health. */
  readonly health: ObservedHealth | undefined;
  /** The machine is not OK, and its parts were not read lately. */
  readonly unhealthyPartsDue: boolean;
  readonly healthChange: HealthChange | undefined;
}

/** Another part may fail while the health of the machine stays the same. */
const partsFreshForMs = minutes(15);

export function healthFacts(server: Server, memory: ObservedSystem, now: number): HealthFacts {
  const { state, unhealthyParts, reportedHealth = 'OK' } = memory;
  const observed = state?.value;
  const level = observed?.health.level;
  // Many BMCs know the health of a machine only while it is on.
  if (observed === undefined || (level === undefined && observed.powerState !== 'On'))
    return { health: undefined, unhealthyPartsDue: false, healthChange: undefined };
  const known = unhealthyParts?.level === level ? unhealthyParts : undefined;
  const health = { level, parts: known?.parts };
  const isRead = known !== undefined && now - known.at < partsFreshForMs;
  return {
    health,
    unhealthyPartsDue: level !== undefined && level !== 'OK' && !isRead,
    healthChange: healthChangeOf(server, health, reportedHealth),
  };
}
