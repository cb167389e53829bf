import assert from 'node:assert/strict';
import { request } from 'node:http';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { IPXEBootConfig } from '@metal/api/v1alpha1/ipxe-boot-config.ts';
import { ConfigMap } from '@metal/kube/builtin.ts';
import { type Cache, CacheSet } from '@metal/kube/cache.ts';
import { createKubeClient, type KubeClient } from '@metal/kube/client.ts';
import { createClock } from '@metal/kube/clock.ts';
import { installKinds } from '@metal/kube/install-kinds.ts';
import type { KubeObject } from '@metal/kube/kind.ts';
import { startCluster } from '@metal/lab/cluster.ts';
import { pino } from 'pino';

const log = pino({ level: 'silent' });
const cluster = startCluster({ crds: false });
after(async () => (await cluster)[Symbol.asyncDispose]());

const namespace = 'default';
const connect = async (defaultFieldManager = 'first'): Promise<KubeClient> =>
  createKubeClient({ kubeconfigPath: (await cluster).kubeconfigPath, defaultFieldManager });
const map = (name: string, data: Record<string, string> = {}, labels: Record<string, string> = {}) => ({
  metadata: { name, namespace, labels },
  data,
});

async function follow(
  client: KubeClient,
  labelSelector: string,
): Promise<{ maps: Cache<ConfigMap>; caches: CacheSet } & AsyncDisposable> {
  const caches = new CacheSet({ client, clock: createClock(), log });
  const maps = caches.watch(ConfigMap, {
    namespace,
    labelSelector,
    indexes: { color: ({ data }) => (data?.color === undefined ? [] : [data.color]) },
  });
  await caches.start();
  return { maps, caches, [Symbol.asyncDispose]: () => caches.stop() };
}

function until<T extends KubeObject>(cache: Cache<T>, holds: () => boolean): Promise<void> {
  return new Promise((resolve) => {
    const check = () => {
      if (!holds()) return;
      subscription[Symbol.dispose]();
      resolve();
    };
    const subscription = cache.onChange(check);
    check();
  });
}

test('a list is put together from pages', async () => {
  await using client = await connect();
  await Promise.all(
    Array.from({ length: 11 }, (_, index) => client.create(ConfigMap, map(`page-${index}`, {}, { group: 'pages' }))),
  );
  const { items, resourceVersion } = await client.list(ConfigMap, {
    namespace,
    labelSelector: 'group=pages',
    pageSize: 3,
  });
  assert.equal(new Set(items.map(({ metadata }) => metadata.name)).size, 11);
  assert.match(resourceVersion, /^\d+$/);
  assert.deepEqual([items[0]?.apiVersion, items[0]?.kind], ['v1', 'ConfigMap']);
});

test('what another lane of a client writes shows in its caches at once, and lanes end with the client', async () => {
  const client = await connect();
  await using followed = await follow(client, 'group=lanes');
  const machines = client.inLane('machine');
  await machines.create(ConfigMap, map('lane', { color: 'red' }, { group: 'lanes' }));
  assert.equal(followed.maps.by('color', 'red').length, 1);
  await followed.caches.stop();
  await client[Symbol.asyncDispose]();
  await assert.rejects(machines.get(ConfigMap, { namespace, name: 'lane' }), { code: 'Unreachable' });
});

test('answers of the API server are told apart', async () => {
  await using client = await connect();
  await client.create(ConfigMap, map('told'));
  await assert.rejects(client.create(ConfigMap, map('told')), { code: 'AlreadyExists', status: 409 });
  await assert.rejects(client.get(ConfigMap, { namespace, name: 'absent' }), { code: 'NotFound', status: 404 });
  assert.equal(await client.find(ConfigMap, { namespace, name: 'absent' }), undefined);
  await assert.rejects(client.create(ConfigMap, map('Not A Name')), { code: 'Invalid', retry: 'blocked' });
  await using stranger = createKubeClient({ kubeconfigPath: await (await cluster).kubeconfigFor('stranger') });
  await assert.rejects(stranger.list(ConfigMap, { namespace }), { code: 'Forbidden', status: 403 });
});

test('a write that is guarded by a version fails when somebody was faster', async () => {
  await using client = await connect();
  const read = await client.create(ConfigMap, map('guarded', { a: '1' }));
  const { resourceVersion, uid } = read.metadata;
  await client.mergePatch(ConfigMap, read.metadata, { data: { a: '2' } });
  await assert.rejects(client.mergePatch(ConfigMap, read.metadata, { data: { a: '3' } }, { resourceVersion }), {
    code: 'Conflict',
  });
  await assert.rejects(
    client.apply(
      ConfigMap,
      { metadata: { name: 'guarded', namespace, resourceVersion }, data: { b: '1' } },
      { fieldManager: 'x' },
    ),
    { code: 'Conflict' },
  );
  await assert.rejects(client.delete(ConfigMap, read.metadata, { resourceVersion }), { code: 'Conflict' });
  await assert.rejects(client.delete(ConfigMap, read.metadata, { uid: '00000000-0000-4000-8000-000000000000' }), {
    code: 'Conflict',
  });
  await client.delete(ConfigMap, read.metadata, { uid });
  await client.delete(ConfigMap, read.metadata, { uid });
});

test('fields applied by two managers: a conflict, unless forced', async () => {
  await using client = await connect();
  const object = (color: string) => ({ metadata: { name: 'shared', namespace }, data: { color } });
  await client.apply(ConfigMap, object('red'), { fieldManager: 'one' });
  await assert.rejects(client.apply(ConfigMap, object('blue'), { fieldManager: 'two' }), { code: 'Conflict' });
  const forced = await client.apply(ConfigMap, object('blue'), { fieldManager: 'two', force: true });
  assert.equal(forced.data?.color, 'blue');
});

test('a process reads its own writes at once, and finds things by index', async () => {
  await using client = await connect();
  await using followed = await follow(client, 'group=own');
  const created = await client.create(ConfigMap, map('own', { color: 'red' }, { group: 'own' }));
  assert.equal(
    followed.maps.get({ namespace, name: 'own' })?.metadata.resourceVersion,
    created.metadata.resourceVersion,
  );
  await client.mergePatch(ConfigMap, created.metadata, { data: { color: 'blue' } });
  assert.deepEqual(
    followed.maps.by('color', 'blue').map(({ metadata }) => metadata.name),
    ['own'],
  );
  assert.deepEqual(followed.maps.by('color', 'red'), []);
  assert.ok(
    Object.isFrozen(followed.maps.get(`${namespace}/own`)?.data),
    'objects are shared, so nobody may change them',
  );
  await client.delete(ConfigMap, created.metadata);
  assert.equal(followed.maps.size, 0);
});

test('a kind that may be missing holds nothing up, and is watched once somebody installs it', async () => {
  await using client = await connect();
  const caches = new CacheSet({ client, clock: createClock(1_000), log });
  const configs = caches.watch(IPXEBootConfig, { isOptional: true });
  await using _stopped = { [Symbol.asyncDispose]: () => caches.stop() };
  await caches.start();
  assert.equal(configs.size, 0);
  const metadata = { name: 'late', namespace };
  assert.equal(await client.find(IPXEBootConfig, metadata), undefined);
  await installKinds(client, [IPXEBootConfig]);
  await using other = await connect('other');
  await other.create(IPXEBootConfig, { metadata, spec: { kernelURL: 'k', initrdURL: 'i' } });
  await until(configs, () => configs.get(metadata)?.spec?.kernelURL === 'k');
});

test('a watch that is lost goes on where it was', async () => {
  await using client = await connect();
  await using followed = await follow(client, 'group=lost');
  await client.create(ConfigMap, map('before', {}, { group: 'lost' }));
  const plane = await cluster;
  await plane.stopApiServer();
  await plane.startApiServer();
  await using other = await connect('other');
  await other.create(ConfigMap, map('after', {}, { group: 'lost' }));
  await until(followed.maps, () => followed.maps.get(`${namespace}/after`) !== undefined);
  assert.equal(followed.maps.size, 2);
});

test('what was deleted while nobody could watch is found missing by a new list', async () => {
  await using client = await connect();
  await using followed = await follow(client, 'group=gone');
  await client.create(ConfigMap, map('kept', {}, { group: 'gone' }));
  await client.create(ConfigMap, map('deleted', {}, { group: 'gone' }));
  const plane = await cluster;
  await plane.stopApiServer();
  // Past the API server, and compacted: a watch from the last known version is answered 410 Gone.
  const { header } = await etcd(plane.directory, '/v3/kv/deleterange', {
    key: base64(`/registry/configmaps/${namespace}/deleted`),
  });
  await etcd(plane.directory, '/v3/kv/compaction', { revision: header.revision, physical: true });
  await plane.startApiServer();
  await until(followed.maps, () => followed.maps.size === 1);
  assert.notEqual(followed.maps.get(`${namespace}/kept`), undefined);
});

const base64 = (text: string): string => Buffer.from(text).toString('base64');

/** etcd's own JSON gateway, on its socket. */
function etcd(directory: string, path: string, body: object): Promise<{ header: { revision: string } }> {
  return new Promise((resolve, reject) => {
    const call = request({ socketPath: join(directory, 'etcd:1'), path, method: 'POST' }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.once('end', () => resolve(JSON.parse(Buffer.concat(chunks).toString('utf8'))));
    });
    call.once('error', reject);
    call.end(JSON.stringify(body));
  });
}
