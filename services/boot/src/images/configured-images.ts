import type { Warn } from '@metal/api/common/file-content.ts';
import { nearestOf } from '@metal/api/common/nearest.ts';
import { ConfigError } from '@metal/kube/config-error.ts';
import { systemClock } from '@metal/kube/runtime/clock.ts';
import { BootError } from '../errors.ts';
import { printableImage } from './image-url.ts';
import { BootImages, readImageMap } from './images.ts';
import { canonicalRegistry, parseImageReference } from './oci/reference.ts';
import { RegistryCredentials } from './oci/registry-credentials.ts';

export interface ConfiguredImages {
  readonly imagesFile: string | undefined;
  readonly fileRoots: readonly string[];
  readonly allowedRegistries: readonly string[];
  readonly credentialsFile: string | undefined;
  /** Of --probe-os-image; undefined where this process boots no discovery. */
  readonly discoveryImage: string | undefined;
}

/**
 * Judges the files and the discovery image of the administrator, as far as that is possible without a request. An image that
 * cannot be booted is a warning: machines that run do not need it, and boot configurations report it.
 * @throws ConfigError for a file that cannot be used, and for an invalid URL
 */
export async function checkConfiguredImages(configured: ConfiguredImages, warn: Warn): Promise<void> {
  const { imagesFile, credentialsFile, discoveryImage } = configured;
  const names = imagesFile === undefined ? [] : Object.keys(readImageMap(imagesFile, warn));
  if (credentialsFile !== undefined) {
    const error = await bootErrorOf(new RegistryCredentials(credentialsFile).of(''));
    if (error !== undefined) throw new ConfigError(error.message, error);
  }
  if (discoveryImage === undefined || names.includes(discoveryImage)) return;
  const problem = /^[a-z]+:\/\//i.test(discoveryImage)
    ? await problemOfUrl(discoveryImage, configured)
    : problemOfReference(discoveryImage, names, configured);
  if (problem !== undefined) warn(`--probe-os-image: ${problem}`);
}

async function problemOfUrl(discoveryImage: string, { fileRoots }: ConfiguredImages): Promise<string | undefined> {
  if (!URL.canParse(discoveryImage))
    throw new ConfigError(`--probe-os-image: "${printableImage(discoveryImage)}" is no valid URL`);
  const images = new BootImages({ mapFile: undefined, fileRoots, ownImage: discoveryImage, clock: systemClock });
  return (await bootErrorOf(images.resolve(discoveryImage)))?.message;
}

/** A name that the file lacks is also a reference of the Docker Hub, which is allowed only where an option names it. */
function problemOfReference(
  image: string,
  names: readonly string[],
  { imagesFile, allowedRegistries }: ConfiguredImages,
): string | undefined {
  const registry = parseImageReference(image)?.registry;
  if (registry !== undefined && allowedRegistries.map(canonicalRegistry).includes(registry)) return undefined;
  const nearest = nearestOf(image, names);
  const known =
    imagesFile === undefined
      ? 'no --boot-images is given'
      : `${imagesFile} names ${nearest ?? (names.slice(0, 5).join(', ') || 'none')}`;
  const otherwise =
    registry === undefined
      ? 'it is no reference of an OCI image either'
      : `as an OCI image it lies in ${registry}, which --allowed-registries does not name`;
  return `"${printableImage(image)}" is no name of --boot-images (${known}), and ${otherwise}`;
}

async function bootErrorOf(check: Promise<unknown>): Promise<BootError | undefined> {
  try {
    await check;
    return undefined;
  } catch (error) {
    if (error instanceof BootError) return error;
    throw error;
  }
}
