import { bringUp, oneServer } from './bring-up.ts';
import { claimStorm } from './claim-storm.ts';
import { failover } from './failover.ts';
import { hosts } from './hosts.ts';
import { releaseStorm } from './release-storm.ts';
import { rollout } from './rollout.ts';
import { restart } from './restart.ts';
import type { Scenario } from './scenario.ts';
import { shards } from './shards.ts';
import { steady } from './steady.ts';
import { degradedFleet } from './degraded-fleet.ts';

/** In the order of execution: each starts with the fleet of the previous one if possible. */
export const scenarios: readonly Scenario[] = [
  oneServer,
  bringUp,
  claimStorm,
  restart,
  releaseStorm,
  steady,
  degradedFleet,
  failover,
  shards,
  rollout,
  hosts,
];
