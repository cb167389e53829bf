import assert from 'node:assert/strict';
import { test } from 'node:test';
import { probeReport } from '@metal/api/wire/probe-report.ts';
import { ServerBootConfiguration } from '@metal/api/v1alpha1/server-boot-configuration.ts';
import { Secret } from '@metal/kube/builtin.ts';
import { type Lab, labsOfFile } from '@metal/lab/lab.ts';
import { runProbe } from '@metal/probe/run-probe.ts';
import type { Node } from '@metal/simulator/fleet.ts';

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

  await becomesReady(lab, boot);
  await lab.machine(node).until('powers on', () => node.power !== 'Off');
  assert.equal(node.machine.boots.length === 0 ? 'Pxe' : node.machine.boots[0]?.override, 'Pxe');
  await report(lab, node, boot);
  await lab.server(node).says('Available');
});

test('a machine that is started by hand before the boot of its claim is ready is switched off, then booted for it', async () => {
  await using lab = await openLab({ flags: ['--components=controllers,registry'] });
  const [node] = await lab.rack({ generic: 1 });
  assert.ok(node);
  await lab.plugIn(node);
  const probe = await lab.bootOf(node).says('WaitingForBootService');
  await becomesReady(lab, probe);
  await lab.machine(node).until('is on', () => node.power === 'On');
  await report(lab, node, probe);
  await lab.server(node).says('Available');
  await lab.claim({ image: 'registry.test/os:1', on: node });
  await lab.server(node).says('WaitingForBootConfiguration');
  const boot = await lab.bootOf(node).until('is the one of the claim', ({ metadata }) => metadata.name === 'claim-1');
  const before = node.powerLog.length;
  node.machine.turnOn();
  await lab.machine(node).until('is on', () => node.power === 'On');
  assert.equal(node.machine.boots.at(-1)?.override, undefined);
  await becomesReady(lab, boot);
  await lab.machine(node).until('was started anew', () => node.powerLog.length === before + 3);
  assert.deepEqual(node.powerLog.slice(before), ['On', 'Off', 'On']);
  assert.equal(node.machine.boots.at(-1)?.override, 'Pxe');
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

async function becomesReady(lab: Lab, { metadata }: ServerBootConfiguration): Promise<void> {
  const options = { subresource: 'status', fieldManager: 'boot-operator' } as const;
  await lab.client.mergePatch(ServerBootConfiguration, metadata, { status: { state: 'Ready' } }, options);
}

/** As the probe on the machine does. */
async function report(lab: Lab, node: Node, { metadata }: ServerBootConfiguration): Promise<void> {
  await runProbe({
    registryUrl: lab.system.registryUrl ?? '',
    systemUUID: node.uuid,
    token: await tokenOf(lab.client.get(Secret, { namespace: 'default', name: metadata.name })),
    report: probeReport.parse({}),
    clock: lab.clock,
    signal: AbortSignal.timeout(120_000),
  });
}

async function tokenOf(secret: Promise<Secret>): Promise<string> {
  const ignition = Buffer.from((await secret).data?.ignition ?? '', 'base64').toString('utf8');
  return /"data:,([\w-]+)"/.exec(ignition)?.[1] ?? '';
}
