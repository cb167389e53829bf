import type { Server } from '@metal/api/v1alpha1/server.ts';
import { minutes } from '@metal/kube/runtime/durations.ts';
import type { ObservedSystem } from '../../../bmc-connections/observed-state.ts';
import { type HealthChange, healthChangeOf, type ObservedHealth } from '../../health-condition.ts';

export interface HealthFacts {
  /** Undefined before the first observation, and where the BMC reports no health for a machine that is off or starts. */
  readonly health: ObservedHealth | undefined;
  /** The machine is not OK, and its parts were not read lately: not even at another level, as some change all the time. */
  readonly unhealthyPartsDue: boolean;
  readonly healthChange: HealthChange | undefined;
}

/** Another part may fail while the health of the machine stays the same. */
const partsFreshForMs = minutes(15);

/** Some BMCs report no health during the POST of the machine. */
const startForMs = minutes(10);

export function healthFacts(server: Server, memory: ObservedSystem, now: number): HealthFacts {
  const { state, unhealthyParts, reportedHealth = 'OK' } = memory;
  const level = state?.value.health.level;
  // Many BMCs know the health of a machine only while it is on.
  if (state === undefined || (level === undefined && !isStarted(memory, now)))
    return { health: undefined, unhealthyPartsDue: false, healthChange: undefined };
  const health = { level, parts: unhealthyParts?.level === level ? unhealthyParts?.parts : undefined };
  const isRead = unhealthyParts !== undefined && now - unhealthyParts.at < partsFreshForMs;
  return {
    health,
    unhealthyPartsDue: level !== undefined && level !== 'OK' && !isRead,
    healthChange: healthChangeOf(server, health, reportedHealth),
  };
}

const isStarted = ({ state, power }: ObservedSystem, now: number): boolean =>
  state?.value.powerState === 'On' && power !== undefined && now - power.since >= startForMs;
