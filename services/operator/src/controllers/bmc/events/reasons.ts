import type { ReasonCatalogue } from '@metal/kube/controller/decide.ts';

/** Every reason the controller of event subscriptions gives. */
export const bmcEventsReasons = {
  Subscribed: {
    meaning: 'The BMC sends alerts and metric reports to the event receiver.',
    remedy: 'Nothing.',
    weight: 'ok',
    actor: 'operator',
  },
  WaitingForBMC: {
    meaning: 'Events are subscribed as soon as the BMC answers.',
    remedy: 'See the condition Ready of the BMC.',
    weight: 'waiting',
    actor: 'hardware',
  },
  SubscriptionsDue: {
    meaning: 'The BMC was looked at; whether it still has its subscriptions is verified.',
    remedy: 'Nothing.',
    weight: 'working',
    actor: 'operator',
  },
  EventsSwitchedOff: {
    meaning: 'No event URL is configured any more; the subscriptions are taken back.',
    remedy: 'Nothing, or set --event-url.',
    weight: 'working',
    actor: 'operator',
  },
  EventServiceMissing: {
    meaning: 'The BMC has no event service. Nothing else suffers from that.',
    remedy: 'Nothing, or update the firmware of the BMC.',
    weight: 'ok',
    actor: 'hardware',
  },
  EventServiceDisabled: {
    meaning: 'The event service of the BMC is switched off. Nothing else suffers from that.',
    remedy: 'Enable it at the BMC; it is looked at again at the next look at the BMC.',
    weight: 'needsPerson',
    actor: 'person',
    command: 'kubectl describe bmc {name}',
  },
  SubscriptionFailed: {
    meaning: 'The BMC did not take the subscriptions. Nothing else suffers from that.',
    remedy: 'See the message; it is tried again at the next look at the BMC.',
    weight: 'waiting',
    actor: 'hardware',
  },
  BMCDeleted: {
    meaning: 'The BMC object is being deleted; its subscriptions are taken back first.',
    remedy: 'Nothing.',
    weight: 'working',
    actor: 'operator',
  },
  SubscriptionsLeftBehind: {
    meaning: 'The BMC object went while its BMC could not be reached: the subscriptions are still there.',
    remedy: 'Delete them at the BMC, if it is used again; the receiver refuses what they send.',
    weight: 'ok',
    actor: 'operator',
  },
} as const satisfies ReasonCatalogue;

export type BmcEventsReason = keyof typeof bmcEventsReasons;
