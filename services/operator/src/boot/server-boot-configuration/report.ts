import type { ServerBootConfiguration } from '@metal/api/v1alpha1/server-boot-configuration.ts';
import type { Outcome, StatusReport } from '@metal/kube/controller.ts';
import { condition, type Explanation, readyCondition } from '../../ready-condition.ts';
import type { BootConfigurationFacts, BootPhase } from './facts.ts';
import type { BootConfigurationReason } from './reasons.ts';

/**
 * Speaks while no boot service does: once one has answered, the state is its own. What was said before is then corrected,
 * and nothing is written where nothing had been said.
 */
export function reportBootConfiguration(
  boot: ServerBootConfiguration,
  { state }: BootConfigurationFacts,
  outcome: Outcome<BootPhase>,
): StatusReport {
  if (outcome.phase === 'Answered') {
    const spoken = boot.status?.conditions?.some(({ type }) => type === 'Ready') ?? false;
    const answer = condition(
      boot,
      'Ready',
      state === 'Ready' ? 'True' : 'False',
      state === 'Ready' ? answers.Ready : answers.Error,
    );
    return { fields: {}, conditions: spoken ? [answer] : [] };
  }
  const patient = outcome.decision.message === undefined;
  return patient
    ? { fields: {}, conditions: [] }
    : { fields: { state: 'Pending' }, conditions: [readyCondition(boot, outcome, undefined)] };
}

const answers = {
  Ready: { reason: 'Prepared', message: 'the boot service has prepared it; the server may be powered on' },
  Error: {
    reason: 'PreparationFailed',
    message: 'the boot service could not prepare it and tries again; its own condition says why',
  },
} as const satisfies Record<string, Explanation & { readonly reason: BootConfigurationReason }>;
