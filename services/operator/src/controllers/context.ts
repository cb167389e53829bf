import type { OperatorCaches } from '../caches.ts';
import type { KubeClient } from '@metal/kube/client/client.ts';
import type { Clock } from '@metal/kube/runtime/clock.ts';
import type { KeyedMutex } from '@metal/kube/runtime/keyed-mutex.ts';
import type { BmcConnectionPool } from '../bmc-connections/connection-pool.ts';
import type { OperatorConfig } from '../options.ts';
import type { DiscoveryLimiter } from './endpoint/discovery-limiter.ts';
import type { DiscoveryIgnition } from './server/discovery/discovery-ignition.ts';
import type { DnsRecords } from './bmc/dns/dns-records.ts';
import type { MacPrefixes } from '@metal/api/mac-prefixes.ts';
import type { MaintenanceSlots } from '../maintenance/maintenance-slots.ts';
import type { CleanupQueue } from '../cleanup/cleanup-queue.ts';
import type { ReadinessSummary } from '../readiness/readiness-summary.ts';
import type { ClaimScheduler } from '../scheduling/scheduler.ts';
import type { SecretsInUse } from './bmcuser/secrets-in-use.ts';
import type { ImageChecks } from '../update-engine/image-checks.ts';

/** Everything that controllers read and act through. */
export interface OperatorContext {
  readonly client: KubeClient;
  readonly caches: OperatorCaches;
  readonly clock: Clock;
  readonly config: OperatorConfig;
  readonly macPrefixes: MacPrefixes;
  readonly bmcConnections: BmcConnectionPool;
  /** One change of accounts at a time per BMC: two accounts must not take the same slot. */
  readonly accountChanges: KeyedMutex;
  readonly secretsInUse: SecretsInUse;
  /** The limit of servers in maintenance; the leader alone gives servers to maintenances. */
  readonly maintenanceSlots: MaintenanceSlots;
  /** Sets start their updates one set at a time: together they must not exceed a limit. */
  readonly rolloutStarts: KeyedMutex;
  readonly scheduler: ClaimScheduler;
  readonly readiness: ReadinessSummary;
  readonly cleanupQueue: CleanupQueue;
  readonly discoveryLimiter: DiscoveryLimiter;
  readonly discoveryIgnition: DiscoveryIgnition;
  readonly imageChecks: ImageChecks;
  /** Undefined where the site wants none. */
  readonly dnsRecords: DnsRecords | undefined;
  /** Key that boot tokens and event tokens are derived from; created in the manager namespace on first use. */
  readonly bootTokenKey: () => Promise<Uint8Array>;
}
