import type { PreprovisioningImage } from '@metal/api/metal3/preprovisioning-image.ts';
import { imageBuildFinalizer } from '@metal/api/metal3/metal3-contract.ts';
import { minutes, seconds } from '@metal/kube/runtime/durations.ts';
import type { Metal3Context } from '../../context.ts';
import { architectureOf, type BuiltImage, builtImage } from './built-image.ts';

export type ImagePhase = 'Present';
export type ImageAction = 'findSecret';

export interface NetworkData {
  readonly name: string;
  /** Undefined: the Secret does not exist. */
  readonly version: string | undefined;
}

export interface ImageFacts {
  readonly image: BuiltImage | { readonly problem: string };
  /** Undefined: none is wanted. */
  readonly networkData: NetworkData | undefined;
  /** Milliseconds until the Secret is read again; undefined: its changes are noticed. */
  readonly nextReadInMs: number | undefined;
  readonly hasOtherFinalizers: boolean;
}

/** A Secret without the label of hosts, which is in no cache. */
export interface ImageMemory {
  secret: (NetworkData & { readonly at: number }) | undefined;
}

const shortestPauseMs = seconds(10);
const longestPauseMs = minutes(10);

export function readImageFacts(
  object: PreprovisioningImage,
  { caches, config }: Metal3Context,
  { now, memory }: { readonly now: number; readonly memory: Readonly<ImageMemory> },
): ImageFacts {
  const { metadata, spec } = object;
  const { networkDataName: name = '' } = spec;
  const known = name === '' ? undefined : caches.secrets.get({ namespace: metadata.namespace, name });
  const read = memory.secret?.name === name ? memory.secret : undefined;
  const isWatched = name === '' || known !== undefined;
  return {
    image: builtImage(spec, config.deployImages, architectureOf(process.arch)),
    networkData: name === '' ? undefined : { name, version: known?.metadata.resourceVersion ?? read?.version },
    nextReadInMs: isWatched ? undefined : read === undefined ? 0 : read.at + readPauseMs(object, read.at) - now,
    hasOtherFinalizers: (metadata.finalizers ?? []).some((finalizer) => finalizer !== imageBuildFinalizer),
  };
}

/** The longer the Secret is missing, the less often it is read. */
function readPauseMs({ status }: PreprovisioningImage, now: number): number {
  const error = status?.conditions?.find((condition) => condition.type === 'Error' && condition.status === 'True');
  const sinceMs = error === undefined ? 0 : now - Date.parse(error.lastTransitionTime);
  return Math.min(Math.max(sinceMs, shortestPauseMs), longestPauseMs);
}
