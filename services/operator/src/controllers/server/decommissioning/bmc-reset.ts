import { BMC } from '@metal/api/v1alpha1/bmc.ts';
import { Server } from '@metal/api/v1alpha1/server.ts';
import { unusableCredentialsAnnotation } from '@metal/api/wire/contract.ts';
import { RedfishError, wasNotApplied } from '@metal/redfish/errors.ts';
import { findManager, resetManagerToDefaults } from '@metal/redfish/resources/managers.ts';
import { versionOf } from '../../../bmc-connections/credentials.ts';
import { StaleDecision } from '../../../errors.ts';
import { observe } from '../bmc/actions.ts';
import { abortWith, isRejectedRequest, memoryOf, type ServerReconcile, withBmc } from '../machine.ts';

/**
 * Resets the BMC to factory settings, at most once per version of its BMCSecret. The credentials are marked unusable before the
 * request is sent, so that no process logs in with them afterwards, and locks an account:
 *
 *   credentials marked ─► BMC ─► accepted
 *                          ├──► not applied: mark removed; refused, or retried later
 *                          └─ process or connection lost ─► Unknown, not repeated
 */
export async function resetBmcToDefaults(reconcile: ServerReconcile): Promise<void> {
  const memory = memoryOf(reconcile);
  // Verifies the machine and its BMC before the credentials are marked.
  await observe(reconcile);
  let isMarked = false;
  const onSend = async () => {
    await markCredentials(reconcile, currentVersion(reconcile));
    isMarked = true;
  };
  try {
    await withBmc(reconcile, async (bmc) => {
      const manager = await findManager(bmc, managerUuidOf(reconcile), abortWith(reconcile));
      if (manager === undefined)
        throw new RedfishError({ code: 'NotSupported', message: 'the BMC reports no manager to be reset' });
      await resetManagerToDefaults(bmc, manager.uri, { onSend });
    });
    memory.bmcReset = { result: 'Accepted' };
  } catch (error) {
    if (!(error instanceof RedfishError)) throw error;
    if (isMarked && !wasNotApplied(error)) {
      memory.bmcReset = { result: 'Unknown' };
      return reconcile.warn('BMCResetUncertain', `Nobody knows whether the BMC was reset: ${error.message}`);
    }
    if (isMarked) await markCredentials(reconcile, null);
    if (!isRejectedRequest(error)) throw error;
    memory.bmcReset = { rejection: error.message };
  }
}

function managerUuidOf({ object, context }: ServerReconcile): string | undefined {
  return context.caches.bmcs.get(object.spec.bmcRef?.name ?? '')?.spec?.bmcUUID;
}

function currentVersion({ object, context }: ServerReconcile): string {
  const { bmcs, bmcSecrets } = context.caches;
  const { bmcRef, bmc: inline } = object.spec;
  const ref = bmcRef === undefined ? inline?.bmcSecretRef : bmcs.get(bmcRef.name)?.spec?.bmcSecretRef;
  const secret = bmcSecrets.get(ref?.name ?? '');
  if (secret === undefined) throw new StaleDecision('the BMCSecret is gone');
  return versionOf(secret);
}

/** On the BMC object; on the Server with an inline BMC. */
async function markCredentials({ object, context }: ServerReconcile, value: string | null): Promise<void> {
  const patch = { metadata: { annotations: { [unusableCredentialsAnnotation]: value } } };
  const { bmcRef } = object.spec;
  if (bmcRef === undefined) await context.client.mergePatch(Server, { name: object.metadata.name }, patch);
  else await context.client.mergePatch(BMC, { name: bmcRef.name }, patch);
}
