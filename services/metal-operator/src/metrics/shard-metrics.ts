import type { ShardMembership } from '@metal/kube/election/shards/membership.ts';
import type { OperatorCaches } from '@metal/operator/caches.ts';
import { shardKeyOfBmc } from '@metal/operator/bmc-connections/shard-key.ts';
import type { Registry } from 'prom-client';
import { ScrapedMetric } from '@metal/kube/runtime/scraped-metric.ts';

/** The share of this replica. Without shards the metrics have no samples. */
export function exportShardMetrics(
  registry: Registry,
  { membership, caches }: { membership: ShardMembership | undefined; caches: Pick<OperatorCaches, 'bmcs'> },
): void {
  void new ScrapedMetric({
    registry,
    name: 'metal_shard_members',
    help: 'Replicas that divide the BMCs among themselves, as observed by this one',
    read: () => (membership === undefined ? [] : [{ labels: {}, value: membership.members.length }]),
  });
  void new ScrapedMetric({
    registry,
    name: 'metal_shard_bmcs',
    help: 'BMCs that this replica may act on',
    read: () => {
      if (membership === undefined) return [];
      return [
        { labels: {}, value: [...caches.bmcs.all()].filter((bmc) => membership.isOwner(shardKeyOfBmc(bmc))).length },
      ];
    },
  });
  void new ScrapedMetric({
    registry,
    name: 'metal_shard_hand_overs_total',
    help: 'Times that this replica gained BMCs from others, or lost some to them',
    type: 'counter',
    read: () => {
      if (membership === undefined) return [];
      const { gained, lost } = membership.shardMoves;
      return [
        { labels: { direction: 'gained' }, value: gained },
        { labels: { direction: 'lost' }, value: lost },
      ];
    },
  });
}
