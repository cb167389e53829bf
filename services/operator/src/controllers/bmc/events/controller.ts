import { BMC } from '@metal/api/v1alpha1/bmc.ts';
import { bmcFinalizer } from '@metal/api/wire/contract.ts';
import { isPaused } from '@metal/api/wire/paused.ts';
import { shardKeyOfBmc } from '../../../bmc-connections/shard-key.ts';
import type { OperatorContext } from '../../context.ts';
import { bmcEventsActions } from './actions.ts';
import { type BmcEventsPhase, readBmcEventsFacts } from './facts.ts';
import { bmcEventsTable, decideDeletion } from './table.ts';
import { bmcEventsReasons } from './reasons.ts';
import { phaseController } from '@metal/kube/controller/phase-controller.ts';
import { reportBmcEvents } from './report.ts';

/** Has a condition of its own: a BMC without event subscriptions is discovered all the same. */
export const bmcEventsController = phaseController({
  name: 'bmc-events',
  kind: BMC,
  shardKey: shardKeyOfBmc,
  phaseOf: ({ metadata }: BMC): BmcEventsPhase => (metadata.deletionTimestamp === undefined ? 'Present' : 'Leaving'),
  facts: readBmcEventsFacts,
  table: bmcEventsTable,
  deletion: decideDeletion,
  finalizer: bmcFinalizer,
  actions: bmcEventsActions,
  report: reportBmcEvents,
  reasons: bmcEventsReasons,
  conditionTypes: ['EventsSubscribed'],
  paused: isPaused,
  sources: ({ bmcConnections }: OperatorContext, enqueue) => bmcConnections.bmcObserved.on(enqueue),
  writes: ['bmcs', 'bmcs/status'],
});
