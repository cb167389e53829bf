import { createHash } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Child } from '@metal/process/child.ts';
import { freePort } from '@metal/controlplane/free-port.ts';
import { findImageRegistry } from '@metal/project/image-registry.ts';
import { hash } from 'bcryptjs';

const readyWithinMs = 30_000;

export interface ImageRegistryOptions {
  /** Without any, everybody may read and write. */
  readonly credentials?: { readonly username: string; readonly password: string };
}

/** Bytes by media type, in order. */
export type LayerSpec = readonly (readonly [mediaType: string, bytes: Buffer])[];

/** The registry of the distribution project, with its files in a temporary directory. */
export class ImageRegistry implements AsyncDisposable {
  /** Host and port, as in references. */
  readonly host: string;
  readonly #child: Child;
  readonly #directory: string;
  readonly #authorization: Record<string, string>;

  constructor(host: string, child: Child, directory: string, { credentials }: ImageRegistryOptions) {
    this.host = host;
    this.#child = child;
    this.#directory = directory;
    this.#authorization =
      credentials === undefined
        ? {}
        : { authorization: `Basic ${btoa(`${credentials.username}:${credentials.password}`)}` };
  }

  /** Pushes an image with these layers. Returns the digest of its manifest. */
  async push(repository: string, tag: string, layers: LayerSpec): Promise<string> {
    const type = 'application/vnd.oci.image.manifest.v1+json';
    const config = await this.#pushBlob(repository, Buffer.from('{}'));
    const pushed = [];
    for (const [mediaType, bytes] of layers) pushed.push({ mediaType, ...(await this.#pushBlob(repository, bytes)) });
    const manifest = {
      schemaVersion: 2,
      mediaType: type,
      config: { mediaType: 'application/vnd.oci.image.config.v1+json', ...config },
      layers: pushed,
    };
    return this.pushManifest(repository, tag, type, manifest);
  }

  /** Pushes one reference for several architectures. */
  async pushIndex(repository: string, tag: string, images: Readonly<Record<string, string>>): Promise<string> {
    const type = 'application/vnd.oci.image.index.v1+json';
    const manifests = await Promise.all(
      Object.entries(images).map(async ([architecture, digest]) => ({
        mediaType: 'application/vnd.oci.image.manifest.v1+json',
        digest,
        size: await this.#sizeOf(repository, digest),
        platform: { architecture, os: 'linux' },
      })),
    );
    return this.pushManifest(repository, tag, type, { schemaVersion: 2, mediaType: type, manifests });
  }

  async pushManifest(repository: string, tag: string, type: string, manifest: unknown): Promise<string> {
    const body = JSON.stringify(manifest);
    await this.#request('PUT', `/v2/${repository}/manifests/${tag}`, { headers: { 'content-type': type }, body });
    return digestOf(Buffer.from(body));
  }

  /** Changes the content stored under a digest, like a failing disk. */
  async damage(digest: string, bytes: Buffer): Promise<void> {
    const hex = digest.slice('sha256:'.length);
    const blobs = join(this.#directory, 'data/docker/registry/v2/blobs/sha256');
    await writeFile(join(blobs, hex.slice(0, 2), hex, 'data'), bytes);
  }

  /** Kills it, like a crash. */
  async kill(): Promise<void> {
    await this.#child.kill();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#child.stop();
    await rm(this.#directory, { recursive: true, force: true });
  }

  async #pushBlob(repository: string, bytes: Buffer): Promise<{ digest: string; size: number }> {
    const digest = digestOf(bytes);
    const upload = await this.#request('POST', `/v2/${repository}/blobs/uploads/`);
    const place = new URL(upload.headers.get('location') ?? '', `http://${this.host}`);
    place.searchParams.set('digest', digest);
    const headers = { 'content-type': 'application/octet-stream' };
    await this.#request('PUT', place.href, { headers, body: new Uint8Array(bytes) });
    return { digest, size: bytes.length };
  }

  async #sizeOf(repository: string, digest: string): Promise<number> {
    const headers = { accept: 'application/vnd.oci.image.manifest.v1+json' };
    const response = await this.#request('HEAD', `/v2/${repository}/manifests/${digest}`, { headers });
    return Number(response.headers.get('content-length'));
  }

  async #request(
    method: string,
    path: string,
    { headers = {}, body }: { headers?: Record<string, string>; body?: string | Uint8Array<ArrayBuffer> } = {},
  ) {
    const url = new URL(path, `http://${this.host}`);
    const response = await fetch(url, { method, headers: { ...headers, ...this.#authorization }, body: body ?? null });
    if (!response.ok)
      throw new Error(`the registry answers ${response.status} to ${method} ${path}: ${await response.text()}`);
    return response;
  }
}

export async function startImageRegistry(options: ImageRegistryOptions = {}): Promise<ImageRegistry> {
  const command = await findImageRegistry({ environment: process.env, log: () => undefined });
  const directory = await mkdtemp(join(tmpdir(), 'metal-images-'));
  const host = `127.0.0.1:${await freePort()}`;
  const { credentials } = options;
  if (credentials !== undefined)
    await writeFile(join(directory, 'htpasswd'), `${credentials.username}:${await hash(credentials.password, 4)}\n`);
  const auth =
    credentials === undefined ? {} : { auth: { htpasswd: { realm: 'r', path: join(directory, 'htpasswd') } } };
  const configuration = {
    version: '0.1',
    log: { level: 'warn' },
    storage: { filesystem: { rootdirectory: join(directory, 'data') } },
    http: { addr: host, secret: 'of this run' },
    ...auth,
  };
  // JSON is YAML.
  await writeFile(join(directory, 'registry.yaml'), JSON.stringify(configuration));
  const child = new Child({
    name: 'registry',
    command,
    args: ['serve', join(directory, 'registry.yaml')],
    directory,
    logFile: join(directory, 'registry.log'),
    environment: { ...process.env, OTEL_TRACES_EXPORTER: 'none' },
    leftovers: directory,
  });
  const isReady = () =>
    fetch(`http://${host}/v2/`).then(
      () => true,
      () => false,
    );
  await child.until(isReady, readyWithinMs).catch(async (error: unknown) => {
    await child.kill();
    throw error;
  });
  return new ImageRegistry(host, child, directory, options);
}

export const digestOf = (bytes: Buffer): string => `sha256:${createHash('sha256').update(bytes).digest('hex')}`;
