import type { Endpoint } from '@metal/api/v1alpha1/endpoint.ts';
import type { Outcome, StatusReport } from '@metal/kube/controller.ts';
import { readyCondition } from '../../ready-condition.ts';
import type { EndpointFacts, EndpointPhase } from './facts.ts';

export function reportEndpoint(
  endpoint: Endpoint,
  { logins, secret }: EndpointFacts,
  outcome: Outcome<EndpointPhase>,
): StatusReport {
  const ready = { reason: 'BMCCreated', message: `BMC ${endpoint.metadata.name} represents this address` };
  return {
    // What was rejected matters only while the right one is looked for.
    fields: secret === 'absent' && logins.rejected > 0 ? loginFields(logins) : noLoginFields,
    conditions: [readyCondition(endpoint, outcome, outcome.decision.kind === 'rest' ? ready : undefined)],
  };
}

const noLoginFields = { rejectedDefaultCredentials: undefined, lastLoginAttemptTime: undefined };

const loginFields = ({ rejected, lastAt }: EndpointFacts['logins']) => ({
  rejectedDefaultCredentials: rejected,
  lastLoginAttemptTime: new Date(lastAt).toISOString().replace(/\.\d+Z$/, 'Z'),
});
