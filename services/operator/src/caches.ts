import { BIOSSettings } from '@metal/api/v1alpha1/bios-settings.ts';
import { BIOSSettingsSet } from '@metal/api/v1alpha1/bios-settings-set.ts';
import { BIOSVersion } from '@metal/api/v1alpha1/bios-version.ts';
import { BIOSVersionSet } from '@metal/api/v1alpha1/bios-version-set.ts';
import { BMC } from '@metal/api/v1alpha1/bmc.ts';
import { BMCSecret } from '@metal/api/v1alpha1/bmc-secret.ts';
import { BMCSettings } from '@metal/api/v1alpha1/bmc-settings.ts';
import { BMCSettingsSet } from '@metal/api/v1alpha1/bmc-settings-set.ts';
import { BMCUser } from '@metal/api/v1alpha1/bmc-user.ts';
import { BMCVersion } from '@metal/api/v1alpha1/bmc-version.ts';
import { BMCVersionSet } from '@metal/api/v1alpha1/bmc-version-set.ts';
import { Endpoint } from '@metal/api/v1alpha1/endpoint.ts';
import { ErasureReport } from '@metal/api/v1alpha1/erasure-report.ts';
import { FirmwareVersion } from '@metal/api/v1alpha1/firmware-version.ts';
import { FirmwareVersionSet } from '@metal/api/v1alpha1/firmware-version-set.ts';
import { MACAddressIndex } from '@metal/api/v1alpha1/mac-address-index.ts';
import { Server } from '@metal/api/v1alpha1/server.ts';
import { ServerBootConfiguration } from '@metal/api/v1alpha1/server-boot-configuration.ts';
import { ServerClaim } from '@metal/api/v1alpha1/server-claim.ts';
import { ServerInventory } from '@metal/api/v1alpha1/server-inventory.ts';
import { ServerReadinessRule } from '@metal/api/v1alpha1/server-readiness-rule.ts';
import { ServerMaintenance } from '@metal/api/v1alpha1/server-maintenance.ts';
import type { CacheSet } from '@metal/kube/cache/cache.ts';
import { keyOf, type KubeObject } from '@metal/kube/kinds/kind.ts';
import type { Cache } from '@metal/kube/cache/store.ts';
import { namedMaintenances, type NamesMaintenances } from '@metal/api/wire/named-maintenances.ts';
import { isInWindow } from '@metal/api/wire/maintenance-window.ts';
import { acceptBmcAnnotation } from '@metal/api/wire/contract.ts';
import { macIdentityOf } from '@metal/api/mac-address.ts';

/** Caches that the controllers read. Each has one watch, shared by the whole process. */
export interface OperatorCaches {
  readonly endpoints: Cache<Endpoint>;
  readonly macAddressIndexes: Cache<MACAddressIndex>;
  readonly bmcs: Cache<BMC>;
  readonly bmcSecrets: Cache<BMCSecret>;
  readonly bmcUsers: Cache<BMCUser>;
  readonly servers: Cache<Server>;
  readonly inventories: Cache<ServerInventory>;
  readonly erasures: Cache<ErasureReport>;
  readonly claims: Cache<ServerClaim>;
  readonly bootConfigurations: Cache<ServerBootConfiguration>;
  readonly readinessRules: Cache<ServerReadinessRule>;
  readonly maintenances: Cache<ServerMaintenance>;
  readonly biosSettings: Cache<BIOSSettings>;
  readonly biosVersions: Cache<BIOSVersion>;
  readonly bmcSettings: Cache<BMCSettings>;
  readonly bmcVersions: Cache<BMCVersion>;
  readonly firmwareVersions: Cache<FirmwareVersion>;
  readonly biosSettingsSets: Cache<BIOSSettingsSet>;
  readonly biosVersionSets: Cache<BIOSVersionSet>;
  readonly bmcSettingsSets: Cache<BMCSettingsSet>;
  readonly bmcVersionSets: Cache<BMCVersionSet>;
  readonly firmwareVersionSets: Cache<FirmwareVersionSet>;
}

const some = (...names: (string | undefined)[]): string[] =>
  names.filter((name) => name !== undefined && name !== '') as string[]; // the filter leaves strings only

const maintenancesOf = (update: NamesMaintenances): string[] => namedMaintenances(update).map(keyOf);
const ownersOf = ({ metadata }: KubeObject): string[] => (metadata.ownerReferences ?? []).map(({ uid }) => uid);

/**
 * Reports are kept for years, and the certificate, which repeats the report in base64, is more than half of each. Controllers only
 * check whether it exists, for which its header is enough.
 */
function withoutCertificateBody(report: ErasureReport): ErasureReport {
  const { status } = report;
  if (status?.certificate === undefined) return report;
  const [certificate = ''] = status.certificate.split('.', 1);
  return { ...report, status: { ...status, certificate } };
}

/** Firmware and BIOS attributes are for other clients, and 10 to 30 kB for each server. */
function withoutPublishedLists(inventory: ServerInventory): ServerInventory {
  const { firmware } = inventory.status ?? {};
  if (firmware === undefined) return inventory;
  return { ...inventory, status: { firmware: { ...firmware, components: [] } } };
}

/** Declares the watches of the operator and the indexes that controllers use. Services may share them. */
export function watchOperatorKinds(caches: CacheSet): OperatorCaches {
  return {
    endpoints: caches.watch(Endpoint, { indexes: { mac: ({ spec }) => some(macIdentityOf(spec?.macAddress)) } }),
    macAddressIndexes: caches.watch(MACAddressIndex),
    bmcSecrets: caches.watch(BMCSecret, {
      indexes: { owner: ownersOf },
    }),
    bmcUsers: caches.watch(BMCUser, {
      indexes: {
        bmc: ({ spec }) => some(spec.bmcRef?.name),
        secret: ({ spec }) => some(spec.bmcSecretRef?.name),
      },
    }),
    inventories: caches.watch(ServerInventory, { transform: withoutPublishedLists }),
    erasures: caches.watch(ErasureReport, {
      indexes: { server: ({ spec }) => some(spec.serverRef.uid) },
      transform: withoutCertificateBody,
    }),
    readinessRules: caches.watch(ServerReadinessRule),
    bmcs: caches.watch(BMC, {
      indexes: {
        endpoint: ({ spec }) => some(spec?.endpointRef?.name),
        secret: ({ spec }) => some(spec?.bmcSecretRef.name),
      },
    }),
    servers: caches.watch(Server, {
      indexes: {
        uuid: ({ spec }) => some(spec.systemUUID.toLowerCase()),
        state: ({ status }) => some(status?.state),
        bmc: ({ spec }) => some(spec.bmcRef?.name),
        acceptedBmc: ({ metadata }) => some(metadata.annotations?.[acceptBmcAnnotation]),
        inlineSecret: ({ spec }) => some(spec.bmc?.bmcSecretRef.name),
        claim: ({ spec }) =>
          some(spec.serverClaimRef && `${spec.serverClaimRef.namespace}/${spec.serverClaimRef.name}`),
        window: (server) => some(isInWindow(server) ? 'open' : undefined),
      },
    }),
    maintenances: caches.watch(ServerMaintenance, {
      indexes: { server: ({ spec }) => some(spec.serverRef.name), owner: ownersOf },
    }),
    claims: caches.watch(ServerClaim, { indexes: { server: ({ spec }) => some(spec.serverRef?.name) } }),
    bootConfigurations: caches.watch(ServerBootConfiguration, {
      indexes: {
        server: ({ spec }) => some(spec.serverRef.name),
        owner: ownersOf,
      },
    }),
    ...watchUpdates(caches),
  };
}

/** The kinds of settings and firmware, by the name of their server or BMC and by the UID of their set; and the sets. */
function watchUpdates(caches: CacheSet) {
  return {
    biosSettings: caches.watch(BIOSSettings, {
      indexes: { server: ({ spec }) => some(spec?.serverRef?.name), owner: ownersOf },
    }),
    biosVersions: caches.watch(BIOSVersion, {
      indexes: { server: ({ spec }) => some(spec?.serverRef?.name), owner: ownersOf, maintenance: maintenancesOf },
    }),
    bmcSettings: caches.watch(BMCSettings, {
      indexes: { bmc: ({ spec }) => some(spec?.BMCRef.name), owner: ownersOf },
    }),
    bmcVersions: caches.watch(BMCVersion, {
      indexes: { bmc: ({ spec }) => some(spec?.bmcRef?.name), owner: ownersOf, maintenance: maintenancesOf },
    }),
    firmwareVersions: caches.watch(FirmwareVersion, {
      indexes: { server: ({ spec }) => some(spec.serverRef.name), owner: ownersOf },
    }),
    biosSettingsSets: caches.watch(BIOSSettingsSet),
    biosVersionSets: caches.watch(BIOSVersionSet),
    bmcSettingsSets: caches.watch(BMCSettingsSet),
    bmcVersionSets: caches.watch(BMCVersionSet),
    firmwareVersionSets: caches.watch(FirmwareVersionSet),
  } satisfies Partial<OperatorCaches>;
}
