import { BMC } from '@metal/api/v1alpha1/bmc.ts';
import { Server } from '@metal/api/v1alpha1/server.ts';
import { serverFinalizer } from '@metal/api/wire/contract.ts';
import type { Turn } from '@metal/kube/controller.ts';
import { ownedBy } from '@metal/kube/kind.ts';
import { lookAtBmc } from '../../bmc-look.ts';
import type { OperatorContext } from '../../context.ts';
import { StaleDecision } from '../../errors.ts';
import type { BmcObservation } from '../../observations.ts';
import type { BmcAction, BmcFacts } from './facts.ts';
import { acceptReset, dropOperation, sendReset } from './reset-actions.ts';

export type BmcTurn = Turn<BMC, BmcFacts, OperatorContext>;

export const bmcActions: Record<BmcAction, (turn: BmcTurn) => Promise<void>> = {
  observe,
  recordManager,
  createServers,
  updateServers,
  tellRefusal,
  dropOperation,
  acceptReset,
  sendReset,
};

async function observe({ object, facts, context, signal }: BmcTurn): Promise<void> {
  const { name } = object.metadata;
  const { connection } = facts;
  if (connection === undefined) throw new StaleDecision('the BMC lost its address or credentials');
  const observation = await lookAtBmc(context, name, connection, { managerUuid: object.spec?.bmcUUID, signal });
  if (observation === undefined) return;
  for (const other of rivals(observation, name, context)) context.access.learned.emit(other);
}

/** Other BMCs that report a system this one reports: their conditions change too. */
function rivals({ systems }: BmcObservation, self: string, { access }: OperatorContext): Set<string> {
  const reporters = systems.flatMap(({ uuid }) => (uuid === undefined ? [] : access.reporters(uuid)));
  return new Set(reporters.filter((name) => name !== self));
}

async function recordManager({ object, facts, context }: BmcTurn): Promise<void> {
  const { name, resourceVersion } = object.metadata;
  const patch = { spec: { bmcUUID: facts.observation?.manager?.uuid } };
  await context.client.mergePatch(BMC, { name }, patch, resourceVersion === undefined ? {} : { resourceVersion });
}

async function createServers({ object, facts, context }: BmcTurn): Promise<void> {
  for (const { name, systemUUID, systemURI, annotations } of facts.systems.create) {
    await context.client.create(Server, {
      metadata: {
        name,
        labels: { ...object.metadata.labels },
        annotations: { ...annotations },
        finalizers: [serverFinalizer],
        ownerReferences: [ownedBy(object)],
      },
      spec: { systemUUID, systemURI, bmcRef: { name: object.metadata.name } },
    });
  }
}

async function updateServers({ facts, context }: BmcTurn): Promise<void> {
  for (const { server, systemURI, labels, annotations } of facts.systems.update) {
    const { name, resourceVersion } = server.metadata;
    const patch = { metadata: { labels, annotations }, spec: { systemURI } };
    await context.client.mergePatch(Server, { name }, patch, resourceVersion === undefined ? {} : { resourceVersion });
  }
}

/** Systems that get no Server are told where people look for what goes wrong. */
async function tellRefusal(turn: BmcTurn): Promise<void> {
  const { object, facts, context } = turn;
  if (facts.refusal === undefined) return;
  const { reason, message } = facts.refusal;
  context.access.memory(object.metadata.name, facts.connection).refusalTold = message;
  turn.warn(reason, message);
}
