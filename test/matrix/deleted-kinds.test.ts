import assert from 'node:assert/strict';
import { test } from 'node:test';
import { kinds } from '@metal/api/kinds.ts';
import { Server } from '@metal/api/v1alpha1/server.ts';
import { installKinds } from '@metal/kube/client/install-kinds.ts';
import { CustomResourceDefinition } from '@metal/kube/kinds/builtin.ts';
import { freePort } from '@metal/controlplane/free-port.ts';
import { startCluster } from '@metal/testenv/cluster/cluster.ts';
import type { Testenv } from '@metal/testenv/testenv.ts';
import { readinessAt, readKinds, startForProcess } from '../fixtures/uninstall-fixture.ts';

const names = kinds.map(({ plural, group }) => `${plural}.${group}`);

async function deleteCrds(testenv: Testenv): Promise<void> {
  await readKinds(testenv);
  await Promise.all(names.map((name) => testenv.client.delete(CustomResourceDefinition, { name })));
}

async function untilCrdsAreGone({ client }: Testenv): Promise<void> {
  const { items, resourceVersion } = await client.list(CustomResourceDefinition);
  const left = new Set(items.map(({ metadata }) => metadata.name).filter((name) => names.includes(name)));
  if (left.size === 0) return;
  for await (const { type, object } of client.watch(CustomResourceDefinition, { resourceVersion, timeoutSeconds: 60 }))
    if (type === 'DELETED' && left.delete(object.metadata.name) && left.size === 0) return;
  throw new Error(`these CRDs are left: ${[...left].join(', ')}`);
}

test('an operator that starts while its CRDs are being deleted releases their objects, leaves machines on, and continues when the CRDs are back', async () => {
  await using cluster = await startCluster();
  await using testenv = await startForProcess(cluster);
  const health = await freePort();
  const flags = [`--health-probe-bind-address=127.0.0.1:${health}`];
  const readiness = () => readinessAt(health);
  const first = await testenv.startOperatorProcess(flags);
  const [free, held] = await testenv.addNodes({ generic: 2 });
  assert.ok(free && held);
  await testenv.plugIn(free, held);
  await testenv.server(free).hasReason('Available');
  await testenv.claim({ on: held, image: 'registry.test/os:1' });
  await testenv.server(held).hasReason('ClaimServed');
  const powerBefore = [...held.powerLog];
  assert.equal(await first.stop(), 0);

  await deleteCrds(testenv);
  const { items } = await testenv.client.list(Server);
  assert.equal(items.length, 2, 'finalizers keep them');
  const [missing, complete] = [Promise.withResolvers<string>(), Promise.withResolvers<void>()];
  await testenv.startOperatorProcess(flags, (line) => {
    if (line.includes('"reason":"CRDs') && !line.includes('are being deleted')) missing.resolve(line);
    if (line.includes('all CRDs are installed')) complete.resolve();
  });
  await untilCrdsAreGone(testenv);
  assert.match(await missing.promise, /"level":"warn".*CRDs .*servers\.metal\.ironcore\.dev.*apply deploy\/crds/);
  const { status, text } = await readiness();
  assert.equal(status, 503);
  assert.match(text, /^CRDs .* are not installed: apply deploy\/crds of this version/);
  assert.deepEqual(held.powerLog, powerBefore, 'nobody switched the machine of the claim');
  assert.equal(held.power, 'On');

  await installKinds(testenv.client, kinds);
  await complete.promise;
  await testenv.plugIn(free, held);
  await testenv.server(held).hasReason('RunningServerLeftAlone');
  await testenv.server(free).hasReason('Available');
  assert.deepEqual(held.powerLog, powerBefore);
  while ((await readiness()).status !== 200) continue; // Each list is requested again within two seconds.
});
