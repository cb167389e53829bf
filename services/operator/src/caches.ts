import { BMC } from '@metal/api/v1alpha1/bmc.ts';
import { BMCSecret } from '@metal/api/v1alpha1/bmc-secret.ts';
import { BMCUser } from '@metal/api/v1alpha1/bmc-user.ts';
import { Endpoint } from '@metal/api/v1alpha1/endpoint.ts';
import { ErasureReport } from '@metal/api/v1alpha1/erasure-report.ts';
import { MACAddressIndex } from '@metal/api/v1alpha1/mac-address-index.ts';
import { Server } from '@metal/api/v1alpha1/server.ts';
import { ServerBootConfiguration } from '@metal/api/v1alpha1/server-boot-configuration.ts';
import { ServerClaim } from '@metal/api/v1alpha1/server-claim.ts';
import { ServerInventory } from '@metal/api/v1alpha1/server-inventory.ts';
import { ServerReadinessRule } from '@metal/api/v1alpha1/server-readiness-rule.ts';
import { ServerMaintenance } from '@metal/api/v1alpha1/server-maintenance.ts';
import type { CacheSet } from '@metal/kube/cache/cache.ts';
import type { Cache } from '@metal/kube/cache/store.ts';
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
}

const some = (...names: (string | undefined)[]): string[] =>
  names.filter((name) => name !== undefined && name !== '') as string[]; // the filter leaves strings only

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

/** Declares the watches of the operator and the indexes that controllers use. Services may share them. */
export function watchOperatorKinds(caches: CacheSet): OperatorCaches {
  return {
    endpoints: caches.watch(Endpoint, { indexes: { mac: ({ spec }) => some(macIdentityOf(spec?.macAddress)) } }),
    macAddressIndexes: caches.watch(MACAddressIndex),
    bmcSecrets: caches.watch(BMCSecret, {
      indexes: { owner: ({ metadata }) => (metadata.ownerReferences ?? []).map(({ uid }) => uid) },
    }),
    bmcUsers: caches.watch(BMCUser, {
      indexes: {
        bmc: ({ spec }) => some(spec.bmcRef?.name),
        secret: ({ spec }) => some(spec.bmcSecretRef?.name),
      },
    }),
    inventories: caches.watch(ServerInventory),
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
        inlineSecret: ({ spec }) => some(spec.bmc?.bmcSecretRef.name),
        claim: ({ spec }) =>
          some(spec.serverClaimRef && `${spec.serverClaimRef.namespace}/${spec.serverClaimRef.name}`),
      },
    }),
    maintenances: caches.watch(ServerMaintenance, { indexes: { server: ({ spec }) => some(spec.serverRef.name) } }),
    claims: caches.watch(ServerClaim, { indexes: { server: ({ spec }) => some(spec.serverRef?.name) } }),
    bootConfigurations: caches.watch(ServerBootConfiguration, {
      indexes: {
        server: ({ spec }) => some(spec.serverRef.name),
        owner: ({ metadata }) => (metadata.ownerReferences ?? []).map(({ uid }) => uid),
      },
    }),
  };
}
