import { BMC } from '@metal/api/v1alpha1/bmc.ts';
import { Server } from '@metal/api/v1alpha1/server.ts';
import { serverFinalizer } from '@metal/api/wire/contract.ts';
import type { Turn } from '@metal/kube/controller.ts';
import { ownedBy } from '@metal/kube/kind.ts';
import type { Bmc } from '@metal/redfish/bmc.ts';
import { RedfishError } from '@metal/redfish/errors.ts';
import { findManager } from '@metal/redfish/managers.ts';
import { readSystems } from '@metal/redfish/systems.ts';
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
  dropOperation,
  acceptReset,
  sendReset,
};

/** A BMC that does not answer is an expected outcome: it is remembered, and the next judgement speaks of it. */
async function observe({ object, facts, context }: BmcTurn): Promise<void> {
  const { access, clock } = context;
  const { name } = object.metadata;
  const { connection } = facts;
  if (connection === undefined) throw new StaleDecision('the BMC lost its address or credentials');
  access.memory(name, connection).triedAt = clock.now();
  try {
    const observation = await lookAt(access.line(name, connection), object.spec?.bmcUUID, clock.now());
    access.saw(name, connection, observation);
    for (const other of rivals(observation, name, context)) access.learned.emit(other);
  } catch (error) {
    if (!(error instanceof RedfishError)) throw error;
    access.failed(name, connection, error);
  }
}

async function lookAt(bmc: Bmc, managerUuid: string | undefined, at: number): Promise<BmcObservation> {
  const [manager, systems] = await Promise.all([findManager(bmc, managerUuid), readSystems(bmc)]);
  return { at, manager, systems };
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
