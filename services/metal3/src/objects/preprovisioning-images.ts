import { isDeepStrictEqual } from 'node:util';
import type { BareMetalHost } from '@metal/api/metal3/bare-metal-host.ts';
import { imageFinalizer } from '@metal/api/metal3/metal3-contract.ts';
import { PreprovisioningImage } from '@metal/api/metal3/preprovisioning-image.ts';
import type { KubeClient } from '@metal/kube/client/client.ts';
import { hasFinalizer, removeFinalizer } from '@metal/kube/controller/finalizers.ts';
import { ownedBy } from '@metal/kube/kinds/kind.ts';
import type { UsableImage } from '../provisioner/back-end.ts';

export type ImageFormat = 'iso' | 'initrd';

export interface WantedImage {
  readonly formats: readonly ImageFormat[];
  readonly architecture: string;
  /** Of the Secret with network data for the ramdisk. */
  readonly networkData: { readonly name: string; readonly version: string } | undefined;
}

/** The image may be used, is not ready, or cannot be built. */
export type ObtainedImage = UsableImage | 'pending' | { readonly problem: string };

/** Asks for a ramdisk by the PreprovisioningImage of the host, and returns it when it is ready. */
export async function obtainImage(
  client: KubeClient,
  host: BareMetalHost,
  found: PreprovisioningImage | undefined,
  wanted: WantedImage,
): Promise<ObtainedImage> {
  if (found?.metadata.deletionTimestamp !== undefined) return whileTerminating(found);
  const current = found === undefined ? await create(client, host, wanted) : await update(client, host, found, wanted);
  return usable(current, wanted);
}

/** The host is gone, or needs no ramdisk any more. */
export async function releaseImage(client: KubeClient, image: PreprovisioningImage | undefined): Promise<void> {
  if (image !== undefined && hasFinalizer(image, imageFinalizer))
    await removeFinalizer(client, PreprovisioningImage, image, imageFinalizer);
}

/** The namespace is deleted, but the host still needs the ramdisk for its deprovisioning. */
function whileTerminating(image: PreprovisioningImage): ObtainedImage {
  return hasFinalizer(image, imageFinalizer) ? (asUsable(image) ?? 'pending') : 'pending';
}

const specOf = ({ formats, architecture, networkData }: WantedImage) => ({
  acceptFormats: [...formats],
  architecture,
  networkDataName: networkData?.name ?? '',
});

function create(client: KubeClient, host: BareMetalHost, wanted: WantedImage): Promise<PreprovisioningImage> {
  const { name, namespace, labels = {} } = host.metadata;
  const metadata = { name, namespace, labels, finalizers: [imageFinalizer], ownerReferences: [ownedBy(host)] };
  return client.create(PreprovisioningImage, { metadata, spec: specOf(wanted) });
}

/** Labels are only added: another program may have its own. */
async function update(
  client: KubeClient,
  host: BareMetalHost,
  image: PreprovisioningImage,
  wanted: WantedImage,
): Promise<PreprovisioningImage> {
  const { labels = {}, finalizers = [], ownerReferences = [], resourceVersion } = image.metadata;
  const owner = ownedBy(host);
  const others = ownerReferences.filter(({ uid }) => uid !== owner.uid);
  const wantedMetadata = {
    labels: { ...labels, ...host.metadata.labels },
    finalizers: finalizers.includes(imageFinalizer) ? finalizers : [...finalizers, imageFinalizer],
    ownerReferences: others.length < ownerReferences.length ? ownerReferences : [...ownerReferences, owner],
  };
  const { acceptFormats, architecture, networkDataName } = image.spec;
  const isSame =
    isDeepStrictEqual(wantedMetadata, { labels, finalizers, ownerReferences }) &&
    isDeepStrictEqual(specOf(wanted), { acceptFormats, architecture, networkDataName: networkDataName ?? '' });
  if (isSame) return image;
  const patch = { metadata: wantedMetadata, spec: specOf(wanted) };
  return client.mergePatch(PreprovisioningImage, image.metadata, patch, { resourceVersion });
}

function usable(image: PreprovisioningImage, { formats, networkData }: WantedImage): ObtainedImage {
  const { metadata, spec, status } = image;
  const condition = (type: string) => status?.conditions?.find((known) => known.type === type);
  const error = condition('Error');
  if (error?.status === 'True')
    return { problem: `the PreprovisioningImage cannot be built: ${error.message || error.reason}` };
  const ready = condition('Ready');
  if (ready?.status !== 'True' || ready.observedGeneration !== metadata.generation) return 'pending';
  const isOfHost =
    status?.architecture === spec.architecture &&
    formats.some((format) => format === status?.format) &&
    (status?.networkData?.name ?? '') === (networkData?.name ?? '') &&
    (status?.networkData?.version ?? '') === (networkData?.version ?? '');
  return isOfHost ? (asUsable(image) ?? 'pending') : 'pending';
}

function asUsable({ status }: PreprovisioningImage): UsableImage | undefined {
  const { imageUrl = '', kernelUrl, extraKernelParams, format } = status ?? {};
  if (imageUrl === '' || format === undefined) return undefined;
  return { format, imageUrl, kernelUrl: kernelUrl === '' ? undefined : kernelUrl, extraKernelParams };
}
