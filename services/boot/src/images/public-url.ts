import { nameOf, parseImageReference } from './oci/reference.ts';
import type { BootImage } from './boot-plan.ts';

/** Undefined for images without a UKI, and for those from no registry. */
export function ukiUrl({ name, uki }: BootImage, publicUrl: string): string | undefined {
  const reference = parseImageReference(name);
  if (uki?.digest === undefined || reference === undefined) return undefined;
  return `${publicUrl}/httpboot/${nameOf(reference)}/${uki.digest.replace(':', '-')}.efi`;
}

export function layerUrl(
  image: BootImage,
  layer: 'kernel' | 'initrd' | 'squashfs',
  publicUrl: string,
): string | undefined {
  const artefact = image[layer];
  if (artefact === undefined) return undefined;
  const reference = parseImageReference(image.name);
  if (artefact.digest === undefined || reference === undefined) return openUrl(artefact.name);
  const version = reference.digest ?? reference.tag ?? '';
  const query = new URLSearchParams({ imageName: nameOf(reference), version, layerDigest: artefact.digest });
  return `${publicUrl}/image?${query.toString()}`;
}

/** The URL of a file on another server, unless it has credentials or a query. */
function openUrl(location: string): string | undefined {
  const url = URL.parse(location);
  const isOpen =
    url !== null && /^https?:$/.test(url.protocol) && url.username === '' && url.password === '' && url.search === '';
  return isOpen ? url.href : undefined;
}
