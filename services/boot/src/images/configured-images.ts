import { nearestOf } from '@metal/api/common/nearest.ts';
import { ConfigError } from '@metal/kube/config-error.ts';
import { systemClock } from '@metal/kube/runtime/clock.ts';
import { BootError } from '../errors.ts';
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
 * Judges the files and the discovery image of the administrator, as far as that is possible without a request.
 * @throws ConfigError
 */
export async function checkConfiguredImages(configured: ConfiguredImages): Promise<void> {
  const { imagesFile, credentialsFile, discoveryImage } = configured;
  const names = imagesFile === undefined ? [] : Object.keys(readImageMap(imagesFile));
  if (credentialsFile !== undefined) await withConfigError(new RegistryCredentials(credentialsFile).of(''));
  if (discoveryImage === undefined || names.includes(discoveryImage)) return;
  if (/^[a-z]+:\/\//i.test(discoveryImage)) await withConfigError(checkUrl(discoveryImage, configured), probeOsImage);
  else checkReference(discoveryImage, names, configured);
}

const probeOsImage = '--probe-os-image: ';

async function checkUrl(discoveryImage: string, { fileRoots }: ConfiguredImages): Promise<void> {
  const images = new BootImages({ mapFile: undefined, fileRoots, ownImage: discoveryImage, clock: systemClock });
  await images.resolve(discoveryImage);
}

/** A name that the file lacks is also a reference of the Docker Hub, which is allowed only where an option names it. */
function checkReference(
  image: string,
  names: readonly string[],
  { imagesFile, allowedRegistries }: ConfiguredImages,
): void {
  const registry = parseImageReference(image)?.registry;
  if (registry !== undefined && allowedRegistries.map(canonicalRegistry).includes(registry)) return;
  const nearest = nearestOf(image, names);
  const known =
    imagesFile === undefined
      ? 'no --boot-images is given'
      : `${imagesFile} names ${nearest ?? (names.slice(0, 5).join(', ') || 'none')}`;
  const otherwise =
    registry === undefined
      ? 'it is no reference of an OCI image either'
      : `as an OCI image it lies in ${registry}, which --allowed-registries does not name`;
  throw new ConfigError(`${probeOsImage}"${image}" is no name of --boot-images (${known}), and ${otherwise}`);
}

async function withConfigError(check: Promise<unknown>, prefix = ''): Promise<void> {
  try {
    await check;
  } catch (error) {
    if (error instanceof BootError) throw new ConfigError(`${prefix}${error.message}`, error);
    throw error;
  }
}
