import { isDeepStrictEqual } from 'node:util';
import { BMC } from '@metal/api/v1alpha1/bmc.ts';
import { BMCSecret } from '@metal/api/v1alpha1/bmc-secret.ts';
import { Endpoint } from '@metal/api/v1alpha1/endpoint.ts';
import { Server } from '@metal/api/v1alpha1/server.ts';
import { acceptBmcAnnotation, acceptSystemUuidAnnotation } from '@metal/api/wire/contract.ts';
import { isPaused } from '@metal/api/wire/paused.ts';
import { connectionOf } from '../../../bmc-connections/connection.ts';
import { observedBmcOf } from '../../../bmc-connections/login-state.ts';
import { shardKeyOfBmc } from '../../../bmc-connections/shard-key.ts';
import type { OperatorContext } from '../../context.ts';
import { healthy, reportedHealthOf } from '../../health-condition.ts';
import { bmcActions } from './actions.ts';
import { type BmcPhase, readBmcFacts } from './facts.ts';
import { bmcTable } from './table.ts';
import { bmcReasons } from './reasons.ts';
import { phaseController } from '@metal/kube/controller/phase-controller.ts';
import { reportBmc } from './report.ts';

const nameOf = ({ metadata }: BMC): string => metadata.name;

export const bmcController = phaseController({
  name: 'bmc',
  kind: BMC,
  shardKey: shardKeyOfBmc,
  phaseOf: phaseOfBmc,
  observe: (_memory, bmc, context: OperatorContext) => updateLoginState(bmc, context),
  facts: readBmcFacts,
  table: bmcTable,
  actions: bmcActions,
  readOnlyActions: ['observe'],
  report: reportBmc,
  reasons: bmcReasons,
  conditionTypes: ['Ready', 'Reset', 'SystemsAccepted', healthy],
  paused: isPaused,
  watches: [
    {
      kind: Endpoint,
      mapToKeys: (endpoint: Endpoint, { caches }: OperatorContext) =>
        caches.bmcs.by('endpoint', endpoint.metadata.name).map(nameOf),
    },
    {
      kind: BMCSecret,
      mapToKeys: (secret: BMCSecret, { caches }: OperatorContext) =>
        caches.bmcs.by('secret', secret.metadata.name).map(nameOf),
    },
    {
      kind: Server,
      // Also BMCs that report the same system and wait until another Server of it is deleted.
      mapToKeys: ({ metadata, spec }: Server, { bmcConnections }: OperatorContext) =>
        [
          spec.bmcRef?.name ?? '',
          metadata.annotations?.[acceptBmcAnnotation] ?? '',
          ...bmcConnections.systemReporters(spec.systemUUID, spec.systemURI),
        ].filter((name) => name !== ''),
      predicate: isAboutIdentity,
    },
  ],
  sources: ({ bmcConnections }: OperatorContext, enqueue) => bmcConnections.bmcChanged.on(enqueue),
  writes: ['bmcs', 'bmcs/status', 'servers'],
});

/** Applies a changed connection or login, and a rejection that another process recorded. */
function updateLoginState(bmc: BMC, context: OperatorContext): void {
  const { connection } = connectionOf(bmc, context.caches, context.config);
  observedBmcOf(bmc, connection, context).reportedHealth ??= reportedHealthOf(bmc);
}

/** States that v0.7.0 copied from Redfish (`StandbyOffline`, …) mean that the BMC has to be observed again. */
function phaseOfBmc({ status }: BMC): BmcPhase {
  const reset = status?.reset;
  if (reset !== undefined && reset.failedAt === undefined)
    return reset.sentAt === undefined ? 'ResetRequested' : 'Resetting';
  const state = status?.state;
  return state === 'Enabled' || state === 'Error' || state === 'Decommissioned' ? state : 'Pending';
}

const acceptedIn = ({ metadata: { annotations = {} } }: Server): string =>
  `${annotations[acceptBmcAnnotation]} ${annotations[acceptSystemUuidAnnotation]}`;

/** Status changes of Servers do not concern the BMC. */
function isAboutIdentity(before: Server | undefined, after: Server | undefined): boolean {
  if (before === undefined || after === undefined) return true;
  return (
    before.spec.systemUUID !== after.spec.systemUUID ||
    before.spec.systemURI !== after.spec.systemURI ||
    before.spec.bmcRef?.name !== after.spec.bmcRef?.name ||
    acceptedIn(before) !== acceptedIn(after) ||
    !isDeepStrictEqual(before.metadata.labels, after.metadata.labels)
  );
}
