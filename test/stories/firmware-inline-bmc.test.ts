import assert from 'node:assert/strict';
import { test } from 'node:test';
import { BMCVersion } from '@metal/api/v1alpha1/bmc-version.ts';
import { FirmwareVersion } from '@metal/api/v1alpha1/firmware-version.ts';
import { addInlineServer } from '@metal/testenv/fleet/inline-server.ts';
import { testenvsOfFile } from '@metal/testenv/testenv.ts';
import { servedImage } from '../fixtures/update-fixture.ts';

const startTestenv = testenvsOfFile();

test('the firmware of an inline BMC is installed by a FirmwareVersion, which restarts the BMC once', async () => {
  await using stack = new AsyncDisposableStack();
  const testenv = stack.use(await startTestenv());
  const [node] = await testenv.addNodes({ generic: 1 });
  assert.ok(node);
  const { metadata } = await addInlineServer(testenv, node);
  await testenv.server(node).hasReason('Available');
  const starts = node.powerLog.length;
  const { uri } = await servedImage(stack, { component: 'BMC', version: '99.1' });
  const image = { URI: uri };

  // A BMCVersion needs a BMC object.
  await testenv.client.create(BMCVersion, {
    metadata: { name: 'by-name' },
    spec: { version: '99.1', image, bmcRef: { name: metadata.name } },
  });
  await testenv.updates.bmcVersions.named('by-name').hasMessage(new RegExp(`BMC ${metadata.name} does not exist`));

  await testenv.client.create(FirmwareVersion, {
    metadata: { name: 'inline' },
    spec: { version: '99.1', image, serverRef: { name: metadata.name }, component: { id: 'BMC' }, restart: 'BMC' },
  });
  await testenv.updates.firmwareVersions.named('inline').reaches('Completed');
  assert.equal(node.bmc.firmwareVersion, '99.1');
  assert.equal(node.bmc.resets.length, 1);
  assert.equal(node.bmc.flashes.length, 1);
  await testenv.server(node).hasReason('Available');
  assert.deepEqual(node.powerLog.slice(starts), ['On', 'Off'], 'the machine is on for the work, and off again');
});
