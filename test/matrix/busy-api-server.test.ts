import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Secret } from '@metal/kube/kinds/builtin.ts';
import { ApiServerRelay } from '@metal/testenv/proxies/api-server-relay.ts';
import { openCluster } from '@metal/testenv/cluster/cluster.ts';
import { type Testenv, startTestenv } from '@metal/testenv/testenv.ts';
import { untilChanged } from '@metal/testenv/cluster/watched-object.ts';

/** Size of the connection pool `work` for the fleet: packages/kube/src/client/connections.ts. */
const connectionsForWork = 64;
/** Enough that some wait for a connection. */
const arrivals = connectionsForWork + 6;

test("a machine boots, reports and reads its user data while all connections of the fleet's pool are in use", async () => {
  await using cluster = await openCluster();
  // The user that has the operator's roles in the test environment.
  await using relay = await ApiServerRelay.to(await cluster.kubeconfigFor('metal-operator'));
  await using testenv = await startTestenv({
    cluster,
    flags: [`--kubeconfig=${relay.kubeconfigPath}`, '--components=controllers,registry,boot,metadata'],
  });
  const [claimed, discovered, ...fleet] = await testenv.addNodes({ generic: 2 + arrivals });
  assert.ok(claimed && discovered);
  await testenv.plugIn(claimed);
  const { metadata } = await testenv.server(claimed).hasReason('Available');
  await testenv.servers.patch(metadata.name, {
    metadata: { annotations: { 'metal.ironcore.dev/metadata-addresses': '127.0.0.1' } },
  });
  await testenv.client.create(Secret, {
    metadata: { namespace: 'default', name: 'settings' },
    type: 'metal.ironcore.dev/user-data',
    data: { hostname: Buffer.from('db-1').toString('base64') },
  });
  const machines = [claimed, discovered];
  for (const { machine } of machines) machine.hang();
  await testenv.claim({ image: 'registry.test/os:1', on: claimed, userDataRef: { name: 'settings' } });
  await testenv.plugIn(discovered);
  for (const node of machines) await testenv.machine(node).until('is about to boot', () => node.power === 'On');

  relay.hold(({ method, path }) => method === 'POST' && path.includes('/bmcsecrets?'));
  await testenv.plugIn(...fleet);
  const holdsAll = () => relay.held === connectionsForWork;
  await untilChanged(
    'the API server',
    'has all connections of the pool',
    holdsAll,
    (check) => relay.onChange(check),
    testenv.timeline,
  );
  // A request waits a minute for its response; then another one gets its connection.
  let isOneFree = false;
  using _watching = relay.onChange(() => {
    isOneFree ||= !holdsAll();
  });

  for (const { machine } of machines) machine.heal();
  await Promise.all([
    testenv.machine(claimed).until('runs its image', () => claimed.running?.role === 'os'),
    testenv.inventoryOf(discovered).exists(),
    readsUserData(testenv),
  ]);
  assert.ok(!isOneFree, "the fleet's requests still wait");

  relay.release();
  for (const node of [discovered, ...fleet]) await testenv.server(node).hasReason('Available');
});

async function readsUserData({ system, timeline }: Testenv): Promise<void> {
  const headers = { 'Metadata-Flavor': 'IronCore Metal' };
  const signal = AbortSignal.timeout(timeline.timeoutMs);
  const response = await fetch(`${system.metadataUrl}/v1/user-data`, { headers, signal }).catch((cause: unknown) => {
    throw new Error('the metadata service does not answer', { cause });
  });
  assert.deepEqual(await response.json(), { hostname: 'db-1' });
}
