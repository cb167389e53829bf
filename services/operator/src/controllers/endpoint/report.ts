import type { Endpoint } from '@metal/api/v1alpha1/endpoint.ts';
import type { Outcome } from '@metal/kube/controller/definition.ts';
import { condition, readyCondition, type ReportedCondition } from '../ready-condition.ts';
import type { EndpointFacts, EndpointPhase } from './facts.ts';
import type { StatusReport } from '@metal/kube/controller/status-diff.ts';
import type { EndpointReason } from './reasons.ts';

export function reportEndpoint(
  endpoint: Endpoint,
  { logins, secret, duplicates }: EndpointFacts,
  outcome: Outcome<EndpointPhase>,
): StatusReport {
  const ready = {
    reason: 'BMCCreated' satisfies EndpointReason,
    message: `BMC ${endpoint.metadata.name} represents this address`,
  };
  return {
    // Rejections matter only until a credential is accepted.
    fields: secret === 'absent' && logins.rejected > 0 ? loginFields(logins) : noLoginFields,
    conditions: [
      readyCondition(endpoint, outcome, outcome.decision.kind === 'rest' ? ready : undefined),
      ...uniqueCondition(endpoint, duplicates),
    ],
  };
}

/** On all duplicates, so that the one that works does not hide the error. */
function uniqueCondition(endpoint: Endpoint, { before, after }: EndpointFacts['duplicates']): ReportedCondition[] {
  const duplicates = [...before, ...after];
  if (duplicates.length > 0) {
    const message = `also of ${duplicates.slice(0, 5).join(', ')}; only the first of them is acted on; correct or delete the others`;
    return [condition(endpoint, 'MACAddressUnique', 'False', { reason: 'DuplicateMACAddress', message })];
  }
  const known = endpoint.status?.conditions?.some(({ type }) => type === 'MACAddressUnique') ?? false;
  return known
    ? [condition(endpoint, 'MACAddressUnique', 'True', { reason: 'Unique', message: 'no other endpoint has it' })]
    : [];
}

const noLoginFields = { rejectedDefaultCredentials: undefined, lastLoginAttemptTime: undefined };

const loginFields = ({ rejected, lastAt }: EndpointFacts['logins']) => ({
  rejectedDefaultCredentials: rejected,
  lastLoginAttemptTime: new Date(lastAt).toISOString().replace(/\.\d+Z$/, 'Z'),
});
