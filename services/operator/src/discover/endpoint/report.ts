import type { Endpoint } from '@metal/api/v1alpha1/endpoint.ts';
import type { Outcome, StatusReport } from '@metal/kube/controller.ts';
import { readyCondition } from '../../ready-condition.ts';
import type { EndpointFacts, EndpointPhase } from './facts.ts';

export function reportEndpoint(
  endpoint: Endpoint,
  _facts: EndpointFacts,
  outcome: Outcome<EndpointPhase>,
): StatusReport {
  const ready = { reason: 'BMCCreated', message: `BMC ${endpoint.metadata.name} represents this address` };
  return {
    fields: {},
    conditions: [readyCondition(endpoint, outcome, outcome.decision.kind === 'rest' ? ready : undefined)],
  };
}
