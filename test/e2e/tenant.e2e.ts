import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ServerBootConfiguration } from '@metal/api/v1alpha1/server-boot-configuration.ts';
import { Secret } from '@metal/kube/builtin.ts';
import { addRealMachine, openRealLab, patience } from './real-machines.ts';
import { banners } from '@metal/project/demo/tenant-system.ts';

test('a claimed machine boots the image of its claim with its ignition, once, and its disk from then on', async () => {
  await using lab = await openRealLab();
  const node = await addRealMachine(lab);
  await lab.plugIn(node);
  await lab.server(node).says('Available');

  const ignition = JSON.stringify({ ignition: { version: '3.2.0' }, tenant: 'tenant-secret-42' });
  await lab.client.create(Secret, {
    metadata: { name: 'tenant', namespace: 'default' },
    data: { ignition: Buffer.from(ignition).toString('base64') },
  });
  const claim = await lab.claim({ image: 'registry.test/tenant:1', on: node, ignitionSecretRef: { name: 'tenant' } });
  await node.serial.says(new RegExp(banners.network), patience());
  await node.serial.says(/ignition: tenant-secret-42/, patience());
  await node.serial.says(/a second ignition is refused/, patience());
  await lab.server(node).says('ClaimServed');
  const boot = await lab.client.get(ServerBootConfiguration, { namespace: 'default', name: claim.name });
  const evidence = boot.status?.conditions?.filter(({ status }) => status === 'True').map(({ type }) => type) ?? [];
  for (const type of ['IPXEScriptFetched', 'IgnitionDataFetched', 'BootStateReceived'])
    assert.ok(evidence.includes(type), `${type} is among ${evidence.join(', ')}`);

  node.machine.cutOff();
  await lab.machine(node).until('is without power', () => node.power === 'Off');
  await lab.machine(node).until('is started again', () => node.power === 'On');
  await node.serial.says(new RegExp(banners.disk), patience());

  await claim.delete();
  await claim.isGone();
  await lab.server(node).says('Available');
  assert.equal(node.power, 'Off');
  assert.deepEqual(node.powerLog, ['On', 'Off', 'On', 'Off', 'On', 'Off']);
});
