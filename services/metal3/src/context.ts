import type { KubeClient } from '@metal/kube/client/client.ts';
import type { Clock } from '@metal/kube/runtime/clock.ts';
import type { BackEnds } from './back-ends.ts';
import type { Metal3Caches } from './caches.ts';
import type { HostMetrics } from './host-metrics.ts';
import type { FirmwareReads } from './objects/firmware-reads.ts';
import type { Metal3Config } from './options.ts';

/** Everything that the controllers of Metal3 read and act through. */
export interface Metal3Context {
  readonly client: KubeClient;
  readonly caches: Metal3Caches;
  readonly clock: Clock;
  /** Uniform in [0, 1). */
  readonly random: () => number;
  readonly config: Metal3Config;
  readonly backEnds: BackEnds;
  readonly hostMetrics: HostMetrics;
  readonly firmwareReads: FirmwareReads;
}
