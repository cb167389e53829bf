import { leaseNameOf, memberLeases } from '@metal/kube/election/shards/member-leases.ts';
import { ShardMembership } from '@metal/kube/election/shards/membership.ts';
import type { MemberLeases } from '@metal/kube/election/shards/membership-options.ts';
import type { Shared } from './services.ts';

/** Leases of replicas are called `metal-operator-<identity>`. */
export const replicaGroup = 'metal-operator';

/** The leases of all replicas that share the BMCs, with the times of the leader's lease. */
export const leasesOfReplicas = ({ client, clock, config, identity }: Shared): MemberLeases =>
  memberLeases({
    client,
    clock,
    namespace: config.managerNamespace,
    group: replicaGroup,
    identity,
    leaseMs: config.lease.leaseMs,
  });

/** This process among them. */
export function membershipOf(shared: Shared): ShardMembership {
  const { clock, log, config, identity } = shared;
  return new ShardMembership({
    self: leaseNameOf(replicaGroup, identity),
    leases: leasesOfReplicas(shared),
    times: config.lease,
    clock,
    log: log.child({ part: 'shards' }),
  });
}
