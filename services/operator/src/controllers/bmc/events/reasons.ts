import type { ReasonCatalogue } from '@metal/kube/controller/decide.ts';

/** Every reason the controller of event subscriptions gives. */
export const bmcEventsReasons = {
  Subscribed: { meaning: 'The BMC sends alerts and metric reports to the event receiver.', remedy: 'Nothing.' },
  WaitingForBMC: {
    meaning: 'Events are subscribed as soon as the BMC answers.',
    remedy: 'See the condition Ready of the BMC.',
  },
  SubscriptionsDue: {
    meaning: 'The BMC was looked at; whether it still has its subscriptions is verified.',
    remedy: 'Nothing.',
  },
  EventsSwitchedOff: {
    meaning: 'No event URL is configured any more; the subscriptions are taken back.',
    remedy: 'Nothing, or set --event-url.',
  },
  EventServiceMissing: {
    meaning: 'The BMC has no event service. Nothing else suffers from that.',
    remedy: 'Nothing, or update the firmware of the BMC.',
  },
  EventServiceDisabled: {
    meaning: 'The event service of the BMC is switched off. Nothing else suffers from that.',
    remedy: 'Enable it at the BMC; it is looked at again at the next look at the BMC.',
  },
  SubscriptionFailed: {
    meaning: 'The BMC did not take the subscriptions. Nothing else suffers from that.',
    remedy: 'See the message; it is tried again at the next look at the BMC.',
  },
  BMCDeleted: {
    meaning: 'The BMC object is being deleted; its subscriptions are taken back first.',
    remedy: 'Nothing.',
  },
  SubscriptionsLeftBehind: {
    meaning: 'The BMC object went while its BMC could not be reached: the subscriptions are still there.',
    remedy: 'Delete them at the BMC, if it is used again; the receiver refuses what they send.',
  },
} as const satisfies ReasonCatalogue;

export type BmcEventsReason = keyof typeof bmcEventsReasons;
