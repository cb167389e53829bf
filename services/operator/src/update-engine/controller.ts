import { BMC } from '@metal/api/v1alpha1/bmc.ts';
import { ServerMaintenance } from '@metal/api/v1alpha1/server-maintenance.ts';
import { Server } from '@metal/api/v1alpha1/server.ts';
import type { Controller, WatchSource } from '@metal/kube/controller/definition.ts';
import { phaseController } from '@metal/kube/controller/phase-controller.ts';
import { controllerOf } from '@metal/kube/kinds/kind.ts';
import { isPaused } from '@metal/api/wire/paused.ts';
import type { OperatorContext } from '../controllers/context.ts';
import { updateActions } from './actions.ts';
import { updateFacts } from './facts.ts';
import { UpdateMemory } from './memory.ts';
import { updateReasons } from './reasons.ts';
import { reportUpdate, updateProgressFields } from './report.ts';
import type { UpdatePhase } from './decisions.ts';
import { decideDeletion } from './deletion.ts';
import { updateTable } from './table.ts';
import type { UpdateObject } from './types.ts';
import type { UpdateKind } from './update-kind.ts';

/** The controller of one kind of update. */
export function updateController<T extends UpdateObject>(kind: UpdateKind<T>): Controller<OperatorContext> {
  const isPhase = (state: string): state is UpdatePhase =>
    ['Pending', 'InProgress', 'Failed', kind.done].includes(state);
  return phaseController({
    name: kind.name,
    kind: kind.kind,
    shardKey: kind.shardKey,
    phaseOf: ({ status }: T): UpdatePhase => {
      const state = status?.state ?? '';
      return isPhase(state) ? state : 'Pending';
    },
    failurePhases: ['Failed'],
    memory: () => new UpdateMemory(),
    observe: (memory, object) => memory.observe(object),
    facts: (object, context: OperatorContext, reconcile) => updateFacts(kind, object, context, reconcile),
    table: updateTable(kind.done),
    reasons: updateReasons,
    deletion: decideDeletion,
    finalizer: kind.finalizer,
    actions: updateActions(kind),
    readOnlyActions: ['compare', 'readVariables', 'readTask'],
    report: (object, facts, outcome) => reportUpdate(kind, object, facts, outcome),
    progressFields: updateProgressFields,
    paused: isPaused,
    watches: watchesOf(kind),
    sources: (context: OperatorContext, enqueue) => updateSources(kind, context, enqueue),
    writes: [...kind.writes, 'servermaintenances', 'patch:bmcs'],
  });
}

/** What this process observed: the power of machines, and the systems of BMCs. */
function updateSources<T extends UpdateObject>(
  kind: UpdateKind<T>,
  context: OperatorContext,
  enqueue: (key: string) => void,
): Disposable {
  const { bmcConnections, caches } = context;
  const sources = new DisposableStack();
  sources.use(
    bmcConnections.powerObserved.on((name) => {
      const server = caches.servers.get(name);
      for (const key of server === undefined ? [] : kind.keysOfServer(server, context)) enqueue(key);
    }),
  );
  sources.use(bmcConnections.bmcObserved.on((name) => kind.keysOfBmc(name, context).forEach(enqueue)));
  return sources;
}

const watchesOf = <T extends UpdateObject>(kind: UpdateKind<T>): WatchSource<OperatorContext>[] => [
  {
    kind: ServerMaintenance,
    mapToKeys: (maintenance: ServerMaintenance) => {
      const owner = controllerOf(maintenance);
      return owner?.kind === kind.kind.kind ? [owner.name] : [];
    },
  },
  {
    kind: Server,
    mapToKeys: (server: Server, context: OperatorContext) => kind.keysOfServer(server, context),
    predicate: concernsUpdates,
  },
  {
    kind: kind.kind,
    mapToKeys: (object: T, context: OperatorContext) =>
      kind.keysOfSameTarget(object, context).filter((name) => name !== object.metadata.name),
    predicate: concernsSameTarget,
  },
  { kind: BMC, mapToKeys: (bmc: BMC, context: OperatorContext) => kind.keysOfBmc(bmc.metadata.name, context) },
  ...(kind.watches ?? []),
];

/** What decides which of several objects has a target, and which comes first. */
function concernsSameTarget(before: UpdateObject | undefined, after: UpdateObject | undefined): boolean {
  const [was, is] = [before, after].map((object) => {
    const { metadata, status } = object ?? {};
    return [metadata?.generation, metadata?.deletionTimestamp, status?.state, status?.attempt?.sendTime].join();
  });
  return before === undefined || after === undefined || was !== is;
}

/** State, maintenance and power; the rest of a Server changes often. */
function concernsUpdates(before: Server | undefined, after: Server | undefined): boolean {
  const seen = [before, after].map(
    (server) =>
      server && [
        server.status?.state,
        server.status?.powerState,
        server.spec.serverMaintenanceRef?.name,
        server.spec.bmcRef?.name,
        server.spec.systemURI,
        server.spec.biosSettingsRef?.name,
      ],
  );
  return JSON.stringify(seen[0]) !== JSON.stringify(seen[1]);
}
