import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { kinds } from '@metal/api/kinds.ts';
import { installKinds } from '@metal/kube/client/install-kinds.ts';
import { CustomResourceDefinition } from '@metal/kube/kinds/builtin.ts';
import { freePort } from '@metal/controlplane/free-port.ts';
import { startCluster } from '@metal/testenv/cluster/cluster.ts';
import { readinessAt, readKinds, startForProcess } from '../fixtures/uninstall-fixture.ts';

const run = promisify(execFile);

test('with outdated kinds an operator serves machines but acts on nothing, until the kinds are those of its version', async () => {
  await using cluster = await startCluster();
  await using testenv = await startForProcess(cluster);
  const current = await testenv.client.get(CustomResourceDefinition, { name: 'servers.metal.ironcore.dev' });
  const isOld = (key: string) => key !== 'stateSince';
  const text = JSON.stringify(current.spec, (key, value: unknown) => (isOld(key) ? value : undefined));
  const { name } = current.metadata;
  await testenv.client.mergePatch(CustomResourceDefinition, { name }, { spec: JSON.parse(text) as object });
  const health = await freePort();
  const held = Promise.withResolvers<string>();
  const running = testenv.startOperatorProcess([`--health-probe-bind-address=127.0.0.1:${health}`], (line) => {
    if (line.includes('controllers wait for other CRDs')) held.resolve(line);
  });
  const readiness = () => readinessAt(health);
  assert.match(await held.promise, /"level":"warn".*without status\.stateSince.*apply deploy\/crds/);
  const { status, text: reason } = await readiness();
  assert.equal(status, 503);
  assert.match(
    reason,
    /^CRDs servers\.metal\.ironcore\.dev \(without status\.stateSince\) are older than this version/,
  );

  await testenv.client.mergePatch(CustomResourceDefinition, { name }, { spec: current.spec });
  await running;
  const [node] = await testenv.addNodes({ generic: 1 });
  assert.ok(node);
  await testenv.plugIn(node);
  await testenv.server(node).hasReason('Available');
  assert.equal((await readiness()).status, 200);
});

test('kubectl deletes the kinds while the operator runs, and machines stay on', async () => {
  await using cluster = await startCluster();
  await using testenv = await startForProcess(cluster);
  const operator = await testenv.startOperatorProcess();
  const [held] = await testenv.addNodes({ generic: 1 });
  assert.ok(held);
  await testenv.plugIn(held);
  await testenv.server(held).hasReason('Available');
  await testenv.claim({ on: held, image: 'registry.test/os:1' });
  await testenv.server(held).hasReason('ClaimServed');
  const powerBefore = [...held.powerLog];
  const crds = fileURLToPath(new URL('../../deploy/crds', import.meta.url));
  const kubectl = (...args: string[]) =>
    run(cluster.binaries.kubectl, ['--kubeconfig', cluster.kubeconfigPath, 'delete', ...args]);
  await readKinds(testenv);
  await kubectl('crd', 'servers.metal.ironcore.dev', '--wait=false');
  const deleteKinds = () => kubectl('-f', crds, '--ignore-not-found', '--timeout=30s');
  // A watch may end with its kind before it delivers the last deletion: the page has the restart for that case.
  await deleteKinds().catch(async () => {
    await operator.stop();
    await testenv.startOperatorProcess();
    await deleteKinds();
  });
  assert.deepEqual(held.powerLog, powerBefore);
  assert.equal(held.power, 'On');
  await installKinds(testenv.client, kinds); // The test environment is emptied.
});
