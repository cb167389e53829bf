import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Server } from '@metal/api/v1alpha1/server.ts';
import { addInlineServer } from '@metal/testenv/inline-server.ts';
import { type Testenv, testenvsOfFile } from '@metal/testenv/testenv.ts';
import type { Node } from '@metal/simulator/fleet.ts';
import type { Vendor } from '@metal/simulator/profiles.ts';

const startTestenv = testenvsOfFile();

/**
 * Starts one operator after the other, each until it has handled a new machine, which it does after the existing ones.
 */
async function restart(
  testenv: Testenv,
  vendors: readonly Vendor[],
  addServers: (newcomer: Node) => Promise<void>,
): Promise<void> {
  for (const vendor of vendors) {
    await using _next = await testenv.startOperatorProcess();
    const [newcomer] = await testenv.addNodes({ [vendor]: 1 });
    assert.ok(newcomer);
    await addServers(newcomer);
  }
}

test('a wrong password of a BMC is tried once over all operator restarts, and a corrected one at once', async () => {
  await using testenv = await startTestenv({ operator: 'none', speed: 1 });
  const node = await testenv.fleet.add({ vendor: 'lenovo', password: 'another-one' });
  const first = await testenv.startOperatorProcess();
  await testenv.plugIn(node);
  const { metadata, status } = await testenv.bmc(node).hasReason('AuthenticationFailed');
  assert.equal(status?.rejectedLogin?.address, node.bmc.url);
  assert.doesNotMatch(JSON.stringify(status), /another-one/);
  await first.kill();

  await restart(testenv, ['dell', 'hpe', 'generic'], async (other) => {
    await testenv.plugIn(other);
    await testenv.bmc(other).reaches('Enabled');
  });
  assert.equal(node.bmc.access.failedLogins, 1);
  const { resourceVersion } = (await testenv.bmc(node).exists()).metadata;
  assert.equal(resourceVersion, metadata.resourceVersion, 'nothing new is reported');

  await testenv.secrets.setTexts(node.name, { password: 'another-one' });
  await using _last = await testenv.startOperatorProcess();
  const bmc = await testenv.bmc(node).reaches('Enabled');
  assert.equal(bmc.status?.rejectedLogin, undefined);
  assert.equal(node.bmc.access.failedLogins, 1);
});

/** A BMCSecret may be converted first; its new version is recorded with the rejection. */
const isRejected = ({ status }: Server) => status?.rejectedLogin !== undefined;

test('a wrong password of an inline BMC is tried once over all operator restarts, and a corrected one at once', async () => {
  await using testenv = await startTestenv({ operator: 'none', speed: 1 });
  const node = await testenv.fleet.add({ vendor: 'lenovo', password: 'another-one' });
  const first = await testenv.startOperatorProcess();
  const { metadata } = await addInlineServer(testenv, node);
  const { metadata: rejected, status } = await testenv.server(node).until('is rejected', isRejected);
  assert.equal(status?.rejectedLogin?.address, node.bmc.url);
  assert.doesNotMatch(JSON.stringify(status), /fleet-password|another-one/);
  await first.kill();

  await restart(testenv, ['dell', 'hpe'], async (other) => {
    await addInlineServer(testenv, other);
    await testenv.server(other).reaches('Discovery');
  });
  assert.equal(node.bmc.access.failedLogins, 1);
  const { resourceVersion } = (await testenv.server(node).exists()).metadata;
  assert.equal(resourceVersion, rejected.resourceVersion, 'nothing new is reported');

  await testenv.secrets.setTexts(metadata.name, { password: 'another-one' });
  await using _last = await testenv.startOperatorProcess();
  const server = await testenv.server(node).reaches('Discovery');
  assert.equal(server.status?.rejectedLogin, undefined);
  assert.equal(node.bmc.access.failedLogins, 1);
});
