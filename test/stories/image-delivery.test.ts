import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import { BIOSVersion } from '@metal/api/v1alpha1/bios-version.ts';
import { Secret } from '@metal/kube/kinds/builtin.ts';
import { firmwareImage } from '@metal/simulator/firmware-image.ts';
import { startImageServer } from '@metal/testenv/network/image-server.ts';
import { testenvsOfFile } from '@metal/testenv/testenv.ts';
import { freeMachine } from '../fixtures/update-fixture.ts';

const startTestenv = testenvsOfFile();
/** The image server of the test has a loopback address. */
const flags = ['--refused-image-networks=192.0.2.0/24'];

const image = firmwareImage({ component: 'BIOS', version: '2.0.0' });
const checksum = `sha256:${createHash('sha256').update(image).digest('hex')}`;

for (const delivery of ['Proxy', 'Push'] as const)
  test(`an image behind a password is installed by delivery ${delivery}, and the BMC does not fetch it from there`, async () => {
    await using stack = new AsyncDisposableStack();
    const testenv = stack.use(await startTestenv({ flags }));
    const images = stack.use(await startImageServer({ username: 'fetcher', password: 'secret-1' }));
    const URI = images.serve('bios.bin', image);
    await testenv.client.create(Secret, {
      metadata: { namespace: 'default', name: 'mirror' },
      data: { username: btoa('fetcher'), password: btoa('secret-1') },
    });
    const { node, server } = await freeMachine(testenv);
    await testenv.client.create(BIOSVersion, {
      metadata: { name: 'new-bios' },
      spec: {
        version: '2.0.0',
        image: { URI, checksum, delivery, secretRef: { name: 'mirror' } },
        serverRef: { name: server.metadata.name },
      },
    });
    await testenv.updates.biosVersions.named('new-bios').reaches('Completed');
    assert.deepEqual(
      node.bmc.flashes.map(({ version }) => version),
      ['2.0.0'],
    );
    // One request to check it, one to deliver it.
    assert.equal(images.requests.get('/bios.bin'), 2);
  });

test('an image with another checksum, or behind another password, is refused before a maintenance', async () => {
  await using stack = new AsyncDisposableStack();
  const testenv = stack.use(await startTestenv({ flags }));
  const images = stack.use(await startImageServer({ username: 'fetcher', password: 'secret-1' }));
  const URI = images.serve('bios.bin', image);
  const data = { username: btoa('fetcher'), password: btoa('secret-1') };
  await testenv.client.create(Secret, { metadata: { namespace: 'default', name: 'right' }, data });
  const { node, server } = await freeMachine(testenv);
  const refusedWith = async (name: string, fields: object, message: RegExp) => {
    const serverRef = { name: server.metadata.name };
    await testenv.client.create(BIOSVersion, {
      metadata: { name },
      spec: { version: '2.0.0', image: { URI, ...fields }, serverRef },
    });
    const failed = await testenv.updates.biosVersions.named(name).reaches('Failed');
    assert.equal(failed.status?.failure?.reason, 'ImageRefused');
    assert.match(failed.status?.failure?.message ?? '', message);
    assert.doesNotMatch(JSON.stringify(failed), /secret-1/);
    await testenv.client.delete(BIOSVersion, { name });
    await testenv.updates.biosVersions.named(name).isGone();
  };
  await refusedWith('other-password', {}, /responds with 401/);
  const other = `sha256:${'0'.repeat(64)}`;
  await refusedWith('other-content', { checksum: other, secretRef: { name: 'right' } }, /the image has SHA-256/);
  assert.deepEqual(node.bmc.flashes, []);
  assert.equal(testenv.maintenances.size, 0);
});
