import type { BMC } from '@metal/api/v1alpha1/bmc.ts';
import type { BMCSecret } from '@metal/api/v1alpha1/bmc-secret.ts';
import type { BMCUser } from '@metal/api/v1alpha1/bmc-user.ts';
import type { Endpoint } from '@metal/api/v1alpha1/endpoint.ts';
import type { ErasureReport } from '@metal/api/v1alpha1/erasure-report.ts';
import type { MACAddressIndex } from '@metal/api/v1alpha1/mac-address-index.ts';
import type { Server } from '@metal/api/v1alpha1/server.ts';
import type { ServerBootConfiguration } from '@metal/api/v1alpha1/server-boot-configuration.ts';
import type { ServerClaim } from '@metal/api/v1alpha1/server-claim.ts';
import type { ServerInventory } from '@metal/api/v1alpha1/server-inventory.ts';
import type { ServerReadinessRule } from '@metal/api/v1alpha1/server-readiness-rule.ts';
import type { ServerMaintenance } from '@metal/api/v1alpha1/server-maintenance.ts';
import type { Cache } from '@metal/kube/cache.ts';
import type { KubeClient } from '@metal/kube/client.ts';
import type { Clock } from '@metal/kube/clock.ts';
import type { ObservedAccounts } from './account-memories.ts';
import type { BmcConnectionPool } from './bmc-access.ts';
import type { OperatorConfig } from './config.ts';
import type { DiscoveryLimiter } from './discovery-pace.ts';
import type { DiscoveryIgnition } from './discovery-ignition.ts';
import type { DnsRecords } from './dns-records.ts';
import type { MacPrefixes } from './mac-prefixes.ts';
import type { ReportedWarnings } from './notices.ts';
import type { CleanupQueue } from './cleanup-ledger.ts';
import type { ReadinessSummary } from './readiness-standings.ts';
import type { ClaimScheduler } from './scheduler.ts';
import type { SecretsInUse } from './secrets-in-use.ts';

/** What the controllers read from. Each cache is one watch, shared by everybody in the process. */
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

/** The world of a controller: everything it may look at or act through, and nothing else. */
export interface OperatorContext {
  readonly client: KubeClient;
  readonly caches: OperatorCaches;
  readonly clock: Clock;
  readonly config: OperatorConfig;
  readonly macPrefixes: MacPrefixes;
  readonly bmcConnections: BmcConnectionPool;
  readonly observedAccounts: ObservedAccounts;
  readonly secretsInUse: SecretsInUse;
  readonly reportedWarnings: ReportedWarnings;
  readonly scheduler: ClaimScheduler;
  readonly readiness: ReadinessSummary;
  readonly cleanupQueue: CleanupQueue;
  readonly discoveryLimiter: DiscoveryLimiter;
  readonly discoveryIgnition: DiscoveryIgnition;
  /** Undefined where the site wants none. */
  readonly dnsRecords: DnsRecords | undefined;
  /** Key that boot tokens and event tokens are derived from; created in the manager namespace on first use. */
  readonly bootTokenKey: () => Promise<Uint8Array>;
}
