import { BMC } from '@metal/api/v1alpha1/bmc.ts';
import { Server } from '@metal/api/v1alpha1/server.ts';
import { holdServersAnnotation, operationAnnotation, operations, serverFinalizer } from '@metal/api/wire/contract.ts';
import { ownedBy } from '@metal/kube/kinds/kind.ts';
import { refreshBmc } from '../../../bmc-connections/refresh-bmc.ts';
import { recordCertificate } from '../../../bmc-connections/trusted-certificate.ts';
import type { OperatorContext } from '../../context.ts';
import { StaleDecision } from '../../../errors.ts';
import type { BmcAction, BmcReconcile } from './facts.ts';
import type { BmcObservation } from '../../../bmc-connections/observed-bmc.ts';
import { acceptReset, dropOperation, sendReset } from '../reset/actions.ts';

export const bmcActions: Record<BmcAction, (reconcile: BmcReconcile) => Promise<void>> = {
  observe,
  recordCertificate: recordFirstCertificate,
  recordManager,
  createServers,
  updateServers,
  recordRejectionEvent,
  recordHealthEvent,
  dropOperation,
  acceptReset,
  sendReset,
};

async function observe({ object, facts, context, signal }: BmcReconcile): Promise<void> {
  const { name } = object.metadata;
  const { connection } = facts;
  if (connection === undefined) throw new StaleDecision('the BMC lost its address or credentials');
  const observation = await refreshBmc(context, name, connection, { managerUuid: object.spec?.bmcUUID, signal });
  if (observation === undefined) return;
  for (const other of conflictingBmcs(observation, name, context)) context.bmcConnections.bmcChanged.emit(other);
}

/** The BMC is observed over another connection then, which trusts the certificate. */
async function recordFirstCertificate(reconcile: BmcReconcile): Promise<void> {
  const { certificateToRecord } = reconcile.facts;
  if (certificateToRecord !== undefined) await recordCertificate(BMC, reconcile, certificateToRecord);
}

/** Other BMCs that report a system of this one: their conditions change, too. */
function conflictingBmcs({ systems }: BmcObservation, self: string, { bmcConnections }: OperatorContext): Set<string> {
  const systemReporters = systems.flatMap(({ uuid, uri }) =>
    uuid === undefined ? [] : bmcConnections.systemReporters(uuid, uri),
  );
  return new Set(systemReporters.filter((name) => name !== self));
}

async function recordManager({ object, facts, context }: BmcReconcile): Promise<void> {
  const { name, resourceVersion } = object.metadata;
  const patch = { spec: { bmcUUID: facts.observation?.manager?.uuid } };
  await context.client.mergePatch(BMC, { name }, patch, resourceVersion === undefined ? {} : { resourceVersion });
}

async function createServers({ object, facts, context }: BmcReconcile): Promise<void> {
  for (const { name, systemUUID, systemURI, annotations } of facts.systems.create) {
    await context.client.create(Server, {
      metadata: {
        name,
        labels: { ...object.metadata.labels },
        annotations: { ...annotations, ...heldAnnotations(object) },
        finalizers: [serverFinalizer],
        ownerReferences: [ownedBy(object)],
      },
      spec: { systemUUID, systemURI, bmcRef: { name: object.metadata.name }, ...heldTaints(object) },
    });
  }
}

/** Whoever creates a BMC for a purpose of their own decides what happens with its Servers. */
const heldBy = ({ metadata }: BMC): string => metadata.annotations?.[holdServersAnnotation] ?? '';

const heldAnnotations = (bmc: BMC): Record<string, string> =>
  heldBy(bmc) === '' ? {} : { [operationAnnotation]: operations.ignore };

const heldTaints = (bmc: BMC): Pick<Server['spec'], 'taints'> =>
  heldBy(bmc) === '' ? {} : { taints: [{ key: heldBy(bmc), effect: 'NoBind' }] };

/** The reference to the former BMC object as owner would have the Server deleted together with that. */
function adoptedBy(bmc: BMC, { metadata }: Server) {
  const others = (metadata.ownerReferences ?? []).filter(({ kind }) => kind !== BMC.kind);
  return {
    metadata: { ownerReferences: [...others, ownedBy(bmc)] },
    spec: { bmcRef: { name: bmc.metadata.name } },
  };
}

async function updateServers({ object, facts, context }: BmcReconcile): Promise<void> {
  for (const { server, systemURI, labels, annotations, isAdopted = false } of facts.systems.update) {
    const { name, resourceVersion } = server.metadata;
    const adoption = isAdopted ? adoptedBy(object, server) : { metadata: {}, spec: {} };
    const patch = {
      metadata: { labels, annotations, ...adoption.metadata },
      spec: { systemURI, ...adoption.spec },
    };
    await context.client.mergePatch(Server, { name }, patch, resourceVersion === undefined ? {} : { resourceVersion });
  }
}

/** A Warning event about systems that get no Server. */
async function recordRejectionEvent(reconcile: BmcReconcile): Promise<void> {
  const { object, facts, context } = reconcile;
  if (facts.rejection === undefined) return;
  const { reason, message } = facts.rejection;
  context.bmcConnections.observedBmc(object.metadata.name, facts.connection).reportedRejection = message;
  reconcile.warn(reason, message);
}

async function recordHealthEvent(reconcile: BmcReconcile): Promise<void> {
  const { object, facts, context } = reconcile;
  if (facts.healthChange === undefined) return;
  const { level, type, reason, message } = facts.healthChange;
  context.bmcConnections.observedBmc(object.metadata.name, facts.connection).reportedHealth = level;
  reconcile.recordEvent({ type, reason, action: 'recordHealthEvent', note: message });
}
