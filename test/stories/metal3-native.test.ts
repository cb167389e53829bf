import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { BareMetalHost } from '@metal/api/metal3/bare-metal-host.ts';
import { ServerClaim } from '@metal/api/v1alpha1/server-claim.ts';
import { mbrImage } from '@metal/probe/test/disk-fixture.ts';
import { simulated } from '@metal/testenv/fleet/simulated.ts';
import { type Testenv, testenvsOfFile } from '@metal/testenv/testenv.ts';
import { namespace, type NativeTestenv, startNativeTestenv } from '../fixtures/metal3-native-fixture.ts';

const startTestenv = testenvsOfFile();

suite('BareMetalHosts on the native provisioner', () => {
  let native: NativeTestenv;
  let testenv: Testenv;
  before(async () => {
    native = await startNativeTestenv(startTestenv);
    ({ testenv } = native);
  });
  after(async () => native[Symbol.asyncDispose]());

  test('a host is inspected, gets an image on its disk, is cleaned, and gives its machine up', async () => {
    const [node] = await testenv.addNodes({ generic: 1 });
    assert.ok(node);
    const host = await native.host(node, 'life');
    const { status } = await host.reaches('available');
    const { hardware } = status ?? {};
    assert.ok((hardware?.ramMebibytes ?? 0) > 0);
    assert.equal(hardware?.storage?.length, node.machine.hardware.disks.length);
    const server = [...testenv.servers.all()].find(({ metadata }) => metadata.uid === status?.provisioning.ID);
    assert.deepEqual(server?.spec.taints, [{ key: 'metal3.io/host', effect: 'NoBind' }]);
    assert.equal(node.machine.power, 'Off');

    const image = mbrImage();
    const rootDeviceHints = { deviceName: '/dev/nvme1n1' };
    await native.hosts.patch('life', { spec: { image: { ...native.served(image), format: '' }, rootDeviceHints } });
    const provisioned = await host.reaches('provisioned');
    assert.equal(provisioned.status?.errorMessage, '');
    await host.until('is on', ({ status: now }) => now?.poweredOn === true);
    // The first sector has an entry for the config drive, too.
    const written = simulated(node).disks.read('nvme1n1', 512, image.length - 512);
    assert.ok(written.equals(image.subarray(512)));

    await native.hosts.patch('life', { spec: { online: false } });
    await host.until('is off', ({ status: now }) => now?.poweredOn === false);
    await native.hosts.patch('life', { spec: { image: null } });
    await host.reaches('available');
    await assert.rejects(testenv.client.get(ServerClaim, { name: 'life', namespace }), /not found/i);

    await testenv.client.delete(BareMetalHost, { name: 'life', namespace });
    await host.isGone();
    assert.equal(node.machine.power, 'Off');
    assert.deepEqual(
      [...testenv.bmcs.all()].filter(({ spec }) => spec.access?.ip === node.bmc.address),
      [],
    );
  });

  test('a Server that somebody holds is not given to a host', async () => {
    const [node] = await testenv.addNodes({ generic: 1 });
    assert.ok(node);
    await testenv.plugIn(node);
    await testenv.server(node).hasReason('Available');
    const claim = await testenv.claim({ image: 'registry.test/os:1', on: node });
    await claim.watched.hasCondition('Ready', 'True');
    const host = await native.host(node, 'held');
    const { status } = await host.until('has failed', ({ status: now }) => now?.errorType === 'registration error');
    assert.match(status?.errorMessage ?? '', new RegExp(`is claimed by ${namespace}/${claim.name}`));
    assert.equal(node.machine.power, 'On');
  });

  test('an image with another checksum is a provisioning error, and nothing is on the disk', async () => {
    const [node] = await testenv.addNodes({ generic: 1 });
    assert.ok(node);
    const image = { ...native.served(Buffer.alloc(4_096, 1)), checksum: '0'.repeat(64) };
    const host = await native.host(node, 'checksum', { image, rootDeviceHints: { deviceName: '/dev/nvme1n1' } });
    await host.until('counts a failed attempt', ({ status: now }) => (now?.provisioningFailCount ?? 0) > 0);
    assert.equal(simulated(node).disks.writesTo('nvme1n1'), 0);
  });

  const onlyIronic: [string, Partial<BareMetalHost['spec']>, RegExp][] = [
    ['Secure Boot', { bootMode: 'UEFISecureBoot' }, /Secure Boot.*metal3-provisioner: ironic/],
  ];
  for (const [index, [what, spec, reason]] of onlyIronic.entries())
    test(`${what} is refused with a reason before the machine is touched`, async () => {
      const [node] = await testenv.addNodes({ generic: 1 });
      assert.ok(node);
      const host = await native.host(node, `refused-${index}`, spec);
      const { status } = await host.until('has failed', ({ status: now }) => now?.errorType === 'registration error');
      assert.match(status?.errorMessage ?? '', reason);
      assert.equal(node.boots.length, 0);
    });
});
