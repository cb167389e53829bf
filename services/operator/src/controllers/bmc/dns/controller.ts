import { BMC } from '@metal/api/v1alpha1/bmc.ts';
import { isPaused } from '@metal/api/wire/paused.ts';
import { shardKeyOfBmc } from '../../../bmc-connections/shard-key.ts';
import { bmcDnsActions } from './actions.ts';
import { type BmcDnsMemory, readBmcDnsFacts } from './facts.ts';
import { bmcDnsTable } from './table.ts';
import { bmcDnsReasons } from './reasons.ts';
import { phaseController } from '@metal/kube/controller/phase-controller.ts';
import { reportBmcDns } from './report.ts';

/** Has a condition of its own: a failure here does not affect the discovery of the BMC. */
export const bmcDnsController = phaseController({
  name: 'bmc-dns',
  kind: BMC,
  shardKey: shardKeyOfBmc,
  phaseOf: () => 'Present',
  memory: (): BmcDnsMemory => ({ outcome: undefined }),
  facts: readBmcDnsFacts,
  table: bmcDnsTable,
  actions: bmcDnsActions,
  report: reportBmcDns,
  reasons: bmcDnsReasons,
  conditionTypes: ['DNSRecordApplied'],
  paused: isPaused,
  writes: ['bmcs/status'],
});
