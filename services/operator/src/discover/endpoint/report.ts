import type { Endpoint } from '@metal/api/v1alpha1/endpoint.ts';
import type { Outcome, StatusReport } from '@metal/kube/controller.ts';
import { readyCondition } from '../../ready-condition.ts';
import type { EndpointFacts, EndpointPhase } from './facts.ts';
import type { EndpointReason } from './reasons.ts';

export function reportEndpoint(
  endpoint: Endpoint,
  _facts: EndpointFacts,
  outcome: Outcome<EndpointPhase>,
): StatusReport {
  const ready = {
    reason: 'BMCCreated' satisfies EndpointReason,
    message: `BMC ${endpoint.metadata.name} represents this address`,
  };
  return {
    fields: {},
    conditions: [readyCondition(endpoint, outcome, outcome.decision.kind === 'rest' ? ready : undefined)],
  };
}
