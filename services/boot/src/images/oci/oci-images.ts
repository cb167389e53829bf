import { Readable } from 'node:stream';
import { type Artefact, storedArtefact } from '../artefact.ts';
import type { ArtefactStore, Wanted } from '../artefact-store.ts';
import { isIndex, type Layers, layerNames, layersOf, type LayerName, pickOf } from './layers.ts';
import { type ImageReference, nameOf, textOf } from './reference.ts';
import type { Document, RegistryClient } from './registry-client.ts';

export interface OciImagesOptions {
  readonly registry: RegistryClient;
  readonly store: ArtefactStore;
  /** Of servers without a known architecture, as in OCI. */
  readonly architecture: string;
}

export interface OciImage {
  /** Of the manifest for one architecture. */
  readonly digest: string;
  readonly artefacts: Partial<Record<LayerName, Artefact>>;
}

interface Manifest {
  readonly reference: ImageReference;
  readonly digest: string;
  readonly layers: Layers;
}

const maxRemembered = 1_000;
const contentTypes: Partial<Record<LayerName, string>> = { uki: 'application/efi' };

/** Resolves OCI images to their files. */
export class OciImages {
  readonly #options: OciImagesOptions;
  /** By repository and digest: requests for files cause no registry request. */
  readonly #manifests = new Map<string, Manifest>();

  constructor(options: OciImagesOptions) {
    this.#options = options;
  }

  /**
   * Requests the manifest unless it is cached by its digest. Pulls no layer.
   * @throws BootError whose code names the cause
   */
  async resolve(
    reference: ImageReference,
    { architecture, digest }: { architecture?: string | undefined; digest?: string | undefined },
    signal: AbortSignal = new AbortController().signal,
  ): Promise<OciImage> {
    this.#options.registry.requireAllowed(reference);
    const known = digest === undefined ? undefined : this.#manifests.get(`${nameOf(reference)}@${digest}`);
    const manifest = known ?? (await this.#find(reference, architecture, digest, signal));
    this.#remember(manifest);
    return { digest: manifest.digest, artefacts: this.#artefactsOf(manifest) };
  }

  /**
   * A layer of an image that a boot was prepared with, by its digest. Other layers are not pulled on request.
   */
  knownLayer(repository: string, digest: string): Artefact | undefined {
    for (const manifest of this.#manifests.values()) {
      if (nameOf(manifest.reference) !== repository) continue;
      const layer = layerNames.find((name) => manifest.layers[name]?.digest === digest);
      if (layer !== undefined) return this.#artefactOf(manifest, layer);
    }
    return undefined;
  }

  async #find(
    reference: ImageReference,
    architecture: string | undefined,
    pinned: string | undefined,
    signal: AbortSignal,
  ): Promise<Manifest> {
    const name = textOf(reference);
    const top = pinned === undefined ? await this.#options.registry.document(reference, undefined, signal) : undefined;
    if (top !== undefined && !isIndex(top, name)) {
      await this.#keep(reference, top, signal);
      return { reference, digest: top.digest, layers: layersOf(top, name) };
    }
    const digest = pinned ?? (top && pickOf(top, architecture ?? this.#options.architecture, name).digest) ?? '';
    return { reference, digest, layers: layersOf(await this.#kept(reference, digest, signal), name) };
  }

  /** Stores the manifest, so that prepared boots need no registry after a restart. */
  async #keep(reference: ImageReference, { digest, bytes }: Document, signal: AbortSignal): Promise<void> {
    const pull = () => Promise.resolve(Readable.from([bytes]));
    const name = `manifest of ${textOf(reference)}`;
    await this.#options.store.hold({ digest, size: bytes.length, name, source: 'memory', pull }, signal);
  }

  async #kept(reference: ImageReference, digest: string, signal: AbortSignal): Promise<Document> {
    const pull = async (pulling: AbortSignal) => {
      const { bytes } = await this.#options.registry.document(reference, digest, pulling);
      return Readable.from([bytes]);
    };
    const name = `manifest of ${textOf(reference)}`;
    // Manifests have their own source, so that they do not wait for layers.
    const wanted = { digest, size: undefined, name, source: `manifests of ${reference.registry}`, pull };
    await using handle = await this.#options.store.open(wanted, signal);
    return { digest, mediaType: '', bytes: await handle.readFile() };
  }

  #remember(manifest: Manifest): void {
    const key = `${nameOf(manifest.reference)}@${manifest.digest}`;
    this.#manifests.delete(key);
    this.#manifests.set(key, manifest);
    if (this.#manifests.size > maxRemembered) this.#manifests.delete(this.#manifests.keys().next().value ?? '');
  }

  #artefactsOf(manifest: Manifest): OciImage['artefacts'] {
    const present = layerNames.filter((layer) => manifest.layers[layer] !== undefined);
    return Object.fromEntries(present.map((layer) => [layer, this.#artefactOf(manifest, layer)]));
  }

  #artefactOf({ reference, layers }: Manifest, layer: LayerName): Artefact | undefined {
    const descriptor = layers[layer];
    if (descriptor === undefined) return undefined;
    const { digest, size } = descriptor;
    const { registry, store } = this.#options;
    const pull = (signal: AbortSignal) => registry.blob(reference, digest, signal);
    const name = `${layer} of ${textOf(reference)}`;
    const wanted: Wanted = { digest, size, name, source: reference.registry, pull };
    return storedArtefact(store, wanted, contentTypes[layer]);
  }
}
