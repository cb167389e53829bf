import assert from 'node:assert/strict';
import { request } from 'node:http';
import { join } from 'node:path';
import { test } from 'node:test';
import { IPXEBootConfig } from '@metal/api/v1alpha1/ipxe-boot-config.ts';
import { ConfigMap } from '@metal/kube/kinds/builtin.ts';
import { CacheSet } from '@metal/kube/cache/cache.ts';
import { createKubeClient, type KubeClient } from '@metal/kube/client/client.ts';
import { createClock } from '@metal/kube/runtime/clock.ts';
import { installKinds } from '@metal/kube/client/install-kinds.ts';
import { clusterOfFile, startCluster } from '@metal/testenv/cluster/cluster.ts';
import { pino } from 'pino';
import { follow, map, namespace, until } from '../fixtures/config-maps.ts';

const log = pino({ level: 'silent' });
const openCluster = clusterOfFile(() => startCluster({ crds: false }));

const connect = async (defaultFieldManager = 'first'): Promise<KubeClient> =>
  createKubeClient({ kubeconfigPath: (await openCluster()).kubeconfigPath, defaultFieldManager });

test('a missing optional kind blocks nothing, and is watched once it is installed', async () => {
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

test('a lost watch resumes at its last resource version', async () => {
  await using client = await connect();
  await using followed = await follow(client, 'group=lost');
  await client.create(ConfigMap, map('before', {}, { group: 'lost' }));
  const plane = await openCluster();
  await plane.stopApiServer();
  await plane.startApiServer();
  await using other = await connect('other');
  await other.create(ConfigMap, map('after', {}, { group: 'lost' }));
  await until(followed.maps, () => followed.maps.get(`${namespace}/after`) !== undefined);
  assert.equal(followed.maps.size, 2);
});

test('an object deleted during a watch outage is removed by the next list', async () => {
  await using client = await connect();
  await using followed = await follow(client, 'group=gone');
  await client.create(ConfigMap, map('kept', {}, { group: 'gone' }));
  await client.create(ConfigMap, map('deleted', {}, { group: 'gone' }));
  const plane = await openCluster();
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
