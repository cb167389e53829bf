import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Server } from '@metal/api/v1alpha1/server.ts';
import type { ServerClaim } from '@metal/api/v1alpha1/server-claim.ts';
import { Store } from '@metal/kube/cache/store.ts';
import { findBoundServer } from './facts.ts';

const apiVersion = 'metal.ironcore.dev/v1alpha1';
const reference = { namespace: 'team', name: 'one' };

/** Servers that refer to the claim, in the order of the watch events. */
function serversOf(holders: Record<string, string | undefined>): Store<Server> {
  const servers = new Store<Server>();
  servers.addIndexes({ claim: () => ['team/one'] });
  for (const [name, uid] of Object.entries(holders)) {
    const evicted = name.startsWith('kept') ? { evicted: true } : {};
    const serverClaimRef = { ...reference, ...(uid === undefined ? {} : { uid }), ...evicted };
    servers.upsertIfNewer({
      apiVersion,
      kind: 'Server',
      metadata: { name, uid: name },
      spec: { systemUUID: name, serverClaimRef },
    });
  }
  return servers;
}

const lines: [
  title: string,
  holders: Record<string, string | undefined>,
  named: string | undefined,
  boundServer: string,
][] = [
  ['no server without references', {}, 'a', 'none'],
  ['the server that refers to it', { a: 'claim-1' }, undefined, 'a'],
  ['a server with a reference of v0.7.0 without UID', { a: undefined }, undefined, 'a'],
  ['no server that it was evicted from', { kept: 'claim-1' }, 'kept', 'none'],
  ['no server of an earlier claim of the same name', { a: 'claim-0' }, undefined, 'none'],
  ['the one of two servers that it names', { a: 'claim-1', b: 'claim-1' }, 'b', 'b'],
  ['the first of two servers by name, before it names one', { b: 'claim-1', a: 'claim-1' }, undefined, 'a'],
  ['the only server that refers to it, even if it names another', { a: 'claim-1' }, 'b', 'a'],
];
for (const [title, holders, named, boundServer] of lines) {
  test(`a claim holds ${title}`, () => {
    const claim: ServerClaim = {
      apiVersion,
      kind: 'ServerClaim',
      metadata: { ...reference, uid: 'claim-1' },
      spec: { power: 'On', image: 'os', ...(named === undefined ? {} : { serverRef: { name: named } }) },
    };
    assert.equal(findBoundServer(claim, { servers: serversOf(holders) })?.metadata.name ?? 'none', boundServer);
  });
}
