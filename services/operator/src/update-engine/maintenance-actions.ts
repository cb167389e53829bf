import { ServerMaintenance } from '@metal/api/v1alpha1/server-maintenance.ts';
import { Server } from '@metal/api/v1alpha1/server.ts';
import { maintenanceFinalizer, updateLabel } from '@metal/api/wire/contract.ts';
import { isOfUpdate } from '@metal/api/wire/maintenance-window.ts';
import { KubeError, undefinedIfAbsent } from '@metal/kube/errors.ts';
import { controllerOf, keyOf, ownedBy } from '@metal/kube/kinds/kind.ts';
import type { OperatorContext } from '../controllers/context.ts';
import { StaleDecision } from '../errors.ts';
import type { UpdateReconcile } from './reconcile.ts';
import type { Comparison, UpdateObject } from './types.ts';
import type { UpdateKind } from './update-kind.ts';
import { wantPower } from './wanted-power.ts';
import { isHeldBy } from './window.ts';

/** Names are fixed, so that a cache that lags creates none twice. */
export async function requestMaintenance<T extends UpdateObject>(
  kind: UpdateKind<T>,
  { object, facts, context }: UpdateReconcile<T>,
): Promise<void> {
  const isPrepared = facts.comparison?.isPrepared;
  for (const server of facts.window.missing) {
    const names = kind.maintenanceNames(object, server);
    for (const [index, name] of names.entries())
      if (await createMaintenance(object, server, { name, isLast: index === names.length - 1, isPrepared }, context))
        break;
  }
}

interface NewMaintenance extends Pick<Comparison, 'isPrepared'> {
  readonly name: string;
  readonly isLast: boolean;
}

/** False if the name belongs to somebody else, and another one is left to try. */
async function createMaintenance(
  object: UpdateObject,
  server: Server,
  { name, isLast, isPrepared }: NewMaintenance,
  { client, config }: OperatorContext,
): Promise<boolean> {
  const namespace = config.managerNamespace;
  const policy = object.spec.serverMaintenancePolicy;
  try {
    await client.create(ServerMaintenance, {
      metadata: {
        name,
        namespace,
        labels: { [updateLabel]: object.kind },
        ownerReferences: [ownedBy(object)],
        // Its controller would add it with a write of its own.
        finalizers: [maintenanceFinalizer],
      },
      spec: {
        serverRef: { name: server.metadata.name },
        ...(isPrepared === false ? {} : { serverPower: 'On' }),
        ...(policy === undefined || policy === '' ? {} : { policy }),
      },
    });
    return true;
  } catch (error) {
    if (!(error instanceof KubeError) || error.code !== 'AlreadyExists') throw error;
    const existing = await client.get(ServerMaintenance, { name, namespace }).catch(undefinedIfAbsent);
    if (existing === undefined || controllerOf(existing)?.uid === object.metadata.uid) return true;
    if (isLast) throw new StaleDecision(`ServerMaintenance ${namespace}/${name} belongs to somebody else; delete it`);
    return false;
  }
}

export async function releaseMaintenance({ facts, context }: UpdateReconcile<UpdateObject>): Promise<void> {
  for (const { metadata } of facts.window.own) {
    const { name, namespace, uid } = metadata;
    await context.client.delete(ServerMaintenance, { name, namespace }, { uid });
  }
}

/** The cache may lag: read from the API server whether the machines are in the maintenance of this object. */
export async function verifyMaintenance({ object, facts, context }: UpdateReconcile<UpdateObject>): Promise<void> {
  const { client } = context;
  for (const { metadata } of facts.target.servers) {
    const server = await client.get(Server, { name: metadata.name });
    const ref = server.spec.serverMaintenanceRef;
    const maintenance = ref && (await client.get(ServerMaintenance, ref).catch(undefinedIfAbsent));
    const isOurs = facts.window.maintenances.some((one) => one.metadata.uid === maintenance?.metadata.uid);
    const isHeld = maintenance !== undefined && isHeldBy(server, maintenance);
    if (!isOurs || !isHeld || maintenance.metadata.deletionTimestamp !== undefined)
      throw new StaleDecision(`Server ${metadata.name} is not in maintenance for ${object.kind} ${keyOf(object)}`);
  }
}

/** In the maintenances that it created, whose `serverPower` is On from the start. */
export async function keepOn({ facts, context }: UpdateReconcile<UpdateObject>): Promise<void> {
  for (const maintenance of facts.window.maintenances.filter(isOfUpdate)) await wantPower(maintenance, 'On', context);
  for (const { metadata } of facts.target.servers) context.bmcConnections.serverStale.emit(metadata.name);
}

export async function setPower(
  { facts, context }: UpdateReconcile<UpdateObject>,
  serverPower: 'On' | 'Off',
): Promise<void> {
  for (const maintenance of facts.window.maintenances) await wantPower(maintenance, serverPower, context);
  for (const { metadata } of facts.target.servers) {
    const observed = context.bmcConnections.observedSystem(metadata.uid ?? '');
    // Nothing is changed then, and an observation from before this moment is no proof: the next one is due at once.
    if (observed.state?.value.powerState === serverPower) observed.invalidate();
    context.bmcConnections.serverStale.emit(metadata.name);
  }
}
