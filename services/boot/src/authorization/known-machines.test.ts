import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Server } from '@metal/api/v1alpha1/server.ts';
import { Store } from '@metal/kube/cache/store.ts';
import { KnownMachines, normalised } from './known-machines.ts';

const notations: [string, string | undefined][] = [
  ['AA:BB:CC:00:00:01', 'aabbcc000001'],
  ['aa-bb-cc-00-00-01', 'aabbcc000001'],
  ['aabb.cc00.0001', 'aabbcc000001'],
  ['aabbcc000001', 'aabbcc000001'],
  [' 192.0.2.1 ', '192.0.2.1'],
  ['2001:DB8::1', '2001:db8::1'],
  ['aa:bb:cc', undefined],
  ['a host', undefined],
  ['', undefined],
];
for (const [text, expected] of notations)
  test(`"${text}" is ${expected ?? 'neither an address nor a MAC'}`, () => assert.equal(normalised(text), expected));

let version = 0;
const serverWith = (name: string, macAddress: string, ips: string[]): Server => ({
  apiVersion: 'metal.ironcore.dev/v1alpha1',
  kind: 'Server',
  metadata: { name, resourceVersion: String((version += 1)) },
  spec: { systemUUID: name },
  status: { networkInterfaces: [{ name: 'eth0', macAddress, ips }] },
});

test('the index follows changes of servers and excludes addresses of two servers', () => {
  const servers = new Store<Server>();
  servers.upsertIfNewer(serverWith('a', 'aa:bb:cc:00:00:01', ['192.0.2.1', '192.0.2.9']));
  using machines = new KnownMachines(servers);
  const found = (identifier: string) => machines.find(identifier)?.metadata.name;
  servers.upsertIfNewer(serverWith('b', 'aa:bb:cc:00:00:02', ['192.0.2.2', '192.0.2.9']));
  assert.deepEqual([found('AA-BB-CC-00-00-01'), found('192.0.2.2'), found('192.0.2.9')], ['a', 'b', undefined]);
  servers.upsertIfNewer(serverWith('b', 'aa:bb:cc:00:00:02', ['192.0.2.3']));
  assert.deepEqual([found('192.0.2.2'), found('192.0.2.3'), found('192.0.2.9')], [undefined, 'b', 'a']);
});
