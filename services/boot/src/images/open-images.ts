import type { Clock } from '@metal/kube/runtime/clock.ts';
import type { Logger } from 'pino';
import { ArtefactStore } from './artefact-store.ts';
import { guardedFetch } from '@metal/http/guarded-fetch.ts';
import { DiskImages } from './disk/disk-images.ts';
import { BootImages } from './images.ts';
import { OciImages } from './oci/oci-images.ts';
import { RegistryClient } from './oci/registry-client.ts';
import { RegistryCredentials } from './oci/registry-credentials.ts';

export interface ImageSources {
  /** Such as `https://images.example:8443`. */
  readonly allowedOrigins: readonly string[];
  /** Connections to these addresses are refused for URLs of claims, and for redirects of a registry. */
  readonly isRefusedAddress: (address: string) => boolean;
  readonly ownImage?: string | undefined;
}

const noSources: ImageSources = { allowedOrigins: [], isRefusedAddress: () => false };

export interface BootRegistries {
  readonly allowed: readonly string[];
  readonly insecure: readonly string[];
  readonly credentialsFile?: string | undefined;
  /** Of servers without a known architecture. */
  readonly architecture: string;
  readonly cacheDirectory?: string | undefined;
  readonly cacheBytes: number;
}

export interface ImageOptions {
  /** Names images: `name: {kernel, initrd, cmdline}` in YAML or JSON. */
  readonly imagesFile?: string | undefined;
  /** Claims may use files below these directories. */
  readonly fileRoots?: readonly string[] | undefined;
  /** The allowed images by URL, and the discovery image of the administrator. */
  readonly imageSources?: ImageSources | undefined;
  /** The allowed OCI registries, and the cache for their images. Without it, OCI images are rejected. */
  readonly registries?: BootRegistries | undefined;
  readonly fetch?: typeof globalThis.fetch | undefined;
  readonly clock: Clock;
  readonly log: Logger;
}

export interface OpenedImages {
  readonly images: BootImages;
  readonly oci: OciImages | undefined;
  /** Undefined without registries, with whose images it shares the store. */
  readonly diskImages: DiskImages | undefined;
  /** Undefined without registries, whose images it is for. */
  readonly store: ArtefactStore | undefined;
  /** Connects to no refused address. */
  readonly guardedFetch: typeof globalThis.fetch;
}

/** The sources of boot images. The stack owns their connections and their cache. */
export function openImages(options: ImageOptions, stack: AsyncDisposableStack): OpenedImages {
  const { imagesFile: mapFile, fileRoots, fetch, clock, log, registries, imageSources = noSources } = options;
  const { allowedOrigins, isRefusedAddress, ownImage } = imageSources;
  const guarded = fetch ?? stack.use(guardedFetch(isRefusedAddress)).fetch;
  const store = registries && stack.use(openStore(registries, options));
  const oci = registries && store && openOciImages(options, registries, { fetchElsewhere: guarded, store });
  const byUrl = { allowedOrigins, fetch: guarded };
  const images = new BootImages({ mapFile, fileRoots, oci, byUrl, ownImage, clock, fetch, log });
  const diskImages = store && new DiskImages({ store, allowedOrigins, fetch: guarded, clock });
  return { images, oci, diskImages, store, guardedFetch: guarded };
}

const openStore = (
  { cacheDirectory: directory, cacheBytes: sizeBytes }: BootRegistries,
  { clock, log }: ImageOptions,
): ArtefactStore => new ArtefactStore({ directory, sizeBytes, clock, log });

function openOciImages(
  { clock, log, fetch }: ImageOptions,
  registries: BootRegistries,
  { fetchElsewhere, store }: { fetchElsewhere: typeof globalThis.fetch; store: ArtefactStore },
): OciImages {
  const { allowed, insecure, architecture } = registries;
  const credentials = new RegistryCredentials(registries.credentialsFile, log);
  const registry = new RegistryClient({ allowed, insecure, credentials, clock, fetch, fetchElsewhere });
  return new OciImages({ registry, store, architecture });
}
