import { BMCSecret } from '@metal/api/v1alpha1/bmc-secret.ts';
import { BMC } from '@metal/api/v1alpha1/bmc.ts';
import { ErasureReport } from '@metal/api/v1alpha1/erasure-report.ts';
import { ServerBootConfiguration } from '@metal/api/v1alpha1/server-boot-configuration.ts';
import { ServerClaim } from '@metal/api/v1alpha1/server-claim.ts';
import { ServerInventory } from '@metal/api/v1alpha1/server-inventory.ts';
import { ServerMaintenance } from '@metal/api/v1alpha1/server-maintenance.ts';
import { Server } from '@metal/api/v1alpha1/server.ts';
import { serverFinalizer } from '@metal/api/wire/contract.ts';
import { comparesAlike, othersThan, sameUuidAs } from '@metal/api/wire/duplicate-servers.ts';
import { isPaused } from '@metal/api/wire/paused.ts';
import { phaseController } from '@metal/kube/controller/phase-controller.ts';
import { keyOf } from '@metal/kube/kinds/kind.ts';
import { shardKeyOfServer } from '../../bmc-connections/shard-key.ts';
import { isAboutQueue, nextInQueue, queueSource } from '../../cleanup/queue-position.ts';
import type { OperatorContext } from '../context.ts';
import { healthy } from '../health-condition.ts';
import { reportedInventory } from '../inventory-condition.ts';
import { serverActions } from './actions.ts';
import { decideDeletion } from './deletion/steps.ts';
import { readServerFacts } from './facts.ts';
import { serverReasons } from './reasons.ts';
import { reportServer, serverProgressFields } from './report.ts';
import { serverTable } from './table.ts';
import type { ServerPhase } from './types.ts';

export const serverController = phaseController({
  name: 'server',
  kind: Server,
  shardKey: shardKeyOfServer,
  phaseOf: phaseOfServer,
  failurePhases: ['Error'],
  facts: readServerFacts,
  table: serverTable,
  reasons: serverReasons,
  finalizer: serverFinalizer,
  deletion: decideDeletion,
  actions: serverActions,
  readOnlyActions: ['observe', 'readUnhealthyParts'],
  report: reportServer,
  conditionTypes: [healthy],
  progressFields: serverProgressFields,
  changesOwnSpec: true,
  paused: isPaused,
  watches: [
    {
      kind: BMC,
      mapToKeys: (bmc: BMC, { caches }: OperatorContext) =>
        caches.servers.by('bmc', bmc.metadata.name).map(({ metadata }) => metadata.name),
      predicate: isAboutReachability,
    },
    {
      kind: BMCSecret,
      mapToKeys: (secret: BMCSecret, { caches }: OperatorContext) =>
        caches.servers.by('inlineSecret', secret.metadata.name).map(({ metadata }) => metadata.name),
    },
    {
      kind: ServerBootConfiguration,
      // Also an object that occupies the name of the probe boot of a server.
      mapToKeys: ({ spec, metadata }: ServerBootConfiguration, { config }: OperatorContext) =>
        new Set([spec.serverRef.name, ...(metadata.namespace === config.managerNamespace ? [metadata.name] : [])]),
    },
    { kind: ErasureReport, mapToKeys: ({ spec }: ErasureReport) => [spec.serverRef.name] },
    {
      kind: Server,
      mapToKeys: (_server: Server, context: OperatorContext) => nextInQueue(context),
      predicate: isAboutQueue,
    },
    {
      kind: Server,
      mapToKeys: (server: Server, { caches }: OperatorContext) =>
        othersThan(server, sameUuidAs(server, caches.servers)).map(({ metadata }) => metadata.name),
      predicate: (before: Server | undefined, after: Server | undefined) =>
        before === undefined || after === undefined || !comparesAlike(before, after),
    },
    { kind: ServerInventory, mapToKeys: (inventory: ServerInventory) => [inventory.metadata.name] },
    { kind: ServerMaintenance, mapToKeys: ({ spec }: ServerMaintenance) => [spec.serverRef.name] },
    {
      kind: ServerClaim,
      // The server that the claim names, and all that refer to the claim: those are released if it names another one.
      mapToKeys: (claim: ServerClaim, { caches }: OperatorContext) => {
        const referring = caches.servers.by('claim', keyOf(claim)).map(({ metadata }) => metadata.name);
        const named = claim.spec.serverRef?.name ?? '';
        return new Set(named === '' ? referring : [named, ...referring]);
      },
    },
  ],
  sources: (context: OperatorContext, enqueue) => {
    const subscriptions = new DisposableStack();
    subscriptions.use(context.bmcConnections.serverStale.on(enqueue));
    subscriptions.use(queueSource(context, enqueue));
    return subscriptions;
  },
  writes: [
    'servers',
    'servers/status',
    'serverbootconfigurations',
    'serverbootconfigurations/status',
    'secrets',
    'biossettings',
    'serverinventories',
    'erasurereports',
    'erasurereports/status',
    'bmcs',
  ],
  concurrency: ({ config }: OperatorContext) => config.serverConcurrency,
});

const phases = new Set<string>(Object.keys(serverTable));

/** An unknown state is handled as a failure, and never as a new server. */
function phaseOfServer({ status }: Server): ServerPhase {
  const state = status?.state ?? '';
  if (state === '') return 'Initial';
  return isPhase(state) ? state : 'Error';
}

const isPhase = (state: string): state is ServerPhase => phases.has(state);

/** Changes of the state, the version, the spec or the unreadable systems of a BMC. */
function isAboutReachability(before: BMC | undefined, after: BMC | undefined): boolean {
  const seen = [before, after].map(
    (bmc) =>
      bmc &&
      [bmc.status?.state, bmc.status?.firmwareVersion, bmc.metadata.generation, reportedInventory(bmc)].join(' '),
  );
  return seen[0] !== seen[1];
}
