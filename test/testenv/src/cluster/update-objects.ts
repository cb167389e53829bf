import { BIOSSettings } from '@metal/api/v1alpha1/bios-settings.ts';
import { BIOSVersion } from '@metal/api/v1alpha1/bios-version.ts';
import { BMCSettings } from '@metal/api/v1alpha1/bmc-settings.ts';
import { BMCVersion } from '@metal/api/v1alpha1/bmc-version.ts';
import { FirmwareVersion } from '@metal/api/v1alpha1/firmware-version.ts';
import type { CacheSet } from '@metal/kube/cache/cache.ts';
import type { Cache } from '@metal/kube/cache/store.ts';
import type { KubeClient } from '@metal/kube/client/client.ts';
import type { Kind, KubeObject } from '@metal/kube/kinds/kind.ts';
import { ObjectsOfKind } from './objects-of-kind.ts';
import type { Timeline } from './timeline.ts';

/** The objects that change settings and firmware. */
export interface UpdateObjects {
  readonly biosSettings: ObjectsOfKind<BIOSSettings>;
  readonly biosVersions: ObjectsOfKind<BIOSVersion>;
  readonly bmcSettings: ObjectsOfKind<BMCSettings>;
  readonly bmcVersions: ObjectsOfKind<BMCVersion>;
  readonly firmwareVersions: ObjectsOfKind<FirmwareVersion>;
}

interface Stateful extends KubeObject {
  readonly status?: { readonly state?: string | undefined } | undefined;
}

/** Watches them; `onCache` gets each cache. */
export function watchUpdates(
  caches: CacheSet,
  common: { readonly client: KubeClient; readonly timeline: Timeline },
  onCache: (cache: Cache<KubeObject>) => void,
): UpdateObjects {
  const watch = <T extends Stateful>(kind: Kind<T>): ObjectsOfKind<T> => {
    const cache = caches.watch(kind);
    onCache(cache);
    return new ObjectsOfKind({ ...common, kind, cache, phase: ({ status }) => status?.state });
  };
  return {
    biosSettings: watch(BIOSSettings),
    biosVersions: watch(BIOSVersion),
    bmcSettings: watch(BMCSettings),
    bmcVersions: watch(BMCVersion),
    firmwareVersions: watch(FirmwareVersion),
  };
}
