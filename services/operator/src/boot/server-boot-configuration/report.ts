import type { ServerBootConfiguration } from '@metal/api/v1alpha1/server-boot-configuration.ts';
import type { Outcome, StatusReport } from '@metal/kube/controller.ts';
import { readyCondition } from '../../ready-condition.ts';
import type { BootConfigurationFacts, BootPhase } from './facts.ts';

/** Speaks only while nobody else does: once a boot service has answered, the status is its own. */
export function reportBootConfiguration(
  boot: ServerBootConfiguration,
  facts: BootConfigurationFacts,
  outcome: Outcome<BootPhase>,
): StatusReport {
  const waiting = outcome.decision.message !== undefined;
  if (facts.state !== '' && facts.state !== 'Pending') return { fields: {}, conditions: [] };
  return waiting
    ? { fields: { state: 'Pending' }, conditions: [readyCondition(boot, outcome, undefined)] }
    : { fields: {}, conditions: [] };
}
