import type { ReasonCatalogue } from '@metal/kube/controller/decide.ts';
import { hostBlockerReasons } from '../../siblings/host-blocker.ts';

const nothing = 'Nothing; it goes on by itself.';

/** Reasons of BMCEventSubscriptions in log lines and events. The status has the message. */
export const subscriptionReasons = {
  ...hostBlockerReasons,
  ForeignSecret: {
    meaning: 'The Secret with HTTP headers is in another namespace, where it is not read.',
    remedy: 'Create the subscription anew, with a Secret in its own namespace.',
    weight: 'needsPerson',
    actor: 'person',
    command: 'kubectl delete bmceventsubscription -n {namespace} {name}',
  },
  SubscriptionFailed: {
    meaning: 'The subscription could not be created; the message has the error.',
    remedy: 'Correct what the message says: the Secret with headers, or the BMC. It is tried again every 30 s.',
    weight: 'needsPerson',
    actor: 'person',
    command: 'kubectl describe bmceventsubscription -n {namespace} {name}',
  },
  RemovalFailed: {
    meaning: 'The subscription could not be removed from the BMC; the message has the error.',
    remedy: 'Look at the BMC. It is tried again every 30 s.',
    weight: 'needsPerson',
    actor: 'person',
    command: 'kubectl describe bmceventsubscription -n {namespace} {name}',
  },
  Subscribing: {
    meaning: 'The subscription is created in the BMC.',
    remedy: nothing,
    weight: 'working',
    actor: 'operator',
  },
  Unsubscribing: {
    meaning: 'The subscription is removed from the BMC.',
    remedy: nothing,
    weight: 'working',
    actor: 'operator',
  },
} as const satisfies ReasonCatalogue;

export type SubscriptionReason = keyof typeof subscriptionReasons;
