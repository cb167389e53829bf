import { BMC } from '@metal/api/v1alpha1/bmc.ts';
import { isPaused } from '@metal/api/wire/paused.ts';
import { shardKeyOfBmc } from '../../../bmc-connections/shard-key.ts';
import { bmcDnsActions } from './actions.ts';
import { readBmcDnsFacts } from './facts.ts';
import { bmcDnsTable } from './table.ts';
import { bmcDnsReasons } from './reasons.ts';
import { phaseController } from '@metal/kube/controller/phase-controller.ts';
import { reportBmcDns } from './report.ts';

/** A side feature with a condition of its own: whatever happens here, the BMC is discovered all the same. */
export const bmcDnsController = phaseController({
  name: 'bmc-dns',
  kind: BMC,
  shardKey: shardKeyOfBmc,
  phaseOf: () => 'Present',
  facts: readBmcDnsFacts,
  table: bmcDnsTable,
  actions: bmcDnsActions,
  report: reportBmcDns,
  reasons: bmcDnsReasons,
  conditionTypes: ['DNSRecordApplied'],
  paused: isPaused,
  writes: ['bmcs/status'],
});
