import assert from 'node:assert/strict';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { startBoot } from '@metal/boot/boot.ts';
import { findButane } from '@metal/project/butane.ts';
import { directoryWith, namespace, openServiceFixture } from '@metal/testenv/cluster/service-fixture.ts';

const butane =
  'variant: fcos\nversion: 1.3.0\nstorage: {files: [{path: /etc/motd, mode: 0644, contents: {inline: hello}}]}\n';

test('the boot service serves Butane as Ignition, and reports the position of an error', async () => {
  await using fixture = await openServiceFixture();
  await using files = await directoryWith({
    vmlinuz: 'k',
    initrd: 'i',
    images: 'os: {kernel: vmlinuz, initrd: initrd}',
  });
  const program = await findButane({ environment: process.env, log: () => undefined });
  const options = { imagesFile: join(files.path, 'images'), fileRoots: [tmpdir()], butane: program };
  await using boot = await startBoot(fixture.bootOptions(options));
  const becomes = (name: string, state: string) =>
    fixture.until(fixture.bootConfigurations, `${namespace}/${name}`, ({ status }) => status?.state === state);

  const { token } = await fixture.booting('translated', { image: 'os', ignition: butane });
  await becomes('translated', 'Ready');
  const served = (await (await fetch(`${boot.url}/boot/${token}/ignition`)).json()) as {
    ignition: { version: string };
  }; // Ignition JSON
  assert.equal(served.ignition.version, '3.2.0');

  await fixture.booting('odd', { image: 'os', ignition: `${butane}swap: hunter2\n` });
  const { status } = await becomes('odd', 'Error');
  const { reason, message } = status?.conditions?.find(({ type }) => type === 'IgnitionValidation') ?? {};
  assert.equal(reason, 'ValidationFailed');
  assert.match(message ?? '', /^IgnitionInvalid: .* line 4 column 1: unknown key$/);
});
