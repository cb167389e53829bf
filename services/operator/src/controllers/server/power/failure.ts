import type { Failure } from '../types.ts';
import type { PowerFacts } from './facts.ts';

/** The BMC accepted every allowed request, and the power state did not follow. */
export function powerFailure({ transition, maxPowerAttempts, power }: PowerFacts): Failure | undefined {
  if (transition === undefined || transition.attempts < maxPowerAttempts) return undefined;
  return {
    reason: 'PowerStuck',
    message: `the BMC was asked for power ${transition.target} ${transition.attempts} times since ${transition.since} and still reports ${power}`,
  };
}
