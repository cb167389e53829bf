import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { ServerBootConfiguration } from '@metal/api/v1alpha1/server-boot-configuration.ts';
import { Secret } from '@metal/kube/builtin.ts';
import { addInlineServer } from '@metal/lab/inline-server.ts';
import { type Lab, labsOfFile } from '@metal/lab/lab.ts';
import { findButane } from '@metal/project/butane.ts';
import { compare } from 'bcryptjs';

const openLab = labsOfFile();

test('a server with its BMC inline is discovered with the boot configuration and secrets of v0.7.0', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'metal-template-'));
  const template = join(directory, 'template.yaml');
  const text =
    'variant: fcos\nversion: 1.3.0\n# {{ .Image }} {{ .Flags }} {{ .Token }}\n# {{ .PasswordHash }}\n# {{ .SSHPublicKey }}';
  await writeFile(template, text);
  try {
    const butane = await findButane({ environment: process.env, say: () => undefined });
    const flags = [`--discovery-ignition-path=${template}`, `--butane=${butane}`];
    await using lab = await openLab({ flags, fleet: { powerOnMs: 20_000 } });
    const [node] = await lab.rack({ generic: 1 });
    assert.ok(node);
    const { metadata } = await addInlineServer(lab, node);
    const server = await lab.server(node).reaches('Discovery');
    assert.equal(server.spec.power, 'On');
    assert.deepEqual(server.spec.bootConfigurationRef, { namespace: 'default', name: metadata.name });
    await lab.server(node).has('PoweringOn', 'True');

    const boot = await lab.client.get(ServerBootConfiguration, { namespace: 'default', name: metadata.name });
    assert.equal(boot.metadata.annotations?.['metal.ironcore.dev/type'], 'Internal');
    assert.equal(boot.metadata.annotations['metal.ironcore.dev/is-default-os-image'], 'true');
    assert.deepEqual(boot.spec, {
      serverRef: { name: metadata.name },
      image: 'probe-os',
      ignitionSecretRef: { name: metadata.name },
    });

    const access = await textsOf(lab, `${metadata.name}-ssh`);
    assert.deepEqual(Object.keys(access).toSorted(), ['password', 'pem', 'pub']);
    assert.match(access.pem ?? '', /^-----BEGIN OPENSSH PRIVATE KEY-----/);
    assert.match(access.password ?? '', /^[a-zA-Z0-9]{20}$/);
    const { format, ignition = '' } = await textsOf(lab, metadata.name);
    assert.equal(format, 'fcos');
    const [, , first, second, third] = ignition.split('\n');
    assert.match(first ?? '', /^# probe --registry-url=http:\S+ --server-uuid=\S+/);
    const hash = (second ?? '').slice(2);
    assert.match(hash, /^\$2a\$10\$/);
    assert.ok(await compare(access.password ?? '', hash), 'the hash is of the password in the secret');
    assert.equal(third, `# ${access.pub?.trim()}`);
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
});

test('after its report the server is off, its boot configuration gone and its interfaces known', async () => {
  await using lab = await openLab();
  const [node] = await lab.rack({ generic: 1 });
  assert.ok(node);
  const { metadata } = await addInlineServer(lab, node);
  const server = await lab.server(node).says('Available');
  assert.equal(node.power, 'Off');
  assert.equal(server.spec.bootConfigurationRef, undefined);
  assert.match(server.spec.systemURI ?? '', /^\/redfish\/v1\/Systems\//);
  assert.equal(
    await lab.client.find(ServerBootConfiguration, { namespace: 'default', name: metadata.name }),
    undefined,
  );
  assert.equal(server.status?.networkInterfaces?.length, node.machine.hardware.nics.length);
});

test('power that somebody wishes for a new server does not boot its disk', async () => {
  await using lab = await openLab();
  const [node] = await lab.rack({ generic: 1 });
  assert.ok(node);
  await addInlineServer(lab, node, { power: 'On' });
  await lab.server(node).says('Available');
  assert.deepEqual(
    node.boots.map(({ override }) => override),
    ['Pxe'],
    'one start, for the probe',
  );
});

test('a boot configuration that somebody deletes does not hold a free server up', async () => {
  await using lab = await openLab({ flags: ['--server-resync-interval=10s'] });
  const [node] = await lab.rack({ generic: 1 });
  assert.ok(node);
  await lab.plugIn(node);
  const { metadata } = await lab.server(node).says('Available');
  await lab.patchServer(metadata.name, { spec: { bootConfigurationRef: { namespace: 'default', name: 'gone' } } });
  await lab
    .server(node)
    .until(
      'refers to nothing',
      ({ spec, status }) => spec.bootConfigurationRef === undefined && status?.state === 'Available',
    );
});

test('a discovery whose boot configuration somebody deletes begins anew, and comes to its end', async () => {
  await using lab = await openLab({ fleet: { bootMs: 20_000 } });
  const [node] = await lab.rack({ generic: 1 });
  assert.ok(node);
  await lab.plugIn(node);
  await lab.machine(node).until('is on', () => node.power === 'On');
  const { metadata } = await lab.bootOf(node).reaches('Ready');
  await lab.client.delete(ServerBootConfiguration, metadata);
  await lab.server(node).says('Available');
  assert.deepEqual(node.powerLog, ['On', 'Off', 'On', 'Off']);
});

test('the boot configuration of a claim that is called like the server is left alone', async () => {
  await using lab = await openLab();
  const [node] = await lab.rack({ generic: 1 });
  assert.ok(node);
  const boot = await lab.client.create(ServerBootConfiguration, {
    metadata: { name: `inline-${node.name}`, namespace: 'default' },
    spec: { serverRef: { name: 'somewhere-else' }, image: 'registry.test/os:1' },
  });
  await addInlineServer(lab, node);
  await lab.server(node).says('ProbeBootNameTaken');
  await lab.client.delete(ServerBootConfiguration, boot.metadata);
  await lab.server(node).says('Available');
});

async function textsOf(lab: Lab, name: string): Promise<Record<string, string>> {
  const { data = {} } = await lab.client.get(Secret, { namespace: 'default', name });
  return Object.fromEntries(
    Object.entries(data).map(([key, encoded]) => [key, Buffer.from(encoded, 'base64').toString()]),
  );
}

test('a machine that hangs at each start is named, given up after some tries, and found when it goes on and a person asks', async () => {
  const flags = ['--discovery-attempts=2', '--discovery-timeout=4m', '--boot-step-deadlines=script=2m'];
  await using lab = await openLab({ speed: 50, flags: [...flags, '--bmc-call-timeout=10m'] });
  const [node] = await lab.rack({ generic: 1 });
  assert.ok(node);
  node.machine.hang();
  await lab.plugIn(node);
  const server = await lab.server(node).explains(/script did not come within 2 min; the server was powered on at/);
  assert.equal(node.power, 'On');
  await lab.tells(server, 'ScriptOverdue');
  await lab.server(node).says('DiscoveryFailed');
  await lab.tells(server, 'DiscoveryTimedOut', 'no report within 4 min; script did not come within 2 min');
  await lab.machine(node).until('is off', () => node.power === 'Off');
  assert.deepEqual(node.powerLog, ['On', 'Off', 'On', 'Off'], 'forced off, as it hears no button');
  node.machine.heal();
  await lab.ask(server, 'retry');
  await lab.server(node).says('Available');
});
