import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Server } from '@metal/api/v1alpha1/server.ts';
import { addInlineServer } from '@metal/lab/inline-server.ts';
import { type Lab, labsOfFile } from '@metal/lab/lab.ts';
import type { Node } from '@metal/simulator/fleet.ts';
import type { Vendor } from '@metal/simulator/profiles.ts';

const openLab = labsOfFile();

/** One operator after the other, each until it has seen to a newcomer: what comes last is seen last. */
async function restart(lab: Lab, vendors: readonly Vendor[], seesTo: (newcomer: Node) => Promise<void>): Promise<void> {
  for (const vendor of vendors) {
    await using _next = await lab.startOperatorProcess();
    const [newcomer] = await lab.rack({ [vendor]: 1 });
    assert.ok(newcomer);
    await seesTo(newcomer);
  }
}

test('a wrong password is tried once, however often the operator restarts, and a right one at once', async () => {
  await using lab = await openLab({ operator: 'none', speed: 1 });
  const node = await lab.fleet.add({ vendor: 'lenovo', password: 'another-one' });
  const first = await lab.startOperatorProcess();
  await lab.plugIn(node);
  const { metadata, status } = await lab.bmc(node).says('AuthenticationFailed');
  assert.equal(status?.rejectedLogin?.address, node.bmc.url);
  assert.doesNotMatch(JSON.stringify(status), /another-one/);
  await first.kill();

  await restart(lab, ['dell', 'hpe', 'generic'], async (other) => {
    await lab.plugIn(other);
    await lab.bmc(other).reaches('Enabled');
  });
  assert.equal(node.bmc.access.failedLogins, 1);
  const { resourceVersion } = (await lab.bmc(node).exists()).metadata;
  assert.equal(resourceVersion, metadata.resourceVersion, 'nothing new is said');

  await lab.patchSecret(node.name, { password: 'another-one' });
  await using _last = await lab.startOperatorProcess();
  const bmc = await lab.bmc(node).reaches('Enabled');
  assert.equal(bmc.status?.rejectedLogin, undefined);
  assert.equal(node.bmc.access.failedLogins, 1);
});

/** The BMCSecret may have to be converted before it is known what was rejected. */
const isRejected = ({ status }: Server) => status?.rejectedLogin !== undefined;

test('of a server with its BMC inline, too, a wrong password is tried once, however often the operator restarts', async () => {
  await using lab = await openLab({ operator: 'none', speed: 1 });
  const node = await lab.fleet.add({ vendor: 'lenovo', password: 'another-one' });
  const first = await lab.startOperatorProcess();
  const { metadata } = await addInlineServer(lab, node);
  const { metadata: judged, status } = await lab.server(node).until('is rejected', isRejected);
  assert.equal(status?.rejectedLogin?.address, node.bmc.url);
  assert.doesNotMatch(JSON.stringify(status), /fleet-password|another-one/);
  await first.kill();

  await restart(lab, ['dell', 'hpe'], async (other) => {
    await addInlineServer(lab, other);
    await lab.server(other).reaches('Discovery');
  });
  assert.equal(node.bmc.access.failedLogins, 1);
  const { resourceVersion } = (await lab.server(node).exists()).metadata;
  assert.equal(resourceVersion, judged.resourceVersion, 'nothing new is said');

  await lab.patchSecret(metadata.name, { password: 'another-one' });
  await using _last = await lab.startOperatorProcess();
  const server = await lab.server(node).reaches('Discovery');
  assert.equal(server.status?.rejectedLogin, undefined);
  assert.equal(node.bmc.access.failedLogins, 1);
});
