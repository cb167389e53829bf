import { ServerBootConfiguration } from '@metal/api/v1alpha1/server-boot-configuration.ts';
import { writeBmcMark } from '../cleanup/records.ts';
import { patchGuarded, type ServerReconcile } from '../machine.ts';
import { BIOSSettings } from '@metal/api/v1alpha1/bios-settings.ts';

/**
 * What v0.7.0 deletes with a Server: the boot configuration and the BIOS settings it refers to. The references go
 * first; what an interruption leaves then goes with its owner.
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

/** Deleting never needs the hardware. What is left behind is told while there is an object to tell it on. */
export async function recordDeletionEvent(reconcile: ServerReconcile): Promise<void> {
  const { facts, context, object } = reconcile;
  const power =
    facts.powerSeenMsAgo === undefined ? `${object.status?.powerState ?? 'Unknown'} when last seen` : facts.power;
  const claim = facts.claim.binding === 'unbound' ? 'nobody held it' : `claim ${facts.claim.name} loses it`;
  const mark = (await writeBmcMark(reconcile))
    ? '; the next Server of it is cleaned up first, where the policy asks for that'
    : '';
  context.bmcConnections.observedSystem(object.metadata.uid ?? '').deletionReported = true;
  reconcile.warn('ServerDeleted', `The machine is left as it is: power ${power}, disks untouched; ${claim}${mark}`);
}
