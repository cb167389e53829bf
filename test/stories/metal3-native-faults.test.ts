import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { BareMetalHost } from '@metal/api/metal3/bare-metal-host.ts';
import { HardwareData } from '@metal/api/metal3/hardware-data.ts';
import { Server } from '@metal/api/v1alpha1/server.ts';
import { ServerClaim } from '@metal/api/v1alpha1/server-claim.ts';
import { Namespace, Secret } from '@metal/kube/kinds/builtin.ts';
import { gptImage, mbrImage } from '@metal/probe/test/disk-fixture.ts';
import { fleetCredentials } from '@metal/simulator/fleet-credentials.ts';
import type { Node } from '@metal/simulator/fleet.ts';
import { simulated } from '@metal/testenv/fleet/simulated.ts';
import { testenvsOfFile } from '@metal/testenv/testenv.ts';
import { reportsOf } from '../fixtures/cleanup-fixture.ts';
import { base64, namespace, type NativeTestenv, startNativeTestenv } from '../fixtures/metal3-native-fixture.ts';

const startTestenv = testenvsOfFile();
const rootDeviceHints = { deviceName: '/dev/nvme1n1' };
const image = mbrImage();

suite('Faults in the middle of the life of a BareMetalHost on the native provisioner', () => {
  let native: NativeTestenv;
  before(async () => {
    native = await startNativeTestenv(startTestenv);
  });
  after(async () => native[Symbol.asyncDispose]());

  /** A host whose image is being written. */
  async function deploying(name: string) {
    const [node] = await native.testenv.addNodes({ generic: 1 });
    assert.ok(node);
    const host = await native.host(node, name, { image: native.served(image), rootDeviceHints });
    await native.testenv.machine(node).until('runs the agent', () => node.running?.role === 'deployer');
    return { node, host };
  }

  const claimOf = (name: string) => native.testenv.client.get(ServerClaim, { namespace, name });
  const serverOf = ({ status }: BareMetalHost): string =>
    [...native.testenv.servers.all()].find(({ metadata }) => metadata.uid === status?.provisioning.ID)?.metadata.name ??
    assert.fail('the host has no Server');
  const erasuresOf = async (server: string) =>
    (await reportsOf(native.testenv, server)).map(({ spec: { mode } }) => mode);

  const hasImage = (node: Node): boolean =>
    simulated(node)
      .disks.read('nvme1n1', 512, image.length - 512)
      .equals(image.subarray(512));

  test('a claim that is deleted while the image is written is made again after the cleanup', async () => {
    const { node, host } = await deploying('unclaimed');
    const { metadata } = await claimOf('unclaimed');
    await native.testenv.client.delete(ServerClaim, metadata);
    const provisioned = await host.reaches('provisioned');
    assert.notEqual((await claimOf('unclaimed')).metadata.uid, metadata.uid);
    assert.deepEqual([provisioned.status?.errorMessage, provisioned.status?.provisioningFailCount], ['', 0]);
    assert.ok(hasImage(node));
    assert.deepEqual(await erasuresOf(serverOf(provisioned)), ['Metadata']);
  });

  test('a password that is rotated while the image is written is used for the rest', async () => {
    const { node, host } = await deploying('turned');
    node.bmc.password = 'turned';
    node.bmc.dropSessions();
    const data = { password: base64('turned') };
    await native.testenv.client.mergePatch(Secret, { namespace, name: 'turned-bmc' }, { data });
    const provisioned = await host.reaches('provisioned');
    await host.until('is on', ({ status }) => status?.poweredOn === true);
    assert.equal(provisioned.status?.provisioningFailCount, 0);
    assert.ok(hasImage(node));
    assert.equal(node.bmc.access.isLocked, false);
  });

  test('a host reports that its image server is away, and goes on when it is back', async () => {
    const [node] = await native.testenv.addNodes({ generic: 1 });
    assert.ok(node);
    native.images.fail(503);
    const host = await native.host(node, 'waiting', { image: native.served(gptImage(), 'away.img'), rootDeviceHints });
    const { status } = await host.hasMessage(/the disk image or its checksum file cannot be fetched/);
    assert.deepEqual([status?.provisioning.state, node.machine.power], ['provisioning', 'Off']);
    assert.equal(simulated(node).disks.writesTo('nvme1n1'), 0);
    native.images.fail(undefined);
    const provisioned = await host.reaches('provisioned');
    assert.equal(provisioned.status?.provisioningFailCount, 0);
  });

  test('a host that is deleted while its image is written leaves a machine that is off, clean and free', async () => {
    const { node, host } = await deploying('early');
    const server = serverOf(await host.exists());
    await native.testenv.client.delete(BareMetalHost, { namespace, name: 'early' });
    await host.isGone();
    assert.equal(await native.testenv.client.find(ServerClaim, { namespace, name: 'early' }), undefined);
    assert.deepEqual([node.machine.power, await erasuresOf(server)], ['Off', ['Metadata']]);
  });

  test('a provisioned host whose claim is deleted is in error, and its image is not written again', async () => {
    const { node, host } = await deploying('bereft');
    const server = serverOf(await host.reaches('provisioned'));
    await native.testenv.client.delete(ServerClaim, { namespace, name: 'bereft' });
    const { status } = await host.until('has failed', ({ status: now }) => now?.errorType !== undefined);
    assert.equal(status?.errorType, 'provisioned registration error');
    assert.match(status.errorMessage, /ServerClaim of the host is gone: remove spec\.image/);
    await native.testenv.servers.named(server).hasReason('Available');
    await native.hosts.patch('bereft', { spec: { image: null } });
    await host.reaches('available');
    assert.deepEqual([node.machine.power, await erasuresOf(server)], ['Off', ['Metadata']]);
    assert.equal(await native.testenv.client.find(ServerClaim, { namespace, name: 'bereft' }), undefined);
  });

  test('a provisioned host whose Server is deleted is in error, and its machine runs on', async () => {
    const { node, host } = await deploying('lost');
    const server = serverOf(await host.reaches('provisioned'));
    await host.until('is on', ({ status }) => status?.poweredOn === true);
    const { length: boots } = node.boots;
    await native.testenv.client.delete(Server, { name: server });
    const { status } = await host.until('has failed', ({ status: now }) => now?.errorType !== undefined);
    assert.equal(status?.errorType, 'registration error');
    assert.match(status.errorMessage, /is gone in state provisioned|which is no Server/);
    assert.deepEqual([node.machine.power, node.boots.length], ['On', boots]);
    assert.ok(hasImage(node));
  });

  test('a host goes with its namespace, whatever of it goes first, and its machine is cleaned', async () => {
    const { testenv } = native;
    const leaving = { namespace: 'leaving', name: 'member' };
    await testenv.client.create(Namespace, { metadata: { name: leaving.namespace } });
    const [node] = await testenv.addNodes({ generic: 1 });
    assert.ok(node);
    const login = { username: base64(fleetCredentials.username), password: base64(fleetCredentials.password) };
    await testenv.client.create(Secret, { metadata: { ...leaving, name: 'login' }, data: login });
    const address = `redfish+http://${node.bmc.address}:${testenv.fleet.port}`;
    const bootMACAddress = node.machine.hardware.nics[0]?.macAddress;
    await testenv.client.create(BareMetalHost, {
      metadata: leaving,
      spec: {
        online: true,
        automatedCleaningMode: 'metadata',
        bmc: { address, credentialsName: 'login' },
        bootMACAddress,
        image: native.served(image),
        rootDeviceHints,
      },
    });
    const host = native.hosts.found('host of the namespace', () => native.hosts.get(leaving));
    const server = serverOf(await host.reaches('provisioned'));

    await testenv.client.delete(Namespace, { name: leaving.namespace });
    // As the API server's controller does, in the order that is worst for the host. Nothing can be created any more.
    await testenv.client.mergePatch(Secret, { ...leaving, name: 'login' }, { metadata: { finalizers: null } });
    await testenv.client.delete(Secret, { ...leaving, name: 'login' });
    await testenv.client.delete(ServerClaim, leaving);
    await testenv.client.delete(HardwareData, leaving);
    await testenv.client.delete(BareMetalHost, leaving);
    await host.isGone();
    assert.equal(await testenv.client.find(HardwareData, leaving), undefined);
    assert.deepEqual(await erasuresOf(server), ['Metadata']);
    assert.equal(node.machine.power, 'Off');
  });
});
