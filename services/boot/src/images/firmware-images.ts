import { imageCredentialsIn, imageUrlOf } from '@metal/api/common/firmware-image.ts';
import { BIOSVersion } from '@metal/api/v1alpha1/bios-version.ts';
import { BMCVersion } from '@metal/api/v1alpha1/bmc-version.ts';
import { FirmwareVersion } from '@metal/api/v1alpha1/firmware-version.ts';
import { type FirmwareGrant, type FirmwareKind, readFirmwareToken } from '@metal/api/wire/firmware-token.ts';
import { basicAuthorization, openRemoteFile } from '@metal/http/remote-file.ts';
import type { KubeClient } from '@metal/kube/client/client.ts';
import { Secret } from '@metal/kube/kinds/builtin.ts';
import type { Kind } from '@metal/kube/kinds/kind.ts';
import type { Clock } from '@metal/kube/runtime/clock.ts';
import { seconds } from '@metal/kube/runtime/durations.ts';
import type { Readable } from 'node:stream';
import { BootError } from '../errors.ts';
import { type Artefact, storedArtefact } from './artefact.ts';
import type { ArtefactStore } from './artefact-store.ts';
import { printableUrl } from './image-url.ts';
import { BoundedMap } from '@metal/kube/runtime/bounded-map.ts';

export interface FirmwareImagesOptions {
  readonly client: Pick<KubeClient, 'find'>;
  readonly bootTokenKey: () => Promise<Uint8Array>;
  /** Namespace of references to Secrets that have none; `default` by default. */
  readonly managerNamespace?: string | undefined;
  readonly store: ArtefactStore;
  /** Connects to no refused address. */
  readonly fetch: typeof globalThis.fetch;
  readonly clock: Clock;
}

type VersionObject = BIOSVersion | BMCVersion | FirmwareVersion;
type Image = VersionObject['spec']['image'];

const kinds: Record<FirmwareKind, Kind<VersionObject>> = { BIOSVersion, BMCVersion, FirmwareVersion };

/** A BMC may split an image into thousands of range requests. */
const objectFreshForMs = seconds(10);
const maxObjects = 1_000;

/**
 * Images of firmware for BMCs that cannot reach their source. The token of a request has size and hash of the bytes that the
 * operator checked: only those are served, from the store of boot artefacts.
 */
export class FirmwareImages {
  readonly #options: FirmwareImagesOptions;
  readonly #objects = new BoundedMap<string, { readonly image: Promise<Image | undefined>; readonly at: number }>(
    maxObjects,
  );

  constructor(options: FirmwareImagesOptions) {
    this.#options = options;
  }

  /**
   * Undefined without a valid token, and when the object of the token does not exist any more.
   * @throws KubeError when the API server does not respond; BootError when the object names no image to fetch
   */
  async find(kind: FirmwareKind, name: string, token: string): Promise<Artefact | undefined> {
    const { bootTokenKey, clock, store } = this.#options;
    const grant = readFirmwareToken(await bootTokenKey(), { kind, name }, token, clock.now());
    const image = grant && (await this.#imageOf(grant));
    if (image === undefined || grant === undefined) return undefined;
    const url = imageUrlOf(image);
    if (url === undefined) throw new BootError('ArtefactMissing', `the image of ${kind} ${name} has no URL to fetch`);
    return storedArtefact(store, {
      digest: `sha256:${grant.sha256}`,
      size: grant.size,
      name: printableUrl(url),
      source: url.origin,
      pull: (signal) => this.#pull(url, image, signal),
    });
  }

  #imageOf({ kind, name }: FirmwareGrant): Promise<Image | undefined> {
    const { client, clock } = this.#options;
    const key = `${kind}/${name}`;
    const known = this.#objects.get(key);
    if (known !== undefined && clock.now() - known.at < objectFreshForMs) return known.image;
    const image = client.find(kinds[kind], { name }).then((object) => object?.spec.image);
    image.catch(() => this.#objects.delete(key));
    this.#objects.set(key, { image, at: clock.now() });
    return image;
  }

  async #pull(url: URL, image: Image, signal: AbortSignal): Promise<Readable> {
    const authorization = await this.#authorizationOf(image);
    const file = await openRemoteFile(this.#options.fetch, { url, authorization, signal });
    if (file.kind === 'Open') return file.body;
    const why = 'message' in file ? file.message : 'its server responds with 304';
    const code = file.kind === 'Rejected' ? 'ArtefactMissing' : 'ArtefactUnreachable';
    throw new BootError(code, `${printableUrl(url)} cannot be fetched: ${why}`);
  }

  async #authorizationOf({ secretRef }: Image): Promise<(() => string) | undefined> {
    const { client, managerNamespace = 'default' } = this.#options;
    if (secretRef?.name === undefined || secretRef.name === '') return undefined;
    const { name, namespace = managerNamespace } = secretRef;
    const secret = await client.find(Secret, { namespace, name });
    const credentials = secret && imageCredentialsIn(secret);
    if (credentials === undefined)
      throw new BootError(
        'ArtefactMissing',
        `Secret ${namespace}/${name} of an image does not exist, or lacks the keys username and password`,
      );
    return () => basicAuthorization(credentials.username, credentials.password);
  }
}
