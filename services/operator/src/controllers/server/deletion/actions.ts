import { BIOSSettings } from '@metal/api/v1alpha1/bios-settings.ts';
import { ServerBootConfiguration } from '@metal/api/v1alpha1/server-boot-configuration.ts';
import { writeBmcMark } from '../cleanup/records.ts';
import { patchGuarded, type ServerReconcile } from '../machine.ts';

/**
 * Deletes the boot configurations and the BIOSSettings of the server, as v0.7.0 did. The references are cleared first; after
 * an interruption the garbage collector removes the rest with its owner.
 */
export async function dropBootsOfDeleted(reconcile: ServerReconcile): Promise<void> {
  const { object, context } = reconcile;
  const { client, caches, config } = context;
  const { bootConfigurationRef: ref, biosSettingsRef } = object.spec;
  if (ref !== undefined || biosSettingsRef !== undefined)
    await patchGuarded(reconcile, { spec: { bootConfigurationRef: null, biosSettingsRef: null } });
  if (biosSettingsRef !== undefined) await client.delete(BIOSSettings, { name: biosSettingsRef.name });
  const probeBoot = { namespace: config.managerNamespace, name: object.metadata.name };
  for (const boot of [ref, probeBoot].map((one) => one && caches.bootConfigurations.get(one))) {
    if (boot?.spec.serverRef.name !== object.metadata.name) continue;
    const { uid } = boot.metadata;
    await client.delete(ServerBootConfiguration, boot.metadata, uid === undefined ? {} : { uid });
  }
}

/** The last event of the Server reports the state of its machine. The BMC object keeps the mark of a pending cleanup. */
export async function recordDeletionEvent(reconcile: ServerReconcile): Promise<void> {
  const { facts, context, object } = reconcile;
  const power =
    facts.powerSeenMsAgo === undefined ? `${object.status?.powerState ?? 'Unknown'} when last seen` : facts.power;
  const claim = facts.claim.binding === 'unbound' ? 'nobody held it' : `claim ${facts.claim.name} loses it`;
  const mark = (await writeBmcMark(reconcile))
    ? '; the next Server of it is cleaned up first, where the policy asks for that'
    : '';
  context.bmcConnections.observedSystem(object.metadata.uid ?? '').deletionReported = true;
  const note = `The machine is left as it is: power ${power}, disks untouched; ${claim}${mark}`;
  // A free server without data of a claim is deleted on purpose.
  const type = facts.claim.binding === 'unbound' && mark === '' ? 'Normal' : 'Warning';
  reconcile.recordEvent({ type, reason: 'ServerDeleted', action: 'recordDeletionEvent', note });
}
