import { createHash } from 'node:crypto';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';

export interface Layer {
  readonly createdBy: string;
  readonly tar: Buffer;
}

/** The `config` of the OCI image specification. */
export interface ImageConfiguration {
  readonly User: string;
  readonly Env: readonly string[];
  readonly Entrypoint: readonly string[];
  readonly ExposedPorts: Readonly<Record<string, object>>;
  readonly WorkingDir: string;
  readonly Labels: Readonly<Record<string, string>>;
}

export interface ImageOptions {
  readonly tag: string;
  readonly created: string;
  readonly configuration: ImageConfiguration;
  readonly layers: readonly StoredLayer[];
}

/** Files that no runtime starts, one per layer. */
export interface ArtifactOptions {
  readonly tag: string;
  readonly layers: readonly { readonly mediaType: string; readonly content: Buffer }[];
}

export interface Descriptor {
  readonly mediaType: string;
  readonly digest: string;
  readonly size: number;
}

export interface StoredLayer extends Descriptor {
  readonly createdBy: string;
  /** Digest of the archive before compression. */
  readonly diffId: string;
}

const type = (name: string): string => `application/vnd.oci.image.${name}`;
const platform = { architecture: 'amd64', os: 'linux' };

/** An OCI image layout (opencontainers/image-spec 1.1). */
export class OciLayout {
  readonly #directory: string;
  readonly #manifests: object[] = [];

  constructor(directory: string) {
    this.#directory = directory;
  }

  /** Compressed with gzip, because older runtimes and registries refuse zstd. */
  async addLayer({ tar, createdBy }: Layer): Promise<StoredLayer> {
    const compressed = await promisify(gzip)(tar);
    return { ...(await this.#addBlob(type('layer.v1.tar+gzip'), compressed)), createdBy, diffId: digestOf(tar) };
  }

  /** @returns the digest of its manifest. */
  async addImage({ tag, created, configuration, layers }: ImageOptions): Promise<string> {
    const config = await this.#addJson(type('config.v1+json'), {
      created,
      ...platform,
      config: configuration,
      rootfs: { type: 'layers', diff_ids: layers.map(({ diffId }) => diffId) },
      history: layers.map(({ createdBy }) => ({ created, created_by: createdBy })),
    });
    return this.#addManifest(tag, {
      config,
      layers: layers.map(({ mediaType, digest, size }) => ({ mediaType, digest, size })),
      annotations: configuration.Labels,
    });
  }

  /** @returns the digest of its manifest. */
  async addArtifact({ tag, layers }: ArtifactOptions): Promise<string> {
    const blobs: Descriptor[] = [];
    for (const { mediaType, content } of layers) blobs.push(await this.#addBlob(mediaType, content));
    return this.#addManifest(tag, {
      config: await this.#addJson('application/vnd.oci.empty.v1+json', {}),
      layers: blobs,
    });
  }

  /** Last: its presence means that the blobs are complete. */
  async writeIndex(): Promise<void> {
    await writeFile(join(this.#directory, 'oci-layout'), '{"imageLayoutVersion":"1.0.0"}');
    const index = { schemaVersion: 2, mediaType: type('index.v1+json'), manifests: this.#manifests };
    await writeFile(join(this.#directory, 'index.json'), JSON.stringify(index));
  }

  async #addManifest(tag: string, content: object): Promise<string> {
    const mediaType = type('manifest.v1+json');
    const manifest = await this.#addJson(mediaType, { schemaVersion: 2, mediaType, ...content });
    this.#manifests.push({ ...manifest, platform, annotations: { 'org.opencontainers.image.ref.name': tag } });
    return manifest.digest;
  }

  #addJson(mediaType: string, content: object): Promise<Descriptor> {
    return this.#addBlob(mediaType, Buffer.from(JSON.stringify(content)));
  }

  async #addBlob(mediaType: string, content: Buffer): Promise<Descriptor> {
    const digest = digestOf(content);
    const folder = join(this.#directory, 'blobs/sha256');
    await mkdir(folder, { recursive: true });
    await writeFile(join(folder, digest.slice('sha256:'.length)), content);
    return { mediaType, digest, size: content.length };
  }
}

const digestOf = (content: Uint8Array): string => `sha256:${createHash('sha256').update(content).digest('hex')}`;
