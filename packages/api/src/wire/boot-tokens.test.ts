import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import type { KubeClient } from '@metal/kube/client/client.ts';
import { fakeClock } from '@metal/kube/test/fake-clock.ts';
import { Store } from '@metal/kube/cache/store.ts';
import { ServerBootConfiguration } from '../v1alpha1/server-boot-configuration.ts';
import { mintBootToken } from './boot-token.ts';
import { BootTokens } from './boot-tokens.ts';

const key = new Uint8Array(32).fill(7);
const uidOf = (number: number): string => `6a3d8d6c-0000-4000-8000-${String(number).padStart(12, '0')}`;
const tokenOf = (number: number): string => mintBootToken(key, uidOf(number));

const bootOf = (number: number): ServerBootConfiguration => ({
  apiVersion: ServerBootConfiguration.apiVersion,
  kind: ServerBootConfiguration.kind,
  metadata: { name: `boot-${number}`, namespace: 'default', uid: uidOf(number), resourceVersion: String(number) },
  spec: { serverRef: { name: `server-${number}` } },
});

type Boots = AsyncGenerator<ServerBootConfiguration[]>;

/** The watch has delivered the boots up to a number; the API server returns pages. */
function openTokens(watched: number, pagesAfter: (watched: Store<ServerBootConfiguration>) => Boots) {
  const bootConfigurations = new Store<ServerBootConfiguration>();
  for (let number = 1; number <= watched; number += 1) bootConfigurations.upsertIfNewer(bootOf(number));
  const client = {
    async *pages() {
      for await (const items of pagesAfter(bootConfigurations)) yield { items, resourceVersion: '' };
    },
  } as unknown as Pick<KubeClient, 'pages'>; // only boot configurations are listed
  const bootTokenKey = () => Promise.resolve(key);
  return new BootTokens({ bootConfigurations, bootTokenKey, client, clock: fakeClock() });
}

test('a boot that the watch has not delivered is found, and a deleted one is not', async () => {
  using tokens = openTokens(2, async function* () {
    yield [bootOf(1), bootOf(2)];
    yield [bootOf(3)];
  });
  assert.equal((await tokens.find(tokenOf(3)))?.metadata.name, 'boot-3');
  assert.equal(await tokens.find(tokenOf(4)), undefined);
});

test('a boot that the watch delivers during the list request is found', async () => {
  using tokens = openTokens(0, async function* (watched) {
    watched.upsertIfNewer(bootOf(1));
    yield [bootOf(1)];
  });
  assert.equal((await tokens.find(tokenOf(1)))?.metadata.name, 'boot-1');
});

test('a lookup keeps no page whose boots are all in the cache', async () => {
  setFlagsFromString('--expose-gc');
  const collectGarbage = runInNewContext('gc') as () => void; // which the flag adds
  const pages: WeakRef<ServerBootConfiguration>[] = [];
  let kept = 0;
  using tokens = openTokens(3, async function* () {
    for (const number of [1, 2, 3]) {
      const boot = bootOf(number);
      pages.push(new WeakRef(boot));
      yield [boot];
      await new Promise((resolve) => setImmediate(resolve));
    }
    collectGarbage();
    kept = pages.slice(0, -1).filter((page) => page.deref() !== undefined).length;
    yield [bootOf(4)];
  });
  assert.equal((await tokens.find(tokenOf(4)))?.metadata.name, 'boot-4');
  assert.equal(kept, 0, 'only the last page is kept');
});
