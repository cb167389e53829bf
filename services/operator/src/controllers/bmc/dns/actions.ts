import type { BMC } from '@metal/api/v1alpha1/bmc.ts';
import type { Reconcile } from '@metal/kube/controller/definition.ts';
import type { OperatorContext } from '../../context.ts';
import { StaleDecision } from '../../../errors.ts';
import type { BmcDnsAction, BmcDnsFacts, BmcDnsMemory } from './facts.ts';

type DnsReconcile = Reconcile<BMC, BmcDnsFacts, OperatorContext, BmcDnsMemory>;

export const bmcDnsActions: Record<BmcDnsAction, (reconcile: DnsReconcile) => Promise<void>> = { apply };

async function apply({ object, facts: { rendered }, context, memory, now }: DnsReconcile): Promise<void> {
  if (context.dnsRecords === undefined || rendered === undefined || rendered.problem !== undefined)
    throw new StaleDecision('there is no DNS record to be written any more');
  memory.outcome = await context.dnsRecords.apply(object, rendered, now);
}
