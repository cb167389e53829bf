import assert from 'node:assert/strict';
import { test } from 'node:test';
import { IPXEBootConfig } from '@metal/api/v1alpha1/ipxe-boot-config.ts';
import { ConfigMap, Secret } from '@metal/kube/kinds/builtin.ts';
import { CacheSet } from '@metal/kube/cache/cache.ts';
import { createKubeClient, type KubeClient } from '@metal/kube/client/client.ts';
import { createClock } from '@metal/kube/runtime/clock.ts';
import { KubeError } from '@metal/kube/errors.ts';
import { installKinds } from '@metal/kube/client/install-kinds.ts';
import type { KubeObject } from '@metal/kube/kinds/kind.ts';
import { type RelayedRequest, ApiServerRelay } from '@metal/testenv/proxies/api-server-relay.ts';
import { clientWith } from '@metal/testenv/cluster/client-with.ts';
import { type Cluster, openCluster, startCluster } from '@metal/testenv/cluster/cluster.ts';
import { pino } from 'pino';
import type { Cache } from '@metal/kube/cache/store.ts';
import type { ControlPlane } from '@metal/controlplane/running-control-plane.ts';
import { Registry } from 'prom-client';

const namespace = 'default';
const count = 40;

/** A client with caches that follow the objects of a cluster. */
async function follow({ kubeconfigPath }: Pick<ControlPlane, 'kubeconfigPath'>, metrics = new Registry()) {
  const stack = new AsyncDisposableStack();
  const client = stack.use(createKubeClient({ kubeconfigPath, metrics }));
  const caches = new CacheSet({ client, clock: createClock(), log: pino({ level: 'silent' }), metrics });
  const maps = caches.watch(ConfigMap, { namespace, labelSelector: 'group=followed' });
  stack.defer(() => caches.stop());
  await caches.start();
  return { client, caches, maps, metrics, [Symbol.asyncDispose]: () => stack.disposeAsync() };
}

const requests = async (metrics: Registry): Promise<Record<string, number>> => {
  const values = (await metrics.getSingleMetric('kube_client_requests_total')?.get())?.values ?? [];
  return Object.fromEntries(values.map(({ labels, value }) => [String(labels.verb), value]));
};

const write = (client: KubeClient, name: string): Promise<ConfigMap> =>
  client.create(ConfigMap, { metadata: { name, namespace, labels: { group: 'followed' } }, data: { name } });

/** Resolves when the cache shows, or no longer shows, an object that another client wrote. */
function until(maps: Cache<ConfigMap>, holds: () => boolean): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const check = () => holds() && resolve();
  const listening = maps.onChange(check);
  check();
  return promise.finally(() => listening[Symbol.dispose]());
}

/** Checks the cache, whatever kind of list it starts with. */
async function isCompleteAndFollows(cluster: Cluster, metrics: Registry): Promise<void> {
  await using other = createKubeClient({ kubeconfigPath: cluster.kubeconfigPath, defaultFieldManager: 'other' });
  await Promise.all(Array.from({ length: count }, (_, index) => write(other, `map-${index}`)));
  await using followed = await follow(cluster, metrics);
  const { maps } = followed;
  assert.equal(maps.size, count, 'complete once started');
  await write(other, 'later');
  await other.delete(ConfigMap, { name: 'map-7', namespace });
  await until(maps, () => maps.get({ name: 'map-7', namespace }) === undefined && maps.size === count);
  assert.equal(maps.get({ name: 'later', namespace })?.data?.name, 'later');
}

test('a cache starts with a streamed list, which continues as its watch', async () => {
  await using cluster = await openCluster();
  const metrics = new Registry();
  await isCompleteAndFollows(cluster, metrics);
  assert.deepEqual(await requests(metrics), { watch: 1 });
});

test('a cache lists in pages where streamed lists are not supported', async () => {
  await using cluster = await startCluster({ crds: false, apiServerFlags: ['--feature-gates=WatchList=false'] });
  const metrics = new Registry();
  await isCompleteAndFollows(cluster, metrics);
  assert.deepEqual(await requests(metrics), { watch: 2, list: 1 }, 'a stream was requested once, and rejected');
});

test('a cached object has no managedFields, and a write of it leaves them unchanged', async () => {
  await using cluster = await openCluster();
  await using followed = await follow(cluster);
  const { client, maps } = followed;
  await write(client, 'map');
  const kept = maps.get({ name: 'map', namespace });
  assert.ok(kept !== undefined && !('managedFields' in kept.metadata));
  await client.mergePatch(ConfigMap, kept.metadata, { metadata: { ...kept.metadata, labels: { group: 'other' } } });
  const fieldsOf = async () => (await client.get(ConfigMap, kept.metadata)).metadata;
  assert.deepEqual(
    (await fieldsOf()).managedFields?.map(({ manager }) => manager),
    ['metal-operator'],
  );
});

test('the lag between a write of this process and its watch event is measured', async () => {
  await using cluster = await openCluster();
  await using followed = await follow(cluster);
  const { client, maps, metrics } = followed;
  await using other = createKubeClient({ kubeconfigPath: cluster.kubeconfigPath, defaultFieldManager: 'other' });
  await Promise.all(Array.from({ length: count }, (_, index) => write(client, `map-${index}`)));
  await write(other, 'last');
  // Events arrive in the order of the writes.
  await until(maps, () => maps.get({ name: 'last', namespace }) !== undefined);
  const lags = (await metrics.getSingleMetric('kube_cache_watch_lag_seconds')?.get())?.values ?? [];
  const measured = lags.find(({ labels }) => labels.le === '+Inf')?.value ?? 0;
  const unmeasured = count - measured;
  assert.ok(measured <= count && unmeasured < count, `of ${count} writes ${measured} were measured`);
});

const resumesWatch = ({ path }: RelayedRequest): boolean =>
  path.includes('watch=true') && path.includes('resourceVersion=');

/** A cache with a dead watch, which only a list can update. */
async function followWithDeadWatch(cluster: ControlPlane, relay: ApiServerRelay, metrics: Registry) {
  const followed = await follow(relay, metrics);
  relay.hold(resumesWatch);
  const { promise: isWatchDead, resolve } = Promise.withResolvers<void>();
  using _held = relay.onChange(() => relay.held > 0 && resolve());
  await cluster.stopApiServer();
  await cluster.startApiServer();
  await isWatchDead;
  return followed;
}

const rounds = 10;

/** The requests of a relist to the API server, by verb. */
async function requestsOfRelists(cluster: ControlPlane): Promise<Record<string, number>> {
  await using other = createKubeClient({ kubeconfigPath: cluster.kubeconfigPath, defaultFieldManager: 'other' });
  await write(other, 'deleted');
  await using relay = await ApiServerRelay.to(cluster.kubeconfigPath);
  const metrics = new Registry();
  await using followed = await followWithDeadWatch(cluster, relay, metrics);
  const before = await requests(metrics);
  const { caches, maps } = followed;
  await other.delete(ConfigMap, { name: 'deleted', namespace });
  for (let written = 1; written <= rounds; written += 1) {
    await write(other, `map-${written}`);
    await caches.relist();
    const names = [...maps.all()].map(({ metadata }) => metadata.name);
    assert.deepEqual(
      names,
      Array.from({ length: written }, (_, index) => `map-${index + 1}`),
    );
  }
  const after = await requests(metrics);
  return Object.fromEntries(Object.entries(after).map(([verb, sum]) => [verb, sum - (before[verb] ?? 0)]));
}

test('a relist reads all earlier writes over a streamed list, although the watch is dead', async () => {
  await using cluster = await startCluster({ crds: false });
  assert.deepEqual(await requestsOfRelists(cluster), { watch: rounds });
});

test('a relist lists in pages where streamed lists are not supported', async () => {
  await using cluster = await startCluster({ crds: false, apiServerFlags: ['--feature-gates=WatchList=false'] });
  assert.deepEqual(await requestsOfRelists(cluster), { watch: 0, list: rounds });
});

test('a relist lists a newly installed kind in pages where streamed lists are not supported', async () => {
  await using cluster = await startCluster({ crds: false, apiServerFlags: ['--feature-gates=WatchList=false'] });
  await using client = createKubeClient({ kubeconfigPath: cluster.kubeconfigPath });
  const caches = new CacheSet({ client, clock: createClock(), log: pino({ level: 'silent' }) });
  await using _stopped = { [Symbol.asyncDispose]: () => caches.stop() };
  const configs = caches.watch(IPXEBootConfig, { isOptional: true });
  await caches.start();
  await caches.relist();
  assert.equal(configs.size, 0);
  await using other = createKubeClient({ kubeconfigPath: cluster.kubeconfigPath, defaultFieldManager: 'other' });
  await installKinds(other, [IPXEBootConfig]);
  await other.create(IPXEBootConfig, {
    metadata: { name: 'late', namespace },
    spec: { kernelURL: 'k', initrdURL: 'i' },
  });
  await caches.relist();
  assert.equal(configs.size, 1);
});

test('a relist with one failed list fails immediately and aborts the other lists', async () => {
  await using cluster = await openCluster();
  await using relay = await ApiServerRelay.to(cluster.kubeconfigPath);
  await using real = createKubeClient({ kubeconfigPath: relay.kubeconfigPath });
  const othersWaiting = Promise.withResolvers<void>();
  const othersAborted = Promise.withResolvers<void>();
  let isFailing = false;
  const watch: KubeClient['watch'] = async function* (kind, options) {
    if (isFailing && kind.kind === 'Secret') {
      await othersWaiting.promise;
      throw new KubeError({ code: 'Unreachable', message: 'the API server is unreachable' });
    }
    yield* real.watch(kind, options);
  };
  const client = clientWith(real, { watch }, ['observeOwnWrites']);
  const caches = new CacheSet({ client, clock: createClock(), log: pino({ level: 'silent' }) });
  await using _stopped = { [Symbol.asyncDispose]: () => caches.stop() };
  for (const kind of [ConfigMap, Secret]) caches.watch<KubeObject>(kind);
  await caches.start();

  isFailing = true;
  relay.hold(({ path }) => path.includes('/configmaps') && path.includes('sendInitialEvents'));
  using _listening = relay.onChange(() => (relay.held > 0 ? othersWaiting : othersAborted).resolve());
  await assert.rejects(caches.relist(), /the API server is unreachable/);
  await othersAborted.promise;
});
