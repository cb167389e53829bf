import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { kinds } from '@metal/api/kinds.ts';
import { Server } from '@metal/api/v1alpha1/server.ts';
import { installKinds } from '@metal/kube/client/install-kinds.ts';
import { CustomResourceDefinition } from '@metal/kube/kinds/builtin.ts';
import { freePort } from '@metal/controlplane/free-port.ts';
import { type Cluster, startCluster } from '@metal/testenv/cluster.ts';
import { startTestenv, type Testenv } from '@metal/testenv/testenv.ts';

const run = promisify(execFile);
const names = kinds.map(({ plural, group }) => `${plural}.${group}`);

/** For an operator that is a process, so that its seconds are real ones. */
const startForProcess = (cluster: Cluster): Promise<Testenv> =>
  startTestenv({
    cluster,
    operator: 'none',
    speed: 1,
    fleet: { powerOnMs: 200, powerOffMs: 200, bootMs: 200 },
  });

async function readinessAt(port: number): Promise<{ status: number; text: string }> {
  const response = await fetch(`http://127.0.0.1:${port}/readyz`);
  return { status: response.status, text: await response.text() };
}

/** As `kubectl delete -f deploy/crds` does. */
const deleteCrds = ({ client }: Testenv) =>
  Promise.all(names.map((name) => client.delete(CustomResourceDefinition, { name })));

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
