import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import { ServerBootConfiguration } from '@metal/api/v1alpha1/server-boot-configuration.ts';
import { mbrImage } from '@metal/probe/test/disk-fixture.ts';
import type { Node } from '@metal/simulator/fleet.ts';
import { startImageServer } from '@metal/testenv/network/image-server.ts';
import { startRestartingTestenv } from '@metal/testenv/operator/restarting-operator.ts';
import { simulated } from '@metal/testenv/fleet/simulated.ts';
import { type Testenv, testenvsOfFile } from '@metal/testenv/testenv.ts';

const startTestenv = testenvsOfFile();

const faultPoints: Record<string, (testenv: Testenv, node: Node) => Promise<unknown>> = {
  'the boot of the agent exists': (testenv, node) =>
    testenv
      .server(node)
      .until('refers to it', ({ spec, metadata }) => spec.bootConfigurationRef?.name === metadata.name),
  'the agent runs': (testenv, node) =>
    testenv.machine(node).until('runs the agent', () => node.running?.role === 'deployer'),
  'the image is on the disk': (testenv, node) =>
    testenv.machine(node).until('has an image', () => simulated(node).installed !== undefined),
  'the result is recorded': (testenv, node) =>
    testenv.server(node).until('counts as provisioned', ({ status }) => status?.provisionedClaimUID !== undefined),
};

for (const [faultPoint, reach] of Object.entries(faultPoints)) {
  test(`an operator killed when ${faultPoint} serves the claim from its disk`, async () => {
    await using images = await startImageServer();
    await using opened = await startRestartingTestenv(startTestenv, {
      stepMs: 300,
      flags: [
        `--allowed-image-origins=${images.url}`,
        '--refused-image-networks=192.0.2.0/24',
        '--power-polling-interval=1s',
      ],
    });
    const { testenv, operator } = opened;
    const [node] = await testenv.addNodes({ generic: 1 });
    assert.ok(node);
    await testenv.plugIn(node);
    await testenv.server(node).hasReason('Available');
    const image = mbrImage();
    const checksum = createHash('sha256').update(image).digest('hex');
    const url = images.serve('os.img', image);
    const rootDeviceHints = { deviceName: '/dev/nvme1n1' };
    const claim = await testenv.claim({
      image: '',
      diskImage: { url, checksum, format: 'raw', rootDeviceHints },
      on: node,
    });
    await reach(testenv, node);
    const { disks } = simulated(node);
    const writes = disks.writesTo('nvme1n1');
    operator.kill(faultPoint);
    await operator.started;
    await claim.watched.hasCondition('Ready', 'True');
    await testenv.machine(node).until('runs from its disk', () => node.running?.from === 'disk');
    assert.ok(disks.read('nvme1n1', 0, image.length).equals(image));
    assert.equal(disks.writesTo('nvme0n1'), 0);
    if (faultPoint === 'the result is recorded') assert.equal(disks.writesTo('nvme1n1'), writes);
    const boot = await testenv.client.get(ServerBootConfiguration, { namespace: 'default', name: claim.name });
    assert.equal(boot.status?.deployment?.state, 'Succeeded');
  });
}
