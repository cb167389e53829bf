import type { Clock } from '@metal/kube/runtime/clock.ts';
import type { Logger } from 'pino';
import { ArtefactStore } from './artefact-store.ts';
import { guardedFetch } from './guarded-fetch.ts';
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

/** The sources of boot images. The stack owns their connections and their cache. */
export function openImages(
  options: ImageOptions,
  stack: AsyncDisposableStack,
): { readonly images: BootImages; readonly oci: OciImages | undefined } {
  const { imagesFile: mapFile, fileRoots, fetch, clock, log, registries, imageSources = noSources } = options;
  const { allowedOrigins, isRefusedAddress, ownImage } = imageSources;
  const guarded = fetch ?? stack.use(guardedFetch(isRefusedAddress)).fetch;
  const oci = registries && openOciImages(options, registries, { fetchElsewhere: guarded, stack });
  const byUrl = { allowedOrigins, fetch: guarded };
  return { images: new BootImages({ mapFile, fileRoots, oci, byUrl, ownImage, clock, fetch, log }), oci };
}

function openOciImages(
  { clock, log, fetch }: ImageOptions,
  registries: BootRegistries,
  { fetchElsewhere, stack }: { fetchElsewhere: typeof globalThis.fetch; stack: AsyncDisposableStack },
): OciImages {
  const { allowed, insecure, architecture, cacheDirectory: directory, cacheBytes: sizeBytes } = registries;
  const credentials = new RegistryCredentials(registries.credentialsFile, log);
  const registry = new RegistryClient({ allowed, insecure, credentials, clock, fetch, fetchElsewhere });
  const store = stack.use(new ArtefactStore({ directory, sizeBytes, clock, log }));
  return new OciImages({ registry, store, architecture });
}
