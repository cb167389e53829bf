import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ConfigMap } from '@metal/kube/kinds/builtin.ts';
import { createKubeClient, type KubeClient } from '@metal/kube/client/client.ts';
import { clusterOfFile } from '@metal/testenv/cluster/cluster.ts';
import { follow, map, namespace } from '../fixtures/config-maps.ts';

const openCluster = clusterOfFile();

const connect = async (defaultFieldManager = 'first'): Promise<KubeClient> =>
  createKubeClient({ kubeconfigPath: (await openCluster()).kubeconfigPath, defaultFieldManager });

test('a list is read in pages', async () => {
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

test('a write through another pool of a client is in its caches at once, and pools end with the client', async () => {
  const client = await connect();
  await using followed = await follow(client, 'group=lanes');
  const machines = client.withPool('boot');
  await machines.create(ConfigMap, map('lane', { color: 'red' }, { group: 'lanes' }));
  assert.equal(followed.maps.by('color', 'red').length, 1);
  await followed.caches.stop();
  await client[Symbol.asyncDispose]();
  await assert.rejects(machines.get(ConfigMap, { namespace, name: 'lane' }), { code: 'Unreachable' });
});

test('errors of the API server have distinct codes', async () => {
  await using client = await connect();
  await client.create(ConfigMap, map('told'));
  await assert.rejects(client.create(ConfigMap, map('told')), { code: 'AlreadyExists', status: 409 });
  await assert.rejects(client.get(ConfigMap, { namespace, name: 'absent' }), { code: 'NotFound', status: 404 });
  assert.equal(await client.find(ConfigMap, { namespace, name: 'absent' }), undefined);
  await assert.rejects(client.create(ConfigMap, map('Not A Name')), { code: 'Invalid', retry: 'blocked' });
  await using unprivileged = createKubeClient({
    kubeconfigPath: await (await openCluster()).kubeconfigFor('stranger'),
  });
  await assert.rejects(unprivileged.list(ConfigMap, { namespace }), { code: 'Forbidden', status: 403 });
});

test('a write with a resource version fails after a concurrent write', async () => {
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

test('an apply to a field of another manager is a conflict, unless forced', async () => {
  await using client = await connect();
  const object = (color: string) => ({ metadata: { name: 'shared', namespace }, data: { color } });
  await client.apply(ConfigMap, object('red'), { fieldManager: 'one' });
  await assert.rejects(client.apply(ConfigMap, object('blue'), { fieldManager: 'two' }), { code: 'Conflict' });
  const forced = await client.apply(ConfigMap, object('blue'), { fieldManager: 'two', force: true });
  assert.equal(forced.data?.color, 'blue');
});

test('a process reads its own writes at once, and finds objects by index', async () => {
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
  assert.ok(Object.isFrozen(followed.maps.get(`${namespace}/own`)?.data), 'cached objects are shared and frozen');
  await client.delete(ConfigMap, created.metadata);
  assert.equal(followed.maps.size, 0);
});

test('an object whose last finalizer a process removes is gone from its caches at once', async () => {
  await using client = await connect();
  await using followed = await follow(client, 'group=ended');
  const { data, metadata } = map('ended', { color: 'red' }, { group: 'ended' });
  const created = await client.create(ConfigMap, { data, metadata: { ...metadata, finalizers: ['test.example/one'] } });
  await client.delete(ConfigMap, created.metadata);
  assert.equal(followed.maps.size, 1);
  await client.mergePatch(ConfigMap, created.metadata, { metadata: { finalizers: null } });
  assert.equal(followed.maps.size, 0);
});
