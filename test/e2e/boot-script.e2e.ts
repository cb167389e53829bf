import assert from 'node:assert/strict';
import { test } from 'node:test';
import { IPXEBootConfig } from '@metal/api/v1alpha1/ipxe-boot-config.ts';
import { ServerBootConfiguration } from '@metal/api/v1alpha1/server-boot-configuration.ts';
import { Secret } from '@metal/kube/builtin.ts';
import { findButane } from '@metal/project/butane.ts';
import { banners } from '@metal/project/demo/tenant-system.ts';
import { addRealMachine, openRealLab, patience } from './real-machines.ts';

const namespace = 'default';
const script = `#!ipxe
echo A script of our own for \${metal-server}
kernel \${metal-boot-url}/kernel initrd=initrd console=ttyS0,115200 panic=60 ignition.config.url=\${metal-boot-url}/ignition metal.boot.evidence=\${metal-boot-url}/booted
initrd \${metal-boot-url}/initrd
boot
`;
const butane = `variant: fcos
version: 1.6.0
storage:
  files:
    - path: /etc/motd
      contents: { inline: tenant-secret-7 }
`;

test('a machine runs the iPXE script that a person wrote for its boot, and reads ignition that was Butane', async () => {
  const program = await findButane({ environment: process.env, say: (line) => void process.stdout.write(`${line}\n`) });
  await using lab = await openRealLab({ flags: [`--butane=${program}`] });
  const node = await addRealMachine(lab);
  await lab.plugIn(node);
  const { metadata } = await lab.server(node).says('Available');

  const secret = (name: string, texts: Record<string, string>) => {
    const data = Object.entries(texts).map(([key, text]) => [key, Buffer.from(text).toString('base64')]);
    return lab.client.create(Secret, { metadata: { name, namespace }, data: Object.fromEntries(data) });
  };
  await secret('script', { 'ipxe-script': script });
  await secret('ignition', { format: 'fcos', ignition: butane });
  const spec = { kernelURL: 'none', initrdURL: 'none', ipxeScriptSecretRef: { name: 'script' } };
  await lab.client.create(IPXEBootConfig, { metadata: { name: 'scripted', namespace }, spec });
  await lab.claim({
    name: 'scripted',
    image: 'registry.test/tenant:1',
    on: node,
    ignitionSecretRef: { name: 'ignition' },
  });
  await node.serial.says(new RegExp(`A script of our own for ${metadata.name}`), patience());
  await node.serial.says(new RegExp(banners.network), patience());
  await node.serial.says(/ignition: tenant-secret-7/, patience());
  await node.serial.says(/a second ignition is refused/, patience());
  await lab.server(node).says('ClaimServed');
  const { status } = await lab.client.get(ServerBootConfiguration, { name: 'scripted', namespace });
  const steps = status?.boot?.steps?.map(({ name }) => name).filter((name) => name !== 'dhcp');
  assert.deepEqual(steps, ['script', 'kernel', 'initrd', 'ignition', 'booted']);
  assert.equal((await lab.client.get(IPXEBootConfig, { name: 'scripted', namespace })).status?.state, 'Ready');
});
