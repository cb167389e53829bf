import type { ReasonCatalogue } from '@metal/kube/controller/decide.ts';

/** Every reason the controller of DNS records gives. */
export const bmcDnsReasons = {
  Applied: {
    meaning: 'The DNS record of the BMC is as the template wants it.',
    remedy: 'Nothing.',
    weight: 'ok',
    actor: 'operator',
  },
  RecordDue: {
    meaning: 'The DNS record is written, or written again.',
    remedy: 'Nothing.',
    weight: 'working',
    actor: 'operator',
  },
  WaitingForAddress: {
    meaning: 'The DNS record is made when the address of the BMC is known.',
    remedy: 'See the condition Ready of the BMC.',
    weight: 'waiting',
    actor: 'operator',
  },
  TemplateFailed: {
    meaning: 'The DNS record template gives no object for this BMC. Nothing else suffers from that.',
    remedy: 'Correct the template, or what it asks of the BMC; the message names line and construct.',
    weight: 'needsPerson',
    actor: 'person',
    command: 'kubectl describe bmc {name}',
  },
  RecordRefused: {
    meaning: 'The API server did not take the DNS record. Nothing else suffers from that.',
    remedy: 'See the message: install the kind, or give the operator a role for it. It is tried again every minute.',
    weight: 'needsPerson',
    actor: 'person',
    command: 'kubectl describe bmc {name}',
  },
  RecordsSwitchedOff: {
    meaning: 'No DNS record template is given any more. The record is left as it is.',
    remedy: 'Nothing, or delete the record.',
    weight: 'ok',
    actor: 'operator',
  },
} as const satisfies ReasonCatalogue;

export type BmcDnsReason = keyof typeof bmcDnsReasons;
