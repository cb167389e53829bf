import { minutes } from '@metal/kube/runtime/durations.ts';
import { act, type PhaseTable, rest, rowsOf, wait } from '@metal/kube/controller/decide.ts';
import type { BmcDnsAction, BmcDnsFacts, BmcDnsPhase } from './facts.ts';
import type { BmcDnsReason } from './reasons.ts';

const row = rowsOf<BmcDnsPhase, BmcDnsFacts, BmcDnsAction, BmcDnsReason>();

/** Changes of the BMC come before. */
const resyncMs = minutes(60);

/** Renders the record at every change of the BMC, and writes it if the rendered text changed. */
export const bmcDnsTable: PhaseTable<BmcDnsPhase, BmcDnsFacts, BmcDnsAction, BmcDnsReason> = {
  Present: row([], ({ isWanted, hasAddress, rendered, dueInMs, rejection }) => {
    if (!isWanted) return rest;
    if (!hasAddress) return wait(resyncMs, 'WaitingForAddress', 'the address of the BMC is not known yet');
    if (rendered?.problem !== undefined) return wait(resyncMs, 'TemplateFailed', rendered.problem);
    if (dueInMs <= 0) return act('apply', 'RecordDue');
    if (rejection !== undefined) return wait(dueInMs, 'RecordRefused', rejection);
    return wait(dueInMs, 'Applied', 'the DNS record is written');
  }),
};
