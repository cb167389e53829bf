import type { BMC } from '@metal/api/v1alpha1/bmc.ts';
import { minutes } from '@metal/kube/runtime/durations.ts';
import type { OperatorContext } from '../../context.ts';
import type { RenderedRecord } from './dns-record.ts';
import type { DnsOutcome } from './dns-records.ts';
import { jitter } from '@metal/kube/runtime/jitter.ts';

export type BmcDnsPhase = 'Present';
export type BmcDnsAction = 'apply';

export interface BmcDnsFacts {
  /** False on sites without a template. */
  readonly isWanted: boolean;
  readonly hasAddress: boolean;
  readonly rendered: RenderedRecord | undefined;
  /** Message with which the API server rejected this record. */
  readonly rejection: string | undefined;
  readonly isApplied: boolean;
  /** Until the next write; 0 or less when it is due. */
  readonly dueInMs: number;
}

/** Resync interval of the record, which another client may have deleted. */
const refreshInterval = minutes(10);
const retryInterval = minutes(1);

/** Memory of one BMC. */
export interface BmcDnsMemory {
  outcome: DnsOutcome | undefined;
}

export function readBmcDnsFacts(
  bmc: BMC,
  { dnsRecords }: OperatorContext,
  { now, memory: { outcome: last } }: { readonly now: number; readonly memory: Readonly<BmcDnsMemory> },
): BmcDnsFacts {
  const rendered = dnsRecords?.render(bmc);
  const outcome = last !== undefined && last.text === rendered?.text ? last : undefined;
  const pause = outcome?.problem === undefined ? refreshInterval : retryInterval;
  return {
    isWanted: dnsRecords !== undefined,
    hasAddress: bmc.status?.ip !== undefined,
    rendered,
    rejection: outcome?.problem,
    isApplied: outcome !== undefined && outcome.problem === undefined,
    dueInMs: outcome === undefined ? 0 : outcome.at + jitter(pause, bmc.metadata.name) - now,
  };
}
