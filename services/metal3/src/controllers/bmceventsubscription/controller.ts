import { BMCEventSubscription } from '@metal/api/metal3/bmc-event-subscription.ts';
import { eventSubscriptionFinalizer } from '@metal/api/metal3/metal3-contract.ts';
import { phaseController } from '@metal/kube/controller/phase-controller.ts';
import { keyOf } from '@metal/kube/kinds/kind.ts';
import { watchOfHosts } from '../../siblings/host-changes.ts';
import { subscriptionActions } from './actions.ts';
import { newMemory, readSubscriptionFacts } from './facts.ts';
import { subscriptionReasons } from './reasons.ts';
import { reportSubscription } from './report.ts';
import { decideDeletion, subscriptionTable } from './table.ts';

export const eventSubscriptionController = phaseController({
  name: 'bmceventsubscription',
  kind: BMCEventSubscription,
  phaseOf: () => 'Present',
  memory: newMemory,
  facts: readSubscriptionFacts,
  table: subscriptionTable,
  reasons: subscriptionReasons,
  deletion: decideDeletion,
  finalizer: eventSubscriptionFinalizer,
  actions: subscriptionActions,
  report: reportSubscription,
  watches: [watchOfHosts((host, { caches }) => caches.eventSubscriptions.by('host', keyOf(host)).map(keyOf))],
  writes: ['patch:bmceventsubscriptions', 'bmceventsubscriptions/status'],
});
