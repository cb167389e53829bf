import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { BareMetalHost } from '@metal/api/metal3/bare-metal-host.ts';
import { HardwareData } from '@metal/api/metal3/hardware-data.ts';
import { Secret } from '@metal/kube/kinds/builtin.ts';
import { type Fleet, startFleet } from '@metal/simulator/fleet.ts';
import { type HostTestenv, startHostTestenv, withoutAdmission } from '@metal/testenv/metal3/host-testenv.ts';
import { type IronicFixture, startIronicFixture } from '@metal/testenv/ironic/ironic-fixture.ts';

const namespace = 'default';
const image = { url: 'http://images.test/os.raw', checksum: 'a'.repeat(64), format: 'raw' } as const;

suite('BareMetalHosts on a real Ironic', () => {
  let testenv: HostTestenv;
  let fixture: IronicFixture;
  let fleet: Fleet;
  before(async () => {
    fixture = await startIronicFixture();
    fleet = await startFleet({ powerOnMs: 100, powerOffMs: 100, bootMs: 100 });
    testenv = await startHostTestenv({ speed: 10, timeoutMs: 120_000, open: withoutAdmission });
    await testenv.start({ 'metal3-provisioner': 'ironic' }, { backEnd: fixture.backEnd });
  });
  after(async () => {
    await testenv?.[Symbol.asyncDispose]();
    await fleet?.[Symbol.asyncDispose]();
    await fixture?.[Symbol.asyncDispose]();
  });

  const nodeOf = async (name: string) => Object(await fixture.ironic.request('GET', `nodes/${namespace}~${name}`));

  test('a host is registered, provisioned, deprovisioned and deleted', async () => {
    const host = testenv.hosts.named('life');
    await testenv.host('life', {
      spec: {
        bmc: { address: 'fake://life', credentialsName: 'life-bmc' },
        bootMACAddress: '52:54:00:00:02:01',
        inspectionMode: 'disabled',
        automatedCleaningMode: 'disabled',
      },
    });
    const { status } = await host.reaches('available');
    assert.equal(status?.provisioning.ID, (await nodeOf('life')).uuid);

    await testenv.hosts.patch('life', { spec: { image } });
    await host.reaches('provisioned');
    const { provision_state, instance_info, instance_uuid } = await nodeOf('life');
    assert.deepEqual([provision_state, instance_info.image_source], ['active', image.url]);
    assert.equal(instance_uuid, (await host.until('exists', () => true)).metadata.uid);

    await testenv.hosts.patch('life', { spec: { image: null, online: false } });
    await host.reaches('available');
    await testenv.client.delete(BareMetalHost, { name: 'life', namespace });
    await host.isGone();
    await assert.rejects(nodeOf('life'), /404/);
    const secret = await testenv.client.get(Secret, { name: 'life-bmc', namespace });
    assert.equal(secret.metadata.finalizers, undefined);
  });

  test('a host of a Redfish BMC is inspected by its BMC, its power follows spec.online, and a BMC that is away is a condition', async () => {
    const node = await fleet.add();
    const { systemId, hardware } = node.machine;
    await testenv.secret('power-login', { username: 'admin', password: 'fleet-password' });
    const address = `redfish-virtualmedia+http://${node.bmc.address}:${fleet.port}/redfish/v1/Systems/${systemId}`;
    const host = testenv.hosts.named('power');
    await testenv.host('power', {
      spec: {
        bmc: { address, credentialsName: 'power-login' },
        bootMACAddress: hardware.nics[0]?.macAddress,
        inspectionMode: 'fast',
        automatedCleaningMode: 'disabled',
      },
    });
    const { status } = await host.reaches('available');
    assert.ok((status?.hardware?.ramMebibytes ?? 0) > 0);
    const data = await testenv.client.get(HardwareData, { name: 'power', namespace });
    assert.deepEqual(data.spec.hardware, status?.hardware);
    await host.until('is on', ({ status: now }) => now?.poweredOn === true);
    assert.equal(node.machine.power, 'On');
    await testenv.hosts.patch('power', { spec: { online: false } });
    await host.until('is off', ({ status: now }) => now?.poweredOn === false);
    assert.equal(node.machine.power, 'Off');

    await node.bmc.refuse();
    const unreachable = await host.hasReason('PowerFailure');
    assert.deepEqual([host.condition('Manageable')?.status, unreachable.status?.errorMessage], ['False', '']);
    await node.bmc.heal();
    await host.hasCondition('Manageable', 'True');
  });

  test('wrong credentials are an error with a reason until the Secret has the right ones', async () => {
    const node = await fleet.add();
    await testenv.secret('login', { username: 'admin', password: 'wrong' });
    const address = `redfish+http://${node.bmc.address}:${fleet.port}/redfish/v1/Systems/${node.machine.systemId}`;
    const host = testenv.hosts.named('login');
    await testenv.host('login', {
      spec: {
        bmc: { address, credentialsName: 'login' },
        bootMACAddress: node.machine.hardware.nics[0]?.macAddress,
        inspectionMode: 'disabled',
      },
    });
    const { status } = await host.until('has failed', ({ status: now }) => now?.errorType === 'registration error');
    assert.doesNotMatch(JSON.stringify(status), /wrong/);
    const right = Buffer.from('fleet-password').toString('base64');
    await testenv.client.mergePatch(Secret, { name: 'login', namespace }, { data: { password: right } });
    const healed = await host.reaches('available');
    assert.deepEqual([healed.status?.errorMessage, healed.status?.errorCount], ['', 0]);
    assert.deepEqual(healed.status?.goodCredentials, healed.status?.triedCredentials);
  });
});
