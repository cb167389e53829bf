import { ServerMaintenance } from '@metal/api/v1alpha1/server-maintenance.ts';
import { isOfUpdate } from '@metal/api/wire/maintenance-window.ts';
import type { OperatorContext } from '../controllers/context.ts';

type Context = Pick<OperatorContext, 'caches' | 'bmcConnections' | 'client'>;

/** The power state that the update wants in its maintenance; in one that a person provides, that of its spec. */
export function wantedPowerOf(maintenance: ServerMaintenance, context: Context): string | undefined {
  const observed = observedSystemOf(maintenance, context);
  if (!isOfUpdate(maintenance) || observed === undefined) return maintenance.spec.serverPower;
  const { wantedByUpdate: wanted } = observed;
  return wanted !== undefined && wanted.maintenanceUid === maintenance.metadata.uid ? wanted.power : undefined;
}

/** The Server controller follows. */
export async function wantPower(maintenance: ServerMaintenance, power: 'On' | 'Off', context: Context): Promise<void> {
  const { name, namespace, uid = '' } = maintenance.metadata;
  const observed = observedSystemOf(maintenance, context);
  if (isOfUpdate(maintenance) && observed !== undefined) observed.wantedByUpdate = { maintenanceUid: uid, power };
  else if (maintenance.spec.serverPower !== power)
    await context.client.mergePatch(ServerMaintenance, { name, namespace }, { spec: { serverPower: power } });
}

function observedSystemOf({ spec }: ServerMaintenance, { caches, bmcConnections }: Context) {
  const uid = caches.servers.get(spec.serverRef.name)?.metadata.uid;
  return uid === undefined ? undefined : bmcConnections.observedSystem(uid);
}
