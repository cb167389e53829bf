import { ServerInventory } from '@metal/api/v1alpha1/server-inventory.ts';
import type { Server } from '@metal/api/v1alpha1/server.ts';
import {
  acceptSystemUuidAnnotation,
  alternativeUuidAnnotation,
  identityDerivedAnnotation,
  operationAnnotation,
  operations,
} from '@metal/api/wire/contract.ts';
import { managedInsteadOf, othersThan } from '@metal/api/wire/duplicate-servers.ts';
import { type SystemSummary, readSystems } from '@metal/redfish/resources/systems.ts';
import { StaleDecision } from '../../../errors.ts';
import { inventoryOf } from '../cleanup/disks.ts';
import { abortWith, memoryOf, patchGuarded, type ServerReconcile, withBmc } from '../machine.ts';

/**
 * The Server gets the UUID that a person confirmed, if its BMC reports exactly that, and keeps its name, its labels and its claim.
 * The report of the probe is about the former board. A request that cannot be carried out is dropped with an event.
 */
export async function acceptSystemUuid(reconcile: ServerReconcile): Promise<void> {
  const { object, context } = reconcile;
  const uuid = requestedIn(object);
  const systems = await withBmc(reconcile, (bmc) => readSystems(bmc, abortWith(reconcile)));
  const system = systems.find((candidate) => candidate.uuid === uuid);
  const rejection = rejectionOf(reconcile, uuid, systems, system);
  if (rejection !== undefined || system === undefined) return reject(reconcile, rejection ?? '');
  const { name } = object.metadata;
  const inventory = inventoryOf(object, context.caches.inventories.get(name));
  if (inventory?.metadata.uid !== undefined)
    await context.client.delete(ServerInventory, { name }, { uid: inventory.metadata.uid });
  const annotations = {
    [identityDerivedAnnotation]: system.uuidDerivedFrom ?? null,
    [alternativeUuidAnnotation]: system.alternativeUuid ?? null,
  };
  await patchGuarded(reconcile, { metadata: { annotations }, spec: { systemUUID: uuid, systemURI: system.uri } });
  const memory = memoryOf(reconcile);
  memory.reset();
  memory.inventory = undefined;
}

const requestedIn = ({ metadata }: Server): string => {
  const uuid = metadata.annotations?.[acceptSystemUuidAnnotation];
  if (uuid === undefined) throw new StaleDecision('the request was withdrawn');
  return uuid.toLowerCase();
};

/** Why the UUID is not accepted. A running machine of a claim may be another one than the person looked at. */
function rejectionOf(
  { object, facts, context }: ServerReconcile,
  uuid: string,
  systems: readonly SystemSummary[],
  system: SystemSummary | undefined,
): string | undefined {
  if (system === undefined) return `its BMC reports ${systems.map((each) => each.uuid ?? 'none').join(', ') || 'none'}`;
  const former = systems.find((each) => each.uuid === object.spec.systemUUID.toLowerCase());
  if (former !== undefined) return `its BMC still reports the former UUID at ${former.uri}`;
  const { systemURI = '' } = object.spec;
  if (systemURI !== '' && systemURI !== system.uri) return `its BMC reports it at ${system.uri}, expected ${systemURI}`;
  const isInMaintenance = object.status?.state === 'Maintenance';
  if (facts.claim.binding !== 'unbound' && system.powerState !== 'Off' && !isInMaintenance)
    return `claim ${facts.claim.name} holds it, and it is ${system.powerState}; power it off, or start a maintenance`;
  const others = othersThan(object, context.caches.servers.by('uuid', uuid));
  const after = { ...object, spec: { ...object.spec, systemUUID: uuid } };
  const rival = others.find(isUsed) ?? managedInsteadOf(after, others);
  return rival && `Server ${rival.metadata.name} has it; delete that first`;
}

const isUsed = ({ spec }: Server): boolean =>
  spec.serverClaimRef !== undefined || spec.serverMaintenanceRef !== undefined;

async function reject(reconcile: ServerReconcile, why: string): Promise<void> {
  await patchGuarded(reconcile, withoutRequest);
  reconcile.warn('HardwareNotAccepted', `UUID ${requestedIn(reconcile.object)} is not accepted: ${why}`);
}

const withoutRequest = { metadata: { annotations: { [acceptSystemUuidAnnotation]: null } } };

/** A server that nobody holds is discovered again, by an operation that outlives this process. */
export async function finishReplacement(reconcile: ServerReconcile): Promise<void> {
  const { object, facts } = reconcile;
  const state = object.status?.state ?? 'Initial';
  const isFree = facts.claim.binding === 'unbound' && (state === 'Available' || state === 'Error');
  const operation = isFree ? { [operationAnnotation]: operations.rediscover } : {};
  await patchGuarded(reconcile, {
    metadata: { annotations: { [acceptSystemUuidAnnotation]: null, ...operation } },
  });
  reconcile.recordEvent({
    type: 'Normal',
    reason: 'HardwareAccepted',
    action: 'AcceptHardware',
    note: `It has UUID ${object.spec.systemUUID} and serial number ${object.status?.serialNumber ?? 'none'} now`,
  });
}
