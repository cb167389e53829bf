import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ServerBootConfiguration } from '@metal/api/v1alpha1/server-boot-configuration.ts';
import { Store } from '@metal/kube/store.ts';
import { BootsByServer } from './boots-by-server.ts';

const { apiVersion, kind } = ServerBootConfiguration;
const boot = (name: string, serverName: string, resourceVersion: string): ServerBootConfiguration => ({
  apiVersion,
  kind,
  metadata: { name, namespace: 'rack', uid: name, resourceVersion },
  spec: { serverRef: { name: serverName }, image: 'os' },
});

test('the boots of a server are known, from the start and as they change', () => {
  const store = new Store<ServerBootConfiguration>();
  store.absorb(boot('first', 'a', '1'));
  using boots = new BootsByServer(store);
  store.absorb(boot('second', 'a', '2'));
  store.absorb(boot('third', 'b', '3'));
  assert.deepEqual([boots.of('a'), boots.of('b'), boots.of('c')], [['rack/first', 'rack/second'], ['rack/third'], []]);
  store.absorb(boot('second', 'b', '4'));
  store.remove(boot('first', 'a', '5'));
  assert.deepEqual([boots.of('a'), boots.of('b')], [[], ['rack/third', 'rack/second']]);
});
