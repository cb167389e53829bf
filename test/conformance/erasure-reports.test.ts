import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ErasureReport } from '@metal/api/v1alpha1/erasure-report.ts';
import { CacheSet } from '@metal/kube/cache/cache.ts';
import { createKubeClient } from '@metal/kube/client/client.ts';
import { systemClock } from '@metal/kube/runtime/clock.ts';
import { openCluster } from '@metal/testenv/cluster/cluster.ts';
import { watchOperatorKinds } from '@metal/operator/caches.ts';
import { pino } from 'pino';

const disks: ErasureReport['spec']['disks'] = [
  {
    name: 'sda',
    serial: 'S1',
    wwid: 'naa.1',
    model: 'M',
    sizeBytes: 100,
    method: 'ATASecureErase',
    erasedBytes: 100,
    samples: 4,
    verified: true,
    result: 'Erased',
    message: '',
  },
];

test('the caches of the operator drop only the certificate text of an ErasureReport', async () => {
  await using cluster = await openCluster();
  await using client = createKubeClient({ kubeconfigPath: cluster.kubeconfigPath });
  const name = 'spare-1';
  await client.create(ErasureReport, {
    metadata: { name },
    spec: {
      serverRef: { name: 'spare', uid: 'uid-spare' },
      systemUUID: 'a',
      attempt: 1,
      mode: 'Purge',
      receivedTime: '2026-01-01T00:00:00Z',
      state: 'Succeeded',
      disks,
    },
  });
  const caches = new CacheSet({ client, clock: systemClock, log: pino({ level: 'silent' }) });
  try {
    const { erasures } = watchOperatorKinds(caches);
    await caches.start();
    assert.deepEqual(erasures.get(name)?.spec.disks, disks);
    const status = {
      bootOrder: { devices: ['Pxe'], result: 'AsWanted' as const },
      certificate: 'header.payload.signature',
    };
    const written = await client.mergePatch(ErasureReport, { name }, { status }, { subresource: 'status' });
    assert.deepEqual(written.status, status, 'who wrote it gets all of it');
    const kept = erasures.get(name);
    assert.deepEqual([kept?.spec, kept?.status], [written.spec, { ...status, certificate: 'header' }]);
    assert.equal(kept?.metadata.resourceVersion, written.metadata.resourceVersion);
  } finally {
    await caches.stop();
  }
});
