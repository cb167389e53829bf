import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { BareMetalHost } from '@metal/api/metal3/bare-metal-host.ts';
import { ServerClaim } from '@metal/api/v1alpha1/server-claim.ts';
import { Secret } from '@metal/kube/kinds/builtin.ts';
import { mbrImage } from '@metal/probe/test/disk-fixture.ts';
import { fleetCredentials } from '@metal/simulator/fleet-credentials.ts';
import { testenvsOfFile } from '@metal/testenv/testenv.ts';
import { base64, namespace, type NativeTestenv, startNativeTestenv } from '../fixtures/metal3-native-fixture.ts';

const startTestenv = testenvsOfFile();
const systems = ['/redfish/v1/Systems/system', '/redfish/v1/Systems/system2'] as const;

suite('BMCs of BareMetalHosts on the native provisioner', () => {
  let native: NativeTestenv;
  before(async () => {
    native = await startNativeTestenv(startTestenv);
  });
  after(async () => native[Symbol.asyncDispose]());

  const changePassword = (name: string, password: string) =>
    native.testenv.client.mergePatch(
      Secret,
      { namespace, name: `${name}-bmc` },
      { data: { password: base64(password) } },
    );
  const bmcsAt = (ip: string) => [...native.testenv.bmcs.all()].filter(({ spec }) => spec.access?.ip === ip);

  test('hosts of one BMC get the systems that their addresses name, and share the BMC until the last one is deleted', async () => {
    const { testenv, hosts } = native;
    const node = await testenv.fleet.add({ vendor: 'generic', systems: 2 });
    const [, other] = node.machines;
    assert.ok(other);
    const one = await native.host(node, 'system-1', { path: systems[0] });
    await one.reaches('available');
    assert.equal(native.serverOf('system-1').now?.spec.systemURI, systems[0]);
    const held = [...testenv.servers.all()].find(
      ({ spec }) => spec.systemURI === systems[1] && spec.bmcRef?.name === bmcsAt(node.bmc.address)[0]?.metadata.name,
    );
    assert.deepEqual(held?.spec.taints, [{ key: 'metal3.io/host', effect: 'NoBind' }]);
    const claim = await testenv.claim({ image: 'registry.test/os:1', serverRef: { name: held.metadata.name } });
    await claim.hasReason('NoServerMatches');
    assert.deepEqual([other.power, other.boots.length], ['Off', 0]);
    await testenv.client.delete(ServerClaim, { namespace, name: claim.name });

    const unclear = await native.host(node, 'system-unclear');
    const { status } = await unclear.until('has failed', ({ status: now }) => now?.errorType === 'registration error');
    assert.match(status?.errorMessage ?? '', new RegExp(`several systems: add one of ${systems.join(', ')}`));
    const two = await native.host(node, 'system-2', { path: systems[1] });
    await two.reaches('available');
    assert.equal(native.serverOf('system-2').now?.metadata.uid, held.metadata.uid);
    assert.equal(bmcsAt(node.bmc.address).length, 1);

    await hosts.patch('system-2', {
      spec: { image: native.served(mbrImage()), rootDeviceHints: { deviceName: '/dev/nvme0n1' } },
    });
    await two.reaches('provisioned');
    for (const name of ['system-1', 'system-unclear']) {
      await testenv.client.delete(BareMetalHost, { namespace, name });
      await hosts.named(name).isGone();
      assert.equal(bmcsAt(node.bmc.address).length, 1);
    }
    assert.equal(two.now?.status?.provisioning.state, 'provisioned');
    await testenv.client.delete(BareMetalHost, { namespace, name: 'system-2' });
    await two.isGone();
    assert.deepEqual(bmcsAt(node.bmc.address), []);
    assert.equal(other.power, 'Off');
  });

  test('a rotated password is used as soon as the Secret of the host has it, and locks no account', async () => {
    const { testenv } = native;
    const [node] = await testenv.addNodes({ generic: 1 });
    assert.ok(node);
    const host = await native.host(node, 'rotated');
    await host.reaches('available');
    const [bmc] = bmcsAt(node.bmc.address);
    assert.ok(bmc);
    const watched = testenv.bmcs.named(bmc.metadata.name);
    node.bmc.password = 'rotated';
    node.bmc.dropSessions();
    await testenv.bmcs.patch(bmc.metadata.name, { metadata: { labels: { touched: 'yes' } } });
    await watched.hasReason('AuthenticationFailed');
    const { metadata } = await changePassword('rotated', 'rotated');
    await watched.reaches('Enabled');
    await host.until(
      'uses the new password',
      ({ status }) =>
        status?.errorMessage === '' && status.goodCredentials?.credentialsVersion === metadata.resourceVersion,
    );
    const secret = testenv.secrets.named(bmc.metadata.name).now;
    assert.equal(secret?.data?.password, base64('rotated'));
    assert.equal(host.now?.status?.provisioning.state, 'available');
    assert.equal(node.bmc.access.isLocked, false);
  });

  test('the younger of two hosts of one BMC with other credentials fails until both agree', async () => {
    const { testenv } = native;
    const node = await testenv.fleet.add({ vendor: 'generic', systems: 2 });
    const older = await native.host(node, 'agree-1', { path: systems[0] });
    await older.reaches('available');
    const failedLogins = node.bmc.access.failedLogins;
    const younger = await native.host(node, 'agree-2', { path: systems[1], password: 'another' });
    const { status } = await younger.until('has failed', ({ status: now }) => now?.errorType === 'registration error');
    assert.match(status?.errorMessage ?? '', /host default\/agree-1 has the same BMC with other credentials/);
    assert.equal(node.bmc.access.failedLogins, failedLogins);
    await changePassword('agree-2', fleetCredentials.password);
    await younger.reaches('available');
    assert.equal(older.now?.status?.errorMessage, '');
    assert.equal(node.bmc.access.failedLogins, failedLogins);
  });
});
