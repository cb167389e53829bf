import { leaderElectionLeaseName } from '@metal/api/wire/contract.ts';
import { Presence } from '@metal/kube/election/presence.ts';
import { ScrapedMetric } from '@metal/kube/runtime/scraped-metric.ts';
import type { Registry } from 'prom-client';
import type { Shared } from './services.ts';

const unelectedGroup = 'metal-operator-unelected';

/** Processes that elect a leader do not work at once; those that do not have a lease each. */
export const presenceOf = ({ client, clock, log, identity, config: { operator, leaderElect } }: Shared): Presence =>
  new Presence({
    client,
    clock,
    log,
    namespace: operator.managerNamespace,
    group: unelectedGroup,
    identity,
    leaderLease: leaderElect ? undefined : leaderElectionLeaseName,
  });

export function exportOtherOperators(registry: Registry, presence: Presence): void {
  void new ScrapedMetric({
    registry,
    name: 'metal_other_operators',
    help: 'Other processes that work on the same objects, of which at most one has leader election',
    read: () => [{ labels: {}, value: presence.others.length }],
  });
}
