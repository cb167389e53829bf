import { BMC } from '@metal/api/v1alpha1/bmc.ts';
import { bmcFinalizer } from '@metal/api/wire/contract.ts';
import { isPaused } from '@metal/api/wire/paused.ts';
import { phaseController } from '@metal/kube/controller.ts';
import { keyOfBmc } from '../../bmc-key.ts';
import type { OperatorContext } from '../../context.ts';
import { bmcEventsActions } from './actions.ts';
import { type BmcEventsPhase, readBmcEventsFacts } from './facts.ts';
import { bmcEventsPhases, leave } from './phases.ts';
import { bmcEventsReasons } from './reasons.ts';
import { reportBmcEvents } from './report.ts';

/** A side feature with a condition of its own: whatever happens here, the BMC is discovered all the same. */
export const bmcEventsController = phaseController({
  name: 'bmc-events',
  kind: BMC,
  sharedBy: keyOfBmc,
  phaseOf: ({ metadata }: BMC): BmcEventsPhase => (metadata.deletionTimestamp === undefined ? 'Present' : 'Leaving'),
  facts: readBmcEventsFacts,
  table: bmcEventsPhases,
  deletion: leave,
  finalizer: bmcFinalizer,
  actions: bmcEventsActions,
  report: reportBmcEvents,
  reasons: bmcEventsReasons,
  conditionTypes: ['EventsSubscribed'],
  paused: isPaused,
  wakes: ({ access }: OperatorContext, wake) => access.seen.on(wake),
  writes: ['bmcs', 'bmcs/status'],
});
