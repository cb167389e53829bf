import { ServerBootConfiguration } from '@metal/api/v1alpha1/server-boot-configuration.ts';
import { ServerInventory } from '@metal/api/v1alpha1/server-inventory.ts';
import { isInternalBoot } from '@metal/api/wire/internal-boot.ts';
import { clearBootOverride } from '@metal/redfish/resources/boot-override.ts';
import {
  patchSpec,
  type ServerReconcile,
  isRejectedRequest,
  memoryOf,
  onlyTo,
  systemUriOf,
  withBmc,
} from '../machine.ts';

/** Clears `spec.bootConfigurationRef` before the boot configuration is deleted, so that the reference never dangles. */
export async function clearBoot(reconcile: ServerReconcile): Promise<void> {
  const { object, context } = reconcile;
  const { client, caches, config } = context;
  const ref = { namespace: config.managerNamespace, name: object.metadata.name };
  if (object.spec.bootConfigurationRef !== undefined)
    await patchSpec(reconcile, { bootConfigurationRef: null, power: 'Off' });
  if (reconcile.facts.report === 'early') await dropEarlyReport(reconcile);
  const boot = caches.bootConfigurations.get(ref);
  if (boot === undefined || !isInternalBoot(boot) || boot.metadata.deletionTimestamp !== undefined) return;
  await client.delete(ServerBootConfiguration, ref, boot.metadata.uid === undefined ? {} : { uid: boot.metadata.uid });
}

/** The sender was not on the machine: its disks and addresses must not be used. */
async function dropEarlyReport({ object, context }: ServerReconcile): Promise<void> {
  const { name } = object.metadata;
  const { uid } = context.caches.inventories.get(name)?.metadata ?? {};
  if (uid !== undefined) await context.client.delete(ServerInventory, { name }, { uid });
}

/** A rejection does not hold the server back: each network boot sets an override of its own. */
export async function clearOverride(reconcile: ServerReconcile): Promise<void> {
  const uri = await systemUriOf(reconcile);
  try {
    await withBmc(reconcile, (bmc) => clearBootOverride(bmc, uri, onlyTo(reconcile)));
  } catch (error) {
    if (!isRejectedRequest(error)) throw error;
    reconcile.warn('OverrideMayBeLeft', `The BMC does not clear its one-time boot override: ${error.message}`);
  }
  memoryOf(reconcile).overrideCleared = true;
}
