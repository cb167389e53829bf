import type { ServerBootConfiguration } from '@metal/api/v1alpha1/server-boot-configuration.ts';
import type { Outcome } from '@metal/kube/controller/definition.ts';
import { isReported } from '../problem-condition.ts';
import { condition, type Explanation, readyCondition } from '../ready-condition.ts';
import type { BootConfigurationFacts, BootPhase } from './facts.ts';
import type { StatusReport } from '@metal/kube/controller/status-diff.ts';
import type { BootConfigurationReason } from './reasons.ts';

/**
 * Reports while no boot service has answered, and why it failed. A prepared boot configuration is worth no write: only an
 * earlier condition is corrected.
 */
export function reportBootConfiguration(
  boot: ServerBootConfiguration,
  { state, failure }: BootConfigurationFacts,
  outcome: Outcome<BootPhase>,
): StatusReport {
  if (outcome.phase === 'Answered') {
    if (state === 'Error') return { fields: {}, conditions: [condition(boot, 'Ready', 'False', failed(failure))] };
    return { fields: {}, conditions: isReported(boot, 'Ready') ? [condition(boot, 'Ready', 'True', prepared)] : [] };
  }
  const isWithinGracePeriod = outcome.decision.message === undefined;
  return isWithinGracePeriod
    ? { fields: {}, conditions: [] }
    : { fields: { state: 'Pending' }, conditions: [readyCondition(boot, outcome, undefined)] };
}

type BootExplanation = Explanation & { readonly reason: BootConfigurationReason };

const prepared: BootExplanation = {
  reason: 'Prepared',
  message: 'the boot service has prepared it; the server may be powered on',
};

/** The condition of a boot service is named after what it checked; this one is where people look. */
const failed = (message = 'the boot service could not prepare it, and gave no cause'): BootExplanation => ({
  reason: 'PreparationFailed',
  message,
});
