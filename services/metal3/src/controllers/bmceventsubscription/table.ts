import { act, type Decision, type PhaseTable, rest, rowsOf, wait } from '@metal/kube/controller/decide.ts';
import { minutes } from '@metal/kube/runtime/durations.ts';
import type { SubscriptionAction, SubscriptionFacts, SubscriptionPhase } from './facts.ts';
import type { SubscriptionReason } from './reasons.ts';

const row = rowsOf<SubscriptionPhase, SubscriptionFacts, SubscriptionAction, SubscriptionReason>();
const blockedMs = minutes(10);

export const subscriptionTable: PhaseTable<
  SubscriptionPhase,
  SubscriptionFacts,
  SubscriptionAction,
  SubscriptionReason
> = {
  Present: row([], ({ id, blocker, foreignNamespace, failure }) => {
    if (id !== undefined) return rest;
    if (foreignNamespace !== undefined)
      return wait(blockedMs, 'ForeignSecret', `the Secret with headers is in namespace "${foreignNamespace}"`);
    if (blocker !== undefined) return wait(blockedMs, blocker.reason, blocker.message);
    if (failure !== undefined) return wait(failure.retryInMs, 'SubscriptionFailed', failure.message);
    return act('subscribe', 'Subscribing');
  }),
};

/** A host that is gone, or whose node is gone, has no subscription that could be removed. */
export function decideDeletion({
  id,
  blocker,
  failure,
}: SubscriptionFacts): Decision<never, SubscriptionAction, SubscriptionReason> {
  if (id === undefined) return rest;
  if (blocker?.reason === 'HostPaused') return wait(blockedMs, blocker.reason, blocker.message);
  if (blocker !== undefined) return rest;
  if (failure !== undefined) return wait(failure.retryInMs, 'RemovalFailed', failure.message);
  return act('unsubscribe', 'Unsubscribing');
}
