import { minutes, seconds } from '@metal/kube/runtime/durations.ts';
import { act, type Decision, type PhaseTable, rest, rowsOf, wait } from '@metal/kube/controller/decide.ts';
import { type BmcEventsAction, type BmcEventsFacts, type BmcEventsPhase, hasLinks } from './facts.ts';
import type { BmcEventsReason } from './reasons.ts';

const row = rowsOf<BmcEventsPhase, BmcEventsFacts, BmcEventsAction, BmcEventsReason>();

/** An observation of the BMC or a change of its state comes earlier. */
const resyncMs = minutes(60);
/** How long the deletion of a BMC object waits for the BMC. */
const unsubscribeTimeoutMs = minutes(1);
const unsubscribeRetryMs = seconds(5);

/** Verifies the subscriptions after each observation of the BMC, so that a factory reset is noticed. */
export const bmcEventsTable: PhaseTable<BmcEventsPhase, BmcEventsFacts, BmcEventsAction, BmcEventsReason> = {
  Present: row([], (bmc) => {
    if (!bmc.isWanted && !hasLinks(bmc)) return rest;
    if (!bmc.isReachable || bmc.connection === undefined)
      return wait(resyncMs, 'WaitingForBMC', 'events are subscribed as soon as the BMC is connected');
    if (!bmc.isWanted) return bmc.problem === undefined || bmc.isDue ? act('unsubscribe', 'EventsSwitchedOff') : rest;
    return bmc.isDue ? act('subscribe', 'SubscriptionsDue') : rest;
  }),
  // `decideDeletion` decides instead.
  Leaving: row([], () => rest),
};

/** Does not depend on the hardware: after a minute the object is removed, and an event lists the subscriptions that are left. */
export function decideDeletion(bmc: BmcEventsFacts): Decision<BmcEventsPhase, BmcEventsAction> {
  if (!hasLinks(bmc) || bmc.isGivenUp) return rest;
  if (bmc.inPhaseForMs >= unsubscribeTimeoutMs || bmc.connection === undefined)
    return act('giveUp', 'SubscriptionsLeftBehind');
  if (bmc.problem === undefined || bmc.lastTriedMsAgo >= unsubscribeRetryMs) return act('unsubscribe', 'BMCDeleted');
  return wait(unsubscribeRetryMs, 'BMCDeleted', bmc.problem.message);
}
