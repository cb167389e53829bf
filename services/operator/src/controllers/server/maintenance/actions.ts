import { ServerMaintenance } from '@metal/api/v1alpha1/server-maintenance.ts';
import { undefinedIfAbsent } from '@metal/kube/errors.ts';
import { StaleDecision } from '../../../errors.ts';
import { patchSpec, type ServerReconcile } from '../machine.ts';

/** The cache may lag: a machine must not start while a technician works on it, so the API server is read first. @throws KubeError NotFound without the kind */
export async function dropMaintenanceRef(reconcile: ServerReconcile): Promise<void> {
  const ref = reconcile.object.spec.serverMaintenanceRef;
  if (ref === undefined) throw new StaleDecision('the maintenance reference changed');
  const maintenance = await reconcile.context.client.get(ServerMaintenance, ref).catch(undefinedIfAbsent);
  if (maintenance !== undefined)
    throw new StaleDecision(`ServerMaintenance ${ref.namespace}/${ref.name} exists; waiting until it is seen`);
  await patchSpec(reconcile, { serverMaintenanceRef: null, maintenanceBootConfigurationRef: null });
}
