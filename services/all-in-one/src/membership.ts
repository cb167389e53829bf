import { leaseNameOf, memberLeases } from '@metal/kube/shards/member-leases.ts';
import { Membership } from '@metal/kube/shards/membership.ts';
import type { Shared } from './service-parts.ts';

/** Leases of replicas are called `metal-operator-<identity>`. */
export const replicaGroup = 'metal-operator';

/** This process among the replicas that share the BMCs, with the times of the leader's lease. */
export function membershipOf({ client, clock, log, config, identity }: Shared): Membership {
  const leases = memberLeases({
    client,
    clock,
    namespace: config.managerNamespace,
    group: replicaGroup,
    identity,
    leaseMs: config.lease.leaseMs,
  });
  const self = leaseNameOf(replicaGroup, identity);
  return new Membership({ self, leases, times: config.lease, clock, log: log.child({ part: 'shards' }) });
}
