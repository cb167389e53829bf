import assert from 'node:assert/strict';
import { test } from 'node:test';
import { probeReport } from '@metal/api/wire/probe-report.ts';
import { ServerBootConfiguration } from '@metal/api/v1alpha1/server-boot-configuration.ts';
import { Secret } from '@metal/kube/builtin.ts';
import { labsOfFile } from '@metal/lab/lab.ts';
import { runProbe } from '@metal/probe/run-probe.ts';

const openLab = labsOfFile();

test('with an external boot operator, its Ready is what the power-on waits for', async () => {
  await using lab = await openLab({ flags: ['--components=controllers,registry'] });
  assert.equal(lab.system.bootUrl, undefined, 'no boot service runs here');
  const [node] = await lab.rack({ generic: 1 });
  assert.ok(node);
  await lab.plugIn(node);
  await lab.server(node).says('WaitingForBootConfiguration');
  const boot = await lab.bootOf(node).says('WaitingForBootService');
  assert.equal(boot.status?.state, 'Pending');
  assert.equal(node.power, 'Off', 'nothing is powered on before that');

  await lab.client.mergePatch(
    ServerBootConfiguration,
    boot.metadata,
    { status: { state: 'Ready' } },
    { subresource: 'status', fieldManager: 'boot-operator' },
  );
  await lab.machine(node).until('powers on', () => node.power !== 'Off');
  assert.equal(node.machine.boots.length === 0 ? 'Pxe' : node.machine.boots[0]?.override, 'Pxe');

  const token = await tokenOf(lab.client.get(Secret, { namespace: 'default', name: boot.metadata.name }));
  await runProbe({
    registryUrl: lab.system.registryUrl ?? '',
    systemUUID: node.uuid,
    token,
    report: probeReport.parse({}),
    clock: lab.clock,
    signal: AbortSignal.timeout(30_000),
  });
  await lab.server(node).says('Available');
});

test('an external boot operator that cannot prepare a boot is quoted on the server', async () => {
  await using lab = await openLab({ flags: ['--components=controllers,registry'] });
  const [node] = await lab.rack({ generic: 1 });
  assert.ok(node);
  await lab.plugIn(node);
  const boot = await lab.bootOf(node).exists();
  const condition = {
    type: 'ImageValidation',
    status: 'False',
    reason: 'ValidationFailed',
    message: 'the image has no kernel',
    lastTransitionTime: '2026-01-01T00:00:00Z',
  };
  await lab.client.mergePatch(
    ServerBootConfiguration,
    boot.metadata,
    { status: { state: 'Error', conditions: [condition] } },
    { subresource: 'status', fieldManager: 'boot-operator' },
  );
  const server = await lab.server(node).says('BootConfigurationFailed');
  assert.match(
    server.status?.conditions?.find(({ type }) => type === 'Ready')?.message ?? '',
    /the image has no kernel/,
  );
  assert.equal(node.power, 'Off');
});

async function tokenOf(secret: Promise<Secret>): Promise<string> {
  const ignition = Buffer.from((await secret).data?.ignition ?? '', 'base64').toString('utf8');
  return /inline: "([\w-]+)"/.exec(ignition)?.[1] ?? '';
}
