import type { Registry } from 'prom-client';
import { type Sample, ScrapedMetric } from '@metal/kube/runtime/scraped-metric.ts';

/** Turns of every controller by result; there only while this process leads. */
const source = 'controller_runtime_reconcile_total';

/**
 * Turns of the server controller as v0.7.0 counted them, derived from what is counted for every controller. error_fetch
 * stays 0: objects come from a cache, which is never asked in vain.
 */
export function exportServerReconciles(registry: Registry): void {
  void new ScrapedMetric({
    registry,
    name: 'metal_server_reconciliation_total',
    help: 'Turns of the server controller by result',
    type: 'counter',
    read: async () => {
      const series = (await registry.getSingleMetric(source)?.get())?.values ?? [];
      const counts = { success: 0, error_fetch: 0, error_reconcile: 0 };
      for (const { labels, value } of series) {
        if (labels.controller === 'server') counts[labels.result === 'error' ? 'error_reconcile' : 'success'] += value;
      }
      return Object.entries(counts).map(([result, value]): Sample => ({ labels: { result }, value }));
    },
  });
}
