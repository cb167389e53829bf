import { BareMetalHost } from '@metal/api/metal3/bare-metal-host.ts';
import { BMCEventSubscription } from '@metal/api/metal3/bmc-event-subscription.ts';
import { DataImage } from '@metal/api/metal3/data-image.ts';
import { FirmwareSchema } from '@metal/api/metal3/firmware-schema.ts';
import { HardwareData } from '@metal/api/metal3/hardware-data.ts';
import { HostFirmwareComponents } from '@metal/api/metal3/host-firmware-components.ts';
import { HostFirmwareSettings } from '@metal/api/metal3/host-firmware-settings.ts';
import { HostUpdatePolicy } from '@metal/api/metal3/host-update-policy.ts';
import { environmentLabel, environmentLabelValue } from '@metal/api/metal3/metal3-contract.ts';
import { PreprovisioningImage } from '@metal/api/metal3/preprovisioning-image.ts';
import type { CacheSet } from '@metal/kube/cache/cache.ts';
import type { Cache } from '@metal/kube/cache/store.ts';
import { Secret } from '@metal/kube/kinds/builtin.ts';
import { parseBmcAddress } from './bmc/parse-bmc-address.ts';
import { bmcNameOf } from './native/native-names.ts';

/** Caches of the controllers of Metal3. Where a comment says nothing else, objects have the names of their hosts. */
export interface Metal3Caches {
  readonly hosts: Cache<BareMetalHost>;
  readonly hardwareData: Cache<HardwareData>;
  readonly preprovisioningImages: Cache<PreprovisioningImage>;
  readonly firmwareSettings: Cache<HostFirmwareSettings>;
  readonly firmwareComponents: Cache<HostFirmwareComponents>;
  readonly updatePolicies: Cache<HostUpdatePolicy>;
  readonly dataImages: Cache<DataImage>;
  /** Their names are hashes of their content. */
  readonly firmwareSchemas: Cache<FirmwareSchema>;
  /** They name their hosts. */
  readonly eventSubscriptions: Cache<BMCEventSubscription>;
  /** Those with the label of hosts: a cluster has many others. */
  readonly secrets: Cache<Secret>;
}

export function watchMetal3Kinds(caches: CacheSet): Metal3Caches {
  return {
    hosts: caches.watch(BareMetalHost, { indexes: { secret: secretsOf, bmc: bmcNamesOf } }),
    hardwareData: caches.watch(HardwareData),
    preprovisioningImages: caches.watch(PreprovisioningImage, { indexes: { secret: networkDataOf } }),
    firmwareSettings: caches.watch(HostFirmwareSettings),
    firmwareComponents: caches.watch(HostFirmwareComponents),
    updatePolicies: caches.watch(HostUpdatePolicy),
    dataImages: caches.watch(DataImage),
    firmwareSchemas: caches.watch(FirmwareSchema),
    eventSubscriptions: caches.watch(BMCEventSubscription, { indexes: { host: hostOf } }),
    secrets: caches.watch(Secret, { labelSelector: `${environmentLabel}=${environmentLabelValue}` }),
  };
}

/** The BMC that the native back end has for the host. */
function bmcNamesOf({ spec }: BareMetalHost): string[] {
  const parsed = parseBmcAddress(spec.bmc?.address ?? '');
  return 'address' in parsed ? [bmcNameOf(parsed.address)] : [];
}

/** Secrets whose change a host wants to know at once, as `namespace/name`. */
function secretsOf({ metadata, spec }: BareMetalHost): string[] {
  const names = [spec.bmc?.credentialsName ?? '', spec.preprovisioningNetworkDataName ?? ''];
  return names.filter((name) => name !== '').map((name) => `${metadata.namespace}/${name}`);
}

function networkDataOf({ metadata, spec }: PreprovisioningImage): string[] {
  const { networkDataName: name = '' } = spec;
  return name === '' ? [] : [`${metadata.namespace}/${name}`];
}

const hostOf = ({ metadata, spec }: BMCEventSubscription): string[] => [`${metadata.namespace}/${spec.hostName ?? ''}`];
