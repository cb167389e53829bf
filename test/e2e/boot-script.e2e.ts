import assert from 'node:assert/strict';
import { test } from 'node:test';
import { IPXEBootConfig } from '@metal/api/v1alpha1/ipxe-boot-config.ts';
import { ServerBootConfiguration } from '@metal/api/v1alpha1/server-boot-configuration.ts';
import { Secret } from '@metal/kube/kinds/builtin.ts';
import { findButane } from '@metal/project/butane.ts';
import { banners } from '@metal/project/demo/tenant-system.ts';
import { addRealMachine, startRealTestenv, timeoutSignal } from '@metal/testenv/real-testenv.ts';

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

test("a machine runs the user's iPXE script for its boot, with ignition translated from Butane", async () => {
  const program = await findButane({ environment: process.env, log: (line) => void process.stdout.write(`${line}\n`) });
  await using testenv = await startRealTestenv({ flags: [`--butane=${program}`] });
  const node = await addRealMachine(testenv);
  await testenv.plugIn(node);
  const { metadata } = await testenv.server(node).hasReason('Available');

  const secret = (name: string, texts: Record<string, string>) => {
    const data = Object.entries(texts).map(([key, text]) => [key, Buffer.from(text).toString('base64')]);
    return testenv.client.create(Secret, { metadata: { name, namespace }, data: Object.fromEntries(data) });
  };
  await secret('script', { 'ipxe-script': script });
  await secret('ignition', { format: 'fcos', ignition: butane });
  const spec = { kernelURL: 'none', initrdURL: 'none', ipxeScriptSecretRef: { name: 'script' } };
  await testenv.client.create(IPXEBootConfig, { metadata: { name: 'scripted', namespace }, spec });
  await testenv.claim({
    name: 'scripted',
    image: 'registry.test/tenant:1',
    on: node,
    ignitionSecretRef: { name: 'ignition' },
  });
  await node.serial.waitForLine(new RegExp(`A script of our own for ${metadata.name}`), timeoutSignal());
  await node.serial.waitForLine(new RegExp(banners.network), timeoutSignal());
  await node.serial.waitForLine(/ignition: tenant-secret-7/, timeoutSignal());
  await node.serial.waitForLine(/a second ignition is refused/, timeoutSignal());
  await testenv.server(node).hasReason('ClaimServed');
  const { status } = await testenv.client.get(ServerBootConfiguration, { name: 'scripted', namespace });
  const steps = status?.boot?.steps?.map(({ name }) => name).filter((name) => name !== 'dhcp');
  assert.deepEqual(steps, ['script', 'kernel', 'initrd', 'ignition', 'booted']);
  assert.equal((await testenv.client.get(IPXEBootConfig, { name: 'scripted', namespace })).status?.state, 'Ready');
});
