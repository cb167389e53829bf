import type { BareMetalHost } from '@metal/api/metal3/bare-metal-host.ts';
import { HardwareData } from '@metal/api/metal3/hardware-data.ts';
import type { HardwareDetails } from '@metal/api/metal3/hardware-details.ts';
import { hardwareDataFinalizer } from '@metal/api/metal3/metal3-contract.ts';
import type { KubeClient } from '@metal/kube/client/client.ts';
import { hasFinalizer, removeFinalizer } from '@metal/kube/controller/finalizers.ts';
import { ownedBy } from '@metal/kube/kinds/kind.ts';

/** The HardwareData of a host is never changed: a new inspection replaces it. None is created for a host that is being deleted. */
export async function saveHardwareData(
  client: KubeClient,
  host: BareMetalHost,
  hardware: HardwareDetails,
): Promise<void> {
  const { name, namespace, deletionTimestamp } = host.metadata;
  await removeHardwareData(client, host);
  if (deletionTimestamp !== undefined) return;
  await client.create(HardwareData, {
    metadata: { name, namespace, finalizers: [hardwareDataFinalizer], ownerReferences: [ownedBy(host)] },
    spec: { hardware },
  });
}

async function removeHardwareData(client: KubeClient, { metadata }: BareMetalHost): Promise<void> {
  const found = await client.find(HardwareData, metadata);
  if (found === undefined) return;
  await releaseHardwareData(client, found);
  await client.delete(HardwareData, found.metadata, { uid: found.metadata.uid });
}

/** It may be deleted with its host. */
export async function releaseHardwareData(client: KubeClient, data: HardwareData): Promise<void> {
  if (hasFinalizer(data, hardwareDataFinalizer))
    await removeFinalizer(client, HardwareData, data, hardwareDataFinalizer);
}
