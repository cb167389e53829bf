import type { BareMetalHost } from '@metal/api/metal3/bare-metal-host.ts';
import { HostFirmwareComponents } from '@metal/api/metal3/host-firmware-components.ts';
import { HostFirmwareSettings } from '@metal/api/metal3/host-firmware-settings.ts';
import { HostUpdatePolicy } from '@metal/api/metal3/host-update-policy.ts';
import type { KubeClient } from '@metal/kube/client/client.ts';
import { fieldManagerOf } from '@metal/kube/client/field-managers.ts';
import type { Kind, KubeObject } from '@metal/kube/kinds/kind.ts';
import { isOwnedBy, plainOwner, withOwner } from './owner-references.ts';
import type { FirmwareObjects } from './firmware-facts.ts';

interface Ensure {
  readonly client: KubeClient;
  readonly host: BareMetalHost;
  readonly found: FirmwareObjects;
  /** Asks the back end, which costs a request. */
  readonly hasComponents: () => Promise<boolean>;
}

/** Creates the objects for settings and firmware of the host, and makes the host the owner of those that exist. */
export async function ensureFirmwareObjects({ client, host, found, hasComponents }: Ensure): Promise<void> {
  const { name, namespace } = host.metadata;
  const metadata = { name, namespace, ownerReferences: [plainOwner(host)] };
  if (found.settings === undefined) await client.create(HostFirmwareSettings, { metadata, spec: { settings: {} } });
  else await own(client, HostFirmwareSettings, found.settings, host);
  if (found.components !== undefined) await own(client, HostFirmwareComponents, found.components, host);
  else if (await hasComponents()) await client.create(HostFirmwareComponents, { metadata, spec: { updates: [] } });
  if (found.policy !== undefined) await own(client, HostUpdatePolicy, found.policy, host);
}

async function own<T extends KubeObject>(
  client: KubeClient,
  kind: Kind<T>,
  object: T,
  host: BareMetalHost,
): Promise<void> {
  const { ownerReferences = [], resourceVersion } = object.metadata;
  if (isOwnedBy(object, host)) return;
  const patch = { metadata: { ownerReferences: withOwner(ownerReferences, host) } };
  await client.mergePatch(kind, object.metadata, patch, { resourceVersion });
}

type Updates = HostFirmwareComponents['spec']['updates'];

/** Records the updates that were started; undefined after a failure, so that all are tried again. */
export async function saveStartedUpdates(
  client: KubeClient,
  { metadata }: HostFirmwareComponents,
  updates: Updates | undefined,
): Promise<void> {
  const { name, namespace } = metadata;
  await client.apply(
    HostFirmwareComponents,
    { metadata: { name, namespace }, status: updates === undefined ? {} : { updates } },
    { fieldManager: fieldManagerOf('baremetalhost'), subresource: 'status', force: true },
  );
}
