import assert from 'node:assert/strict';
import { test } from 'node:test';
import { BIOSSettings } from '@metal/api/v1alpha1/bios-settings.ts';
import { BIOSSettingsSet } from '@metal/api/v1alpha1/bios-settings-set.ts';
import { Server } from '@metal/api/v1alpha1/server.ts';
import { rolloutWaitAnnotation } from '@metal/api/wire/contract.ts';
import { CacheSet } from '@metal/kube/cache/cache.ts';
import { createKubeClient } from '@metal/kube/client/client.ts';
import { ownedBy } from '@metal/kube/kinds/kind.ts';
import { systemClock } from '@metal/kube/runtime/clock.ts';
import { KeyedMutex } from '@metal/kube/runtime/keyed-mutex.ts';
import { watchOperatorKinds } from '@metal/operator/caches.ts';
import type { OperatorContext } from '@metal/operator/controllers/context.ts';
import { setActions } from '@metal/operator/controllers/sets/actions.ts';
import { readSetFacts } from '@metal/operator/controllers/sets/facts.ts';
import { biosSettingsSets } from '@metal/operator/controllers/sets/set-kinds.ts';
import { clusterOfFile } from '@metal/testenv/cluster/cluster.ts';
import { pino } from 'pino';

const openCluster = clusterOfFile();

const log = pino({ level: 'silent' });

test('a rollout starts nothing that the limit forbids, even if the cache does not have the last start yet', async () => {
  const { kubeconfigPath } = await openCluster();
  await using client = createKubeClient({ kubeconfigPath });
  const set = await client.create(BIOSSettingsSet, {
    metadata: { name: 'boot' },
    spec: {
      serverSelector: {},
      biosSettingsTemplate: { version: '1' },
      rollout: { maxUnavailable: '50%' },
    },
  });
  for (const name of ['s-1', 's-2']) {
    await client.create(Server, { metadata: { name }, spec: { systemUUID: name } });
    const child = { name: `boot-${name}` };
    await client.create(BIOSSettings, {
      metadata: { ...child, ownerReferences: [ownedBy(set)], annotations: { [rolloutWaitAnnotation]: 'first' } },
      spec: { version: '1', serverRef: { name } },
    });
    const status = { state: 'Pending', observedGeneration: 1, plan: { restart: 'Host', changes: [], total: 1 } };
    await client.mergePatch(BIOSSettings, child, { status }, { subresource: 'status' });
  }
  // The caches of a process whose watches are broken.
  const cacheSet = new CacheSet({ client, clock: systemClock, log });
  const caches = watchOperatorKinds(cacheSet);
  await cacheSet.start();
  await cacheSet.stop();
  const facts = { ...readSetFacts(biosSettingsSets, set, caches), isCacheBehind: false };
  assert.deepEqual(
    facts.toStart.map(({ metadata }) => metadata.name),
    ['boot-s-1'],
  );
  // A person starts the other one.
  await client.mergePatch(
    BIOSSettings,
    { name: 'boot-s-2' },
    { metadata: { annotations: { [rolloutWaitAnnotation]: null } } },
  );

  const memory = { cacheBehindUntil: 0 };
  const context = { client, caches, rolloutStarts: new KeyedMutex() } as unknown as OperatorContext; // what the action reads
  await setActions(biosSettingsSets).startChildren({
    object: set,
    facts,
    context,
    memory,
    now: 1_000,
    signal: new AbortController().signal,
    log,
    warn: () => undefined,
    recordEvent: () => undefined,
  });
  const first = await client.get(BIOSSettings, { name: 'boot-s-1' });
  assert.equal(first.metadata.annotations?.[rolloutWaitAnnotation], 'first');
  assert.ok(memory.cacheBehindUntil > 1_000, 'it is tried again when the cache had time to follow');
});
