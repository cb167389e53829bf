import type { PreprovisioningImage } from '@metal/api/metal3/preprovisioning-image.ts';
import type { DeployImages } from '../../options.ts';

export interface BuiltImage {
  readonly format: 'iso' | 'initrd';
  readonly imageUrl: string;
  /** Of an initrd. Undefined: the kernel that the back end is configured with. */
  readonly kernelUrl: string | undefined;
}

/** The ramdisk by the options of the operator: the first accepted format that has one for the architecture. */
export function builtImage(
  { acceptFormats = [], architecture = '' }: PreprovisioningImage['spec'],
  images: DeployImages,
  ownArchitecture: string,
): BuiltImage | { readonly problem: string } {
  const urlIn = (urls: Readonly<Record<string, string>>) =>
    (Object.hasOwn(urls, architecture) ? urls[architecture] : undefined) ??
    (architecture === ownArchitecture ? urls[''] : undefined);
  for (const format of acceptFormats) {
    const imageUrl = urlIn(format === 'iso' ? images.iso : images.ramdisk);
    if (imageUrl !== undefined)
      return { format, imageUrl, kernelUrl: format === 'initrd' ? urlIn(images.kernel) : undefined };
  }
  const formats = acceptFormats.join(' or ') || 'any format';
  return {
    problem: `no ramdisk of format ${formats} for architecture "${architecture}": set DEPLOY_ISO_URL or DEPLOY_RAMDISK_URL of the operator for it`,
  };
}

/** Some ramdisk is configured. */
export const hasDeployImages = ({ iso, ramdisk }: DeployImages): boolean =>
  Object.keys(iso).length > 0 || Object.keys(ramdisk).length > 0;

/** The architecture of this process in the words of Linux, which hosts use. */
export function architectureOf(nodeArchitecture: string): string {
  const names: Readonly<Record<string, string>> = { x64: 'x86_64', arm64: 'aarch64' };
  return names[nodeArchitecture] ?? nodeArchitecture;
}
