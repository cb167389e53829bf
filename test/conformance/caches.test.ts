import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ConfigMap } from '@metal/kube/builtin.ts';
import { type Cache, CacheSet } from '@metal/kube/cache.ts';
import { createKubeClient, type KubeClient } from '@metal/kube/client.ts';
import { createClock } from '@metal/kube/clock.ts';
import type { ControlPlane } from '@metal/controlplane/control-plane.ts';
import { openCluster } from '@metal/lab/cluster.ts';
import { pino } from 'pino';
import { Registry } from 'prom-client';

const namespace = 'default';
const count = 40;

/** A cluster that holds some objects, and what a process is that follows them. */
async function follow(cluster: ControlPlane, metrics = new Registry()) {
  const stack = new AsyncDisposableStack();
  const client = stack.use(createKubeClient({ kubeconfigPath: cluster.kubeconfigPath, metrics }));
  const caches = new CacheSet({ client, clock: createClock(), log: pino({ level: 'silent' }), metrics });
  const maps = caches.watch(ConfigMap, { namespace, labelSelector: 'group=followed' });
  stack.defer(() => caches.stop());
  await caches.start();
  return { client, maps, metrics, [Symbol.asyncDispose]: () => stack.disposeAsync() };
}

const requests = async (metrics: Registry): Promise<Record<string, number>> => {
  const values = (await metrics.getSingleMetric('kube_client_requests_total')?.get())?.values ?? [];
  return Object.fromEntries(values.map(({ labels, value }) => [String(labels.verb), value]));
};

const write = (client: KubeClient, name: string): Promise<ConfigMap> =>
  client.create(ConfigMap, { metadata: { name, namespace, labels: { group: 'followed' } }, data: { name } });

/** Resolves when the cache shows, or no longer shows, an object that somebody else wrote. */
function until(maps: Cache<ConfigMap>, holds: () => boolean): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const check = () => holds() && resolve();
  const listening = maps.onChange(check);
  check();
  return promise.finally(() => listening[Symbol.dispose]());
}

/** The same must hold however the list comes. */
async function isCompleteAndFollows(cluster: ControlPlane, metrics: Registry): Promise<void> {
  await using other = createKubeClient({ kubeconfigPath: cluster.kubeconfigPath, defaultFieldManager: 'other' });
  await Promise.all(Array.from({ length: count }, (_, index) => write(other, `map-${index}`)));
  await using followed = await follow(cluster, metrics);
  const { maps } = followed;
  assert.equal(maps.size, count, 'complete when it says so');
  await write(other, 'later');
  await other.delete(ConfigMap, { name: 'map-7', namespace });
  await until(maps, () => maps.get({ name: 'map-7', namespace }) === undefined && maps.size === count);
  assert.equal(maps.get({ name: 'later', namespace })?.data?.name, 'later');
}

test('a cache begins with a streamed list, which goes on as its watch', async () => {
  await using cluster = await openCluster({ crds: false });
  const metrics = new Registry();
  await isCompleteAndFollows(cluster, metrics);
  assert.deepEqual(await requests(metrics), { watch: 1 });
});

test('where lists are not streamed a cache reads pages', async () => {
  await using cluster = await openCluster({ crds: false, apiServerFlags: ['--feature-gates=WatchList=false'] });
  const metrics = new Registry();
  await isCompleteAndFollows(cluster, metrics);
  assert.deepEqual(await requests(metrics), { watch: 2, list: 1 }, 'asked for a stream once, and refused');
});

test('what the cache keeps is without managedFields, and a write leaves them as they are', async () => {
  await using cluster = await openCluster({ crds: false });
  await using followed = await follow(cluster);
  const { client, maps } = followed;
  await write(client, 'map');
  const kept = maps.get({ name: 'map', namespace });
  assert.ok(kept !== undefined && !('managedFields' in kept.metadata));
  await client.mergePatch(ConfigMap, kept.metadata, { metadata: { ...kept.metadata, labels: { group: 'other' } } });
  const fieldsOf = async () => (await client.get<ConfigMap & WithManagedFields>(ConfigMap, kept.metadata)).metadata;
  assert.deepEqual(
    (await fieldsOf()).managedFields?.map(({ manager }) => manager),
    ['metal-operator'],
  );
});

interface WithManagedFields {
  metadata: { managedFields?: { manager: string }[] };
}

test('it is measured how long a watch takes to tell what this process has written', async () => {
  await using cluster = await openCluster({ crds: false });
  await using followed = await follow(cluster);
  const { client, maps, metrics } = followed;
  await using other = createKubeClient({ kubeconfigPath: cluster.kubeconfigPath, defaultFieldManager: 'other' });
  await Promise.all(Array.from({ length: count }, (_, index) => write(client, `map-${index}`)));
  await write(other, 'last');
  // Events come in the order of the writes.
  await until(maps, () => maps.get({ name: 'last', namespace }) !== undefined);
  const lags = (await metrics.getSingleMetric('kube_cache_watch_lag_seconds')?.get())?.values ?? [];
  const measured = lags.find(({ labels }) => labels.le === '+Inf')?.value ?? 0;
  const unmeasured = count - measured;
  assert.ok(measured <= count && unmeasured < count, `of ${count} writes ${measured} were measured`);
});
