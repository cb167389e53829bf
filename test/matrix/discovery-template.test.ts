import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { ServerBootConfiguration } from '@metal/api/v1alpha1/server-boot-configuration.ts';
import { Secret } from '@metal/kube/kinds/builtin.ts';
import { addInlineServer } from '@metal/testenv/fleet/inline-server.ts';
import { type Testenv, startTestenv } from '@metal/testenv/testenv.ts';
import { findButane } from '@metal/project/butane.ts';
import { compare } from 'bcryptjs';

test('a server with an inline BMC is discovered with the boot configuration and secrets of v0.7.0', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'metal-template-'));
  const template = join(directory, 'template.yaml');
  const text =
    'variant: fcos\nversion: 1.3.0\n# {{ .Image }} {{ .Flags }} {{ .Token }}\n# {{ .PasswordHash }}\n# {{ .SSHPublicKey }}';
  await writeFile(template, text);
  try {
    const butane = await findButane({ environment: process.env, log: () => undefined });
    const flags = [`--discovery-ignition-path=${template}`, `--butane=${butane}`];
    await using testenv = await startTestenv({ flags, fleet: { powerOnMs: 20_000 } });
    const [node] = await testenv.addNodes({ generic: 1 });
    assert.ok(node);
    const { metadata } = await addInlineServer(testenv, node);
    const server = await testenv.server(node).reaches('Discovery');
    assert.equal(server.spec.power, 'On');
    assert.deepEqual(server.spec.bootConfigurationRef, { namespace: 'default', name: metadata.name });
    await testenv.server(node).hasCondition('PoweringOn', 'True');

    const boot = await testenv.client.get(ServerBootConfiguration, { namespace: 'default', name: metadata.name });
    assert.equal(boot.metadata.annotations?.['metal.ironcore.dev/type'], 'Internal');
    assert.equal(boot.metadata.annotations['metal.ironcore.dev/is-default-os-image'], 'true');
    assert.deepEqual(boot.spec, {
      serverRef: { name: metadata.name },
      image: 'probe-os',
      ignitionSecretRef: { name: metadata.name },
    });

    const access = await textsOf(testenv, `${metadata.name}-ssh`);
    assert.deepEqual(Object.keys(access).toSorted(), ['password', 'pem', 'pub']);
    assert.match(access.pem ?? '', /^-----BEGIN OPENSSH PRIVATE KEY-----/);
    assert.match(access.password ?? '', /^[a-zA-Z0-9]{20}$/);
    const { format, ignition = '' } = await textsOf(testenv, metadata.name);
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

async function textsOf(testenv: Testenv, name: string): Promise<Record<string, string>> {
  const { data = {} } = await testenv.client.get(Secret, { namespace: 'default', name });
  return Object.fromEntries(
    Object.entries(data).map(([key, encoded]) => [key, Buffer.from(encoded, 'base64').toString()]),
  );
}
