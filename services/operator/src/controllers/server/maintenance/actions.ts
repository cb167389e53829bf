import { ServerMaintenance } from '@metal/api/v1alpha1/server-maintenance.ts';
import { undefinedIfAbsent } from '@metal/kube/errors.ts';
import { RedfishError } from '@metal/redfish/errors.ts';
import { readInventory } from '@metal/redfish/resources/inventory.ts';
import type { SystemState } from '@metal/redfish/resources/systems.ts';
import { StaleDecision } from '../../../errors.ts';
import { abortWith, memoryOf, onlyTo, patchSpec, type ServerReconcile, systemUriOf, withBmc } from '../machine.ts';
import { partsOf } from './parts.ts';

/** The cache may lag: a machine must not start while a technician works on it, so the API server is read first. @throws KubeError NotFound without the kind */
export async function dropMaintenanceRef(reconcile: ServerReconcile): Promise<void> {
  const ref = reconcile.object.spec.serverMaintenanceRef;
  if (ref === undefined) throw new StaleDecision('the maintenance reference changed');
  const maintenance = await reconcile.context.client.get(ServerMaintenance, ref).catch(undefinedIfAbsent);
  if (maintenance?.spec.serverRef.name === reconcile.object.metadata.name)
    throw new StaleDecision(`ServerMaintenance ${ref.namespace}/${ref.name} exists; waiting until it is seen`);
  // As at the end of a maintenance; the power of a claim is written again.
  await patchSpec(reconcile, { serverMaintenanceRef: null, maintenanceBootConfigurationRef: null, power: 'Off' });
}

/** `spec.power` is published before the power changes. */
export async function recordMaintenancePower(reconcile: ServerReconcile): Promise<void> {
  const { wantsPower } = reconcile.facts.maintenance;
  if (wantsPower === undefined) throw new StaleDecision('the maintenance wants no power state any more');
  await patchSpec(reconcile, { power: wantsPower });
}

/** A BMC that cannot give its parts delays no maintenance: the server is discovered afterwards. */
export async function readParts(reconcile: ServerReconcile): Promise<void> {
  const { clock } = reconcile.context;
  const memory = memoryOf(reconcile);
  const onSystem = (state: SystemState) => memory.record(state, clock.now());
  try {
    const uri = await systemUriOf(reconcile);
    const options = { ...onlyTo(reconcile), ...abortWith(reconcile), onSystem, withMemoryModules: true };
    const value = await withBmc(reconcile, (bmc) => readInventory(bmc, uri, options));
    memory.inventory = { value, at: clock.now() };
    memory.parts = { value: partsOf(value), at: clock.now() };
  } catch (error) {
    if (!(error instanceof RedfishError) || reconcile.signal.aborted) throw error;
    memory.parts = { value: undefined, at: clock.now() };
  }
}
