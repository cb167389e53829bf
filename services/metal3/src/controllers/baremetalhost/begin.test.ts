import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Store } from '@metal/kube/cache/store.ts';
import type { Secret } from '@metal/kube/kinds/builtin.ts';
import { Registry } from 'prom-client';
import type { Metal3Context } from '../../context.ts';
import { HostMetrics } from '../../host-metrics.ts';
import { readCredentials } from './begin.ts';
import { hostIn } from '../../../test/baremetalhost/example-host.ts';

for (const [title, find, metric] of [
  ['that cannot be read', () => Promise.reject(new Error('no API server')), 'metal3_credentials_unhandled_error_total'],
  ['that does not exist', () => Promise.resolve(undefined), 'metal3_credentials_missing_total'],
] as const)
  test(`a Secret of the BMC ${title} is counted`, async () => {
    const registry = new Registry();
    const caches = { secrets: new Store<Secret>() };
    // The members that the credentials need.
    const context = { client: { find }, caches, hostMetrics: new HostMetrics(registry) } as unknown as Metal3Context;
    await readCredentials(hostIn('available'), context).catch(() => undefined);
    const counted = (await registry.getMetricsAsJSON()).filter(({ values }) => values.some(({ value }) => value > 0));
    assert.deepEqual(
      counted.map(({ name }) => name),
      [metric],
    );
  });
