import type { ServerBootConfiguration } from '@metal/api/v1alpha1/server-boot-configuration.ts';
import type { Outcome } from '@metal/kube/controller/definition.ts';
import { isReported } from '../problem-condition.ts';
import { condition, type Explanation, readyCondition } from '../ready-condition.ts';
import type { BootConfigurationFacts, BootPhase } from './facts.ts';
import type { StatusReport } from '@metal/kube/controller/status-diff.ts';
import type { BootConfigurationReason } from './reasons.ts';

/**
 * Reports while no boot service has answered. Then the boot service owns the state: an earlier condition is corrected, and no
 * condition is added.
 */
export function reportBootConfiguration(
  boot: ServerBootConfiguration,
  { state }: BootConfigurationFacts,
  outcome: Outcome<BootPhase>,
): StatusReport {
  if (outcome.phase === 'Answered') {
    const ready = condition(
      boot,
      'Ready',
      state === 'Ready' ? 'True' : 'False',
      state === 'Ready' ? explanations.Ready : explanations.Error,
    );
    return { fields: {}, conditions: isReported(boot, 'Ready') ? [ready] : [] };
  }
  const isWithinGracePeriod = outcome.decision.message === undefined;
  return isWithinGracePeriod
    ? { fields: {}, conditions: [] }
    : { fields: { state: 'Pending' }, conditions: [readyCondition(boot, outcome, undefined)] };
}

const explanations = {
  Ready: { reason: 'Prepared', message: 'the boot service has prepared it; the server may be powered on' },
  Error: {
    reason: 'PreparationFailed',
    message: 'the boot service could not prepare it and tries again; its own condition says why',
  },
} as const satisfies Record<string, Explanation & { readonly reason: BootConfigurationReason }>;
