import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Secret } from '@metal/kube/kinds/builtin.ts';
import { startImageRegistry } from '@metal/testenv/network/image-registry.ts';
import { TcpProxy } from '@metal/testenv/proxies/tcp-proxy.ts';
import { banners } from '@metal/project/demo/tenant-system.ts';
import { addRealMachine, startRealTestenv, timeoutSignal, tenantLayers } from '@metal/testenv/real-testenv.ts';

test('a claimed machine waits for its image, boots it once from its registry with its ignition, and then from its disk', async (t) => {
  await using registry = await startImageRegistry();
  await using toRegistry = await TcpProxy.to(Number(new URL(`http://${registry.host}`).port));
  const host = `127.0.0.1:${toRegistry.port}`;
  await using testenv = await startRealTestenv({
    flags: [`--allowed-registries=${host}`, `--insecure-registries=${host}`],
  });
  const digest = await registry.push('tenant/system', '1', await tenantLayers());
  const node = await addRealMachine(testenv);
  await testenv.plugIn(node);
  await testenv.server(node).hasReason('Available');

  const ignition = JSON.stringify({ ignition: { version: '3.2.0' }, tenant: 'tenant-secret-42' });
  await testenv.client.create(Secret, {
    metadata: { name: 'tenant', namespace: 'default' },
    data: { ignition: Buffer.from(ignition).toString('base64') },
  });
  const layerRequested = toRegistry.stopAt(/^GET \/v2\/tenant\/system\/blobs\/sha256:/, 'held');
  const claim = await testenv.claim({
    image: `${host}/tenant/system:1`,
    on: node,
    ignitionSecretRef: { name: 'tenant' },
  });
  await layerRequested;
  const boot = testenv.boots.named(claim.name);
  await boot.hasReason('ImagePulling');
  await testenv.server(node).hasMessage(new RegExp(`the files of "${host}/tenant/system:1" are being pulled`));
  assert.equal(node.power, 'Off', 'nothing is started before it can boot');

  toRegistry.open();
  await testenv.machine(node).until('is started', () => node.power === 'On');
  const startedAt = performance.now();
  await node.serial.waitForLine(new RegExp(banners.network), timeoutSignal());
  t.diagnostic(
    `the tenant's system prints its name ${((performance.now() - startedAt) / 1_000).toFixed(1)} s after the power-on`,
  );
  await node.serial.waitForLine(/ignition: tenant-secret-42/, timeoutSignal());
  await node.serial.waitForLine(/a second ignition is refused/, timeoutSignal());
  await testenv.server(node).hasReason('ClaimServed');
  const { status } = await boot.until('has booted', (object) => object.status?.boot?.steps?.at(-1)?.name === 'booted');
  assert.deepEqual([status?.boot?.method, status?.boot?.digest], ['iPXE', digest]);
  const steps = status?.boot?.steps?.map(({ name, count }) => `${name} ${count}`);
  assert.deepEqual(steps, ['script 1', 'kernel 1', 'initrd 1', 'ignition 1', 'booted 1']);
  const progress = status?.conditions?.filter((condition) => condition.status === 'True').map(({ type }) => type) ?? [];
  for (const type of ['IPXEScriptFetched', 'IgnitionDataFetched', 'BootStateReceived'])
    assert.ok(progress.includes(type), `${type} is among ${progress.join(', ')}`);

  node.machine.cutOff();
  await testenv.machine(node).until('is without power', () => node.power === 'Off');
  await testenv.machine(node).until('is started again', () => node.power === 'On');
  await node.serial.waitForLine(new RegExp(banners.disk), timeoutSignal());

  await claim.delete();
  await claim.isGone();
  await testenv.server(node).hasReason('Available');
  assert.equal(node.power, 'Off');
  assert.deepEqual(node.powerLog, ['On', 'Off', 'On', 'Off', 'On', 'Off']);
});
