import assert from 'node:assert/strict';
import { test } from 'node:test';
import { probeReport } from '@metal/api/wire/probe-report.ts';
import { ServerBootConfiguration } from '@metal/api/v1alpha1/server-boot-configuration.ts';
import { Secret } from '@metal/kube/kinds/builtin.ts';
import type { Condition } from '@metal/kube/kinds/kind.ts';
import { type Testenv, testenvsOfFile } from '@metal/testenv/testenv.ts';
import { runProbe } from '@metal/probe/run-probe.ts';
import type { Node } from '@metal/simulator/fleet.ts';

const startTestenv = testenvsOfFile();

test('the power-on waits for Ready of an external boot operator', async () => {
  await using testenv = await startTestenv({ flags: ['--components=controllers,registry'] });
  assert.equal(testenv.system.bootUrl, undefined, 'no boot service runs here');
  const [node] = await testenv.addNodes({ generic: 1 });
  assert.ok(node);
  await testenv.plugIn(node);
  await testenv.server(node).hasReason('WaitingForBootConfiguration');
  const boot = await testenv.bootOf(node).hasReason('WaitingForBootService');
  assert.equal(boot.status?.state, 'Pending');
  assert.equal(node.power, 'Off', 'nothing is powered on before that');

  await becomesReady(testenv, boot);
  await testenv.machine(node).until('powers on', () => node.power !== 'Off');
  assert.equal(node.machine.boots.length === 0 ? 'Pxe' : node.machine.boots[0]?.override, 'Pxe');
  await report(testenv, node, boot);
  await testenv.server(node).hasReason('Available');
});

test("a machine started by hand before its claim's boot is Ready is powered off, then booted for the claim", async () => {
  await using testenv = await startTestenv({ flags: ['--components=controllers,registry'] });
  const [node] = await testenv.addNodes({ generic: 1 });
  assert.ok(node);
  await testenv.plugIn(node);
  const probe = await testenv.bootOf(node).hasReason('WaitingForBootService');
  await becomesReady(testenv, probe);
  await testenv.machine(node).until('is on', () => node.power === 'On');
  await report(testenv, node, probe);
  await testenv.server(node).hasReason('Available');
  const claim = await testenv.claim({ image: 'registry.test/os:1', on: node });
  await testenv.server(node).hasReason('WaitingForBootConfiguration');
  await claim.watched.hasCondition('BootConfigurationReady', 'Unknown');
  const boot = await testenv
    .bootOf(node)
    .until('is the one of the claim', ({ metadata }) => metadata.name === 'claim-1');
  const before = node.powerLog.length;
  node.machine.turnOn();
  await testenv.machine(node).until('is on', () => node.power === 'On');
  assert.equal(node.machine.boots.at(-1)?.override, undefined);
  await becomesReady(testenv, boot);
  await testenv.machine(node).until('was started again', () => node.powerLog.length === before + 3);
  assert.deepEqual(node.powerLog.slice(before), ['On', 'Off', 'On']);
  assert.equal(node.machine.boots.at(-1)?.override, 'Pxe');
  await claim.watched.until(
    'is Ready, although nobody records whether it booted',
    ({ status }) => claim.watched.condition('Booted')?.status === 'Unknown' && isTrue(status?.conditions, 'Ready'),
  );
});

test('the error of an external boot operator is reported on the server', async () => {
  await using testenv = await startTestenv({ flags: ['--components=controllers,registry'] });
  const [node] = await testenv.addNodes({ generic: 1 });
  assert.ok(node);
  await testenv.plugIn(node);
  const boot = await testenv.bootOf(node).exists();
  const condition = {
    type: 'ImageValidation',
    status: 'False',
    reason: 'ValidationFailed',
    message: 'the image has no kernel',
    lastTransitionTime: '2026-01-01T00:00:00Z',
  };
  await testenv.client.mergePatch(
    ServerBootConfiguration,
    boot.metadata,
    { status: { state: 'Error', conditions: [condition] } },
    { subresource: 'status', fieldManager: 'boot-operator' },
  );
  const server = await testenv.server(node).hasReason('BootConfigurationFailed');
  assert.match(
    server.status?.conditions?.find(({ type }) => type === 'Ready')?.message ?? '',
    /^ServerBootConfiguration \S+ cannot be booted; its condition Ready has the cause/,
  );
  assert.equal(node.power, 'Off');
  await testenv
    .bootOf(node)
    .until('shows the cause', ({ status }) =>
      (status?.conditions ?? []).some(({ type, message }) => type === 'Ready' && message === 'the image has no kernel'),
    );
});

const isTrue = (conditions: readonly Condition[] = [], type: string): boolean =>
  conditions.some((condition) => condition.type === type && condition.status === 'True');

async function becomesReady(testenv: Testenv, { metadata }: ServerBootConfiguration): Promise<void> {
  const options = { subresource: 'status', fieldManager: 'boot-operator' } as const;
  await testenv.client.mergePatch(ServerBootConfiguration, metadata, { status: { state: 'Ready' } }, options);
}

/** Like the probe on the machine. */
async function report(testenv: Testenv, node: Node, { metadata }: ServerBootConfiguration): Promise<void> {
  await runProbe({
    registryUrl: testenv.system.registryUrl ?? '',
    systemUUID: node.uuid,
    token: await tokenOf(testenv.client.get(Secret, { namespace: 'default', name: metadata.name })),
    report: probeReport.parse({}),
    clock: testenv.clock,
    signal: AbortSignal.timeout(120_000),
  });
}

async function tokenOf(secret: Promise<Secret>): Promise<string> {
  const ignition = Buffer.from((await secret).data?.ignition ?? '', 'base64').toString('utf8');
  return /"data:,([\w-]+)"/.exec(ignition)?.[1] ?? '';
}
