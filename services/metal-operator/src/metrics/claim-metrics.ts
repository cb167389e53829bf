import type { ServerClaim } from '@metal/api/v1alpha1/server-claim.ts';
import { claimController } from '@metal/operator/controllers/serverclaim/controller.ts';
import type { Registry } from 'prom-client';
import type { Cache } from '@metal/kube/cache/store.ts';
import { type Sample, samplesOfEach, ScrapedMetric } from '@metal/kube/runtime/scraped-metric.ts';

const phases = Object.keys(claimController.transitions);
const phaseOf = ({ status }: ServerClaim): string => status?.phase || 'Unbound';

/** Claims by phase, and those that wait with the time since when. */
export function exportClaims(registry: Registry, claims: Cache<ServerClaim>): void {
  void new ScrapedMetric({
    registry,
    name: 'metal_claims',
    help: 'Claims by phase',
    read: () => {
      const counts = new Map(phases.map((phase) => [phase, 0]));
      for (const claim of claims.all()) counts.set(phaseOf(claim), (counts.get(phaseOf(claim)) ?? 0) + 1);
      return [...counts].map(([phase, value]) => ({ labels: { phase }, value }));
    },
  });
  void new ScrapedMetric({
    registry,
    name: 'metal_claim_unbound_since_timestamp_seconds',
    help: 'Creation of a claim that has no server yet, in seconds since 1970; a claim that has or had one is not here',
    read: () => samplesOfEach(claims.all(), waiting),
  });
}

function waiting(claim: ServerClaim): Sample[] {
  const { name, namespace = '', creationTimestamp, deletionTimestamp } = claim.metadata;
  const since = Date.parse(creationTimestamp ?? '');
  if (phaseOf(claim) !== 'Unbound' || deletionTimestamp !== undefined || Number.isNaN(since)) return [];
  // Prometheus overwrites a label called namespace with that of the process it asks.
  return [{ labels: { claim: name, claim_namespace: namespace }, value: since / 1_000 }];
}
