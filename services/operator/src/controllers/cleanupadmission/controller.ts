import { Server } from '@metal/api/v1alpha1/server.ts';
import { isPaused } from '@metal/api/wire/paused.ts';
import type { OperatorContext } from '../context.ts';
import { isAboutQueue, nextInQueue, queueSource } from '../../cleanup/queue-position.ts';
import { admissionActions } from './actions.ts';
import { readAdmissionFacts } from './facts.ts';
import { admissionTable } from './table.ts';
import { phaseController } from '@metal/kube/controller/phase-controller.ts';
import { admissionReasons } from './reasons.ts';

/** Runs in the leader, if replicas share the servers. */
export const cleanupAdmissionController = phaseController({
  name: 'cleanup-admission',
  kind: Server,
  phaseOf: () => 'Watched',
  facts: readAdmissionFacts,
  table: admissionTable,
  reasons: admissionReasons,
  actions: admissionActions,
  paused: isPaused,
  watches: [
    {
      kind: Server,
      mapToKeys: (_server: Server, context: OperatorContext) => nextInQueue(context),
      predicate: isAboutQueue,
    },
  ],
  sources: queueSource,
  writes: ['patch:servers'],
});
