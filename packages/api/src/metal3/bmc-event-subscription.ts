import { defineKind } from '@metal/kube/kinds/define-kind.ts';
import type { ObjectOf } from '@metal/kube/kinds/kind.ts';
import * as z from 'zod';
import { age, defaulted } from '../common/fields.ts';
import { metal3Group, metal3Version, secretReference } from './fields.ts';

/** A subscription to the Redfish events of the BMC of a BareMetalHost. */
export const BMCEventSubscription = defineKind({
  group: metal3Group,
  version: metal3Version,
  kind: 'BMCEventSubscription',
  plural: 'bmceventsubscriptions',
  shortNames: ['bes', 'bmcevent'],
  scope: 'Namespaced',
  description: 'Subscription to the Redfish events of the BMC of a BareMetalHost.',
  columns: { Error: '.status.error', ...age },
  fields: {
    spec: defaulted(
      z
        .object({
          context: z.string().optional().describe('Text that is sent with each event.'),
          destination: z.string().optional().describe('URL that receives the events, with a path.'),
          hostName: z.string().optional().describe('BareMetalHost in the same namespace.'),
          httpHeadersRef: secretReference()
            .optional()
            .describe('Secret in the same namespace with HTTP headers. The namespace has to be given.'),
        })
        .describe('The subscription. Immutable.'),
      {},
    ),
    status: z
      .object({
        error: z.string().optional().describe('Message of the last failure.'),
        subscriptionID: z.string().optional().describe('ID of the subscription in the BMC.'),
      })
      .optional()
      .describe('Observed state.'),
  },
});
export type BMCEventSubscription = ObjectOf<typeof BMCEventSubscription>;
