import type { BMCEventSubscription } from '@metal/api/metal3/bmc-event-subscription.ts';
import type { Outcome } from '@metal/kube/controller/definition.ts';
import type { StatusReport } from '@metal/kube/controller/status-diff.ts';
import type { SubscriptionFacts, SubscriptionPhase } from './facts.ts';

/** The ID, and otherwise what it is waited for. An error that may pass keeps the former message. */
export function reportSubscription(
  { status }: BMCEventSubscription,
  { id }: SubscriptionFacts,
  { decision, error }: Outcome<SubscriptionPhase>,
): StatusReport {
  const waitsFor = decision.kind === 'wait' ? (decision.message ?? decision.meaning) : undefined;
  const message = error === undefined ? waitsFor : status?.error;
  return { fields: { subscriptionID: id, error: message }, conditions: [] };
}
