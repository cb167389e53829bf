import { FirmwareSchema } from '@metal/api/metal3/firmware-schema.ts';
import type { HostFirmwareSettings } from '@metal/api/metal3/host-firmware-settings.ts';
import type { Reconcile } from '@metal/kube/controller/definition.ts';
import type { Metal3Context } from '../../context.ts';
import { isOwnedBy, plainOwner, withOwner } from '../../objects/owner-references.ts';
import { NotSupported } from '../../provisioner/node-services.ts';
import { readNode } from '../../siblings/node-reading.ts';
import { recordProblems } from '../../siblings/record-problems.ts';
import { withoutPasswords } from './compare-settings.ts';
import type { SettingsAction, SettingsFacts, SettingsMemory } from './facts.ts';

type SettingsReconcile = Reconcile<HostFirmwareSettings, SettingsFacts, Metal3Context, SettingsMemory>;

export const settingsActions: Record<SettingsAction, (reconcile: SettingsReconcile) => Promise<void>> = {
  readSettings,
  shareSchema,
  recordProblems,
};

async function readSettings({ facts, context, memory, now }: SettingsReconcile): Promise<void> {
  const { host, subject } = facts;
  if (host === undefined) return;
  await readNode(memory, { at: now, subject }, async () => {
    const services = await context.backEnds.of(host).servicesOf(host);
    return withoutPasswords(await services.readFirmwareSettings());
  });
}

/** Each object that uses the schema owns it: it is deleted with the last of them. */
async function shareSchema({ object, facts, context }: SettingsReconcile): Promise<void> {
  const { client } = context;
  const { namespace } = object.metadata;
  const { schemaName: name, reading } = facts;
  if (name === undefined || reading === undefined || reading.result instanceof NotSupported) return;
  const { schema, vendor, model } = reading.result;
  const found = await client.find(FirmwareSchema, { namespace, name });
  if (found === undefined) {
    const metadata = { name, namespace, ownerReferences: [plainOwner(object)] };
    await client.create(FirmwareSchema, { metadata, spec: { hardwareVendor: vendor, hardwareModel: model, schema } });
    return;
  }
  if (isOwnedBy(found, object)) return;
  const { ownerReferences = [], resourceVersion } = found.metadata;
  const patch = { metadata: { ownerReferences: withOwner(ownerReferences, object) } };
  await client.mergePatch(FirmwareSchema, found.metadata, patch, { resourceVersion });
}
