import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ofChosen } from './dashboard.ts';

test('every metric of a query is limited to the chosen clusters and jobs, and nothing else of it changes', () => {
  const chosen = 'cluster=~"$cluster",job=~"$job"';
  assert.equal(
    ofChosen('sum by (claim_namespace) (rate(metal_claims{phase="Bound"}[$__rate_interval])) > on (server) up_x'),
    `sum by (claim_namespace) (rate(metal_claims{${chosen},phase="Bound"}[$__rate_interval])) > on (server) up_x`,
  );
  assert.equal(
    ofChosen('histogram_quantile(0.5, workqueue_depth + process_cpu_seconds_total)'),
    `histogram_quantile(0.5, workqueue_depth{${chosen}} + process_cpu_seconds_total{${chosen}})`,
  );
});
