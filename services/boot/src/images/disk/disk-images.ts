import type { Readable } from 'node:stream';
import type { DiskImage, PreparedDiskImage } from '@metal/api/common/disk-image.ts';
import type { Clock } from '@metal/kube/runtime/clock.ts';
import { minutes } from '@metal/kube/runtime/durations.ts';
import { openRemoteFile } from '@metal/http/remote-file.ts';
import { BootError } from '../../errors.ts';
import { type Artefact, storedArtefact } from '../artefact.ts';
import type { ArtefactStore, Wanted } from '../artefact-store.ts';
import { hasUserInfo, originNotAllowed, printableUrl } from '../image-url.ts';
import { type Checksum, checksumIn, checksumOf, isChecksumUrl } from './checksum.ts';
import { measure, qcow2AsZstd } from './content.ts';
import { BoundedMap } from '@metal/kube/runtime/bounded-map.ts';

export interface DiskImagesOptions {
  readonly store: ArtefactStore;
  /** Origins of images and of checksum files. */
  readonly allowedOrigins: readonly string[];
  /** Connects to no refused address. */
  readonly fetch: typeof globalThis.fetch;
  readonly clock: Clock;
}

/** The result of reading an image. It does not depend on the object that names it. */
export type MeasuredDiskImage = Omit<PreparedDiskImage, 'observedGeneration'>;

const maxChecksumFileBytes = 1_048_576;
const maxMeasured = 1_000;
/** A wrong image of 100 GB is not fetched again with each retry of its boot configuration. */
const wrongForMs = minutes(10);

/**
 * Images for disks: fetched once, with the checksum of the claim, into the store of boot artefacts, and sent as a raw disk.
 *
 *   URL ─► store, checksum verified ─► raw, gzip, zstd: sent as stored
 *                                      qcow2: read cluster by cluster, sent as zstd
 */
export class DiskImages {
  readonly #options: DiskImagesOptions;
  /** By checksum and format: an image of 100 GB is read once and not for each machine. */
  readonly #measured = new BoundedMap<string, Promise<Omit<MeasuredDiskImage, 'url' | 'checksum'>>>(maxMeasured);

  /** Files at a URL that did not have the checksum, by both. */
  readonly #wrong = new BoundedMap<string, { readonly error: BootError; readonly until: number }>(maxMeasured);

  constructor(options: DiskImagesOptions) {
    this.#options = options;
  }

  /** Fetches and verifies the image unless it is there. @throws BootError */
  async prepare(image: DiskImage, signal: AbortSignal): Promise<MeasuredDiskImage> {
    const url = this.#allowed(image.url);
    const checksum = await this.#checksumOf(image, signal);
    const wanted = this.#wantedOf(url, checksum);
    await this.#hold(wanted, signal);
    const key = `${wanted.digest} ${image.format}`;
    const measured = this.#measured.get(key) ?? this.#measure(wanted, image.format, signal);
    this.#measured.set(key, measured);
    measured.catch(() => this.#measured.delete(key));
    return { url: image.url, checksum: wanted.digest, ...(await measured) };
  }

  /** The verified image, as the machine gets it. @throws BootError */
  artefactOf({ format }: DiskImage, { url, checksum }: PreparedDiskImage): Artefact {
    const [algorithm = '', hex = ''] = checksum.split(':');
    const wanted = this.#wantedOf(this.#allowed(url), checksumOf(hex, algorithm as Checksum['algorithm'])); // it verifies the length
    if (format !== 'qcow2') return storedArtefact(this.#options.store, wanted);
    return {
      name: wanted.name,
      check: (signal) => this.#options.store.hold(wanted, signal),
      deliver: async ({ method, signal }) => {
        const file = await this.#options.store.open(wanted, signal);
        const headers = { 'content-type': 'application/octet-stream' };
        if (method === 'GET') return { status: 200, headers, body: await qcow2AsZstd(file) };
        await file.close();
        return { status: 200, headers, body: undefined };
      },
    };
  }

  async #hold(wanted: Wanted, signal: AbortSignal): Promise<void> {
    const { store, clock } = this.#options;
    const key = `${wanted.digest} ${wanted.name}`;
    const wrong = this.#wrong.get(key);
    if (wrong !== undefined && clock.now() < wrong.until) throw wrong.error;
    this.#wrong.delete(key);
    try {
      await store.hold(wanted, signal);
    } catch (cause) {
      const error = diskImageError(cause);
      if (error instanceof BootError && error.code === 'DiskImageChecksumWrong')
        this.#wrong.set(key, { error, until: clock.now() + wrongForMs });
      throw error;
    }
  }

  async #measure(wanted: Wanted, format: DiskImage['format'], signal: AbortSignal) {
    await using file = await this.#options.store.open(wanted, signal);
    return await measure(file, format, signal);
  }

  #wantedOf(url: URL, { algorithm, hex }: Checksum): Wanted {
    return {
      digest: `${algorithm}:${hex}`,
      size: undefined,
      isLarge: true,
      name: printableUrl(url),
      source: url.origin,
      pull: (signal) => this.#open(url, signal),
    };
  }

  /** The same message for every cause: conditions must not reveal which addresses respond. */
  async #open(url: URL, signal: AbortSignal): Promise<Readable> {
    const file = await openRemoteFile(this.#options.fetch, { url, signal });
    if (file.kind === 'Open') return file.body;
    const cause = new Error('message' in file ? file.message : 'its server responds with 304');
    throw new BootError(
      'DiskImageUnavailable',
      'the disk image or its checksum file cannot be fetched; the log of the boot service has the cause',
      new BootError('ArtefactUnreachable', `${printableUrl(url)}: ${cause.message}`, cause),
    );
  }

  /** @throws BootError ImageOriginNotAllowed */
  #allowed(text: string): URL {
    const url = URL.parse(text);
    if (url === null || hasUserInfo(text))
      throw new BootError('ImageNotUnderstood', 'diskImage has an invalid URL, or one with a user name or password');
    if (this.#options.allowedOrigins.includes(url.origin)) return url;
    throw originNotAllowed(url);
  }

  async #checksumOf(image: DiskImage, signal: AbortSignal): Promise<Checksum> {
    if (!isChecksumUrl(image)) return checksumOf(image.checksum, image.checksumType);
    const body = await this.#open(this.#allowed(image.checksum), signal);
    return checksumIn(await checksumFile(body), image.url, image.checksumType);
  }
}

/** @throws BootError */
async function checksumFile(body: Readable): Promise<string> {
  let text = '';
  try {
    for await (const chunk of body) {
      text += String(chunk);
      if (text.length > maxChecksumFileBytes)
        throw new BootError('DiskImageChecksumInvalid', 'diskImage.checksum: the checksum file has more than 1 MiB');
    }
  } catch (error) {
    if (error instanceof BootError) throw error;
    throw new BootError('DiskImageUnavailable', 'the transfer of the checksum file broke off; it is repeated', error);
  }
  return text;
}

function diskImageError(error: unknown): unknown {
  if (error instanceof BootError && error.code === 'DigestMismatch')
    return new BootError(
      'DiskImageChecksumWrong',
      `the disk image does not match its checksum: ${error.message}`,
      error,
    );
  if (error instanceof BootError && error.code === 'RegistryUnreachable')
    return new BootError('DiskImageUnavailable', 'the transfer of the disk image broke off; it is repeated', error);
  return error;
}
