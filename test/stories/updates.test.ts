import assert from 'node:assert/strict';
import { test } from 'node:test';
import { BIOSSettings } from '@metal/api/v1alpha1/bios-settings.ts';
import { BIOSVersion } from '@metal/api/v1alpha1/bios-version.ts';
import { BMCVersion } from '@metal/api/v1alpha1/bmc-version.ts';
import { operationAnnotation } from '@metal/api/wire/contract.ts';
import { untilEnforced } from '@metal/testenv/cluster/until-enforced.ts';
import { testenvsOfFile } from '@metal/testenv/testenv.ts';
import { freeMachine, servedImage, startsSince } from '../fixtures/update-fixture.ts';

const startTestenv = testenvsOfFile();

test('a BIOS version is installed in a maintenance, with one restart of the machine', async () => {
  await using stack = new AsyncDisposableStack();
  const testenv = stack.use(await startTestenv());
  const { node, server } = await freeMachine(testenv);
  const { uri } = await servedImage(stack, { component: 'BIOS', version: '2.0.0' });
  const before = node.powerLog.length;
  await testenv.client.create(BIOSVersion, {
    metadata: { name: 'new-bios' },
    spec: { version: '2.0.0', image: { URI: uri }, serverRef: { name: server.metadata.name } },
  });
  const done = await testenv.updates.biosVersions.named('new-bios').reaches('Completed');
  assert.equal(done.status?.installedVersion, '2.0.0');
  await testenv.server(node).hasReason('Available');
  assert.deepEqual(node.powerLog.slice(before), ['On', 'Off', 'On', 'Off']);
  assert.deepEqual(
    node.bmc.flashes.map(({ version }) => version),
    ['2.0.0'],
  );
  await testenv.maintenances.named('new-bios').isGone();
});

test('BMC firmware is installed in a maintenance of its servers, without a restart of the machine', async () => {
  await using stack = new AsyncDisposableStack();
  const testenv = stack.use(await startTestenv());
  const { node } = await freeMachine(testenv);
  const { uri } = await servedImage(stack, { component: 'BMC', version: '3.0.0' });
  await testenv.client.create(BMCVersion, {
    metadata: { name: 'new-bmc' },
    spec: { version: '3.0.0', image: { URI: uri }, bmcRef: { name: node.name } },
  });
  await testenv.updates.bmcVersions.named('new-bmc').reaches('Completed');
  await testenv.bmc(node).until('has the version', ({ status }) => status?.firmwareVersion === '3.0.0');
  assert.deepEqual(
    node.bmc.flashes.map(({ version }) => version),
    ['3.0.0'],
  );
});

test('BIOS settings are applied step by step, and restart the machine only where they need it', async () => {
  await using testenv = await startTestenv();
  const { node, server } = await freeMachine(testenv);
  const before = node.powerLog.length;
  await testenv.client.create(BIOSSettings, {
    metadata: { name: 'tuned' },
    spec: {
      version: server.status?.biosVersion ?? node.bmc.profile.biosVersion,
      serverRef: { name: server.metadata.name },
      settingsFlow: [{ name: 'one', priority: 1, settings: { ProcHyperthreading: 'Disabled' } }],
    },
  });
  const done = await testenv.updates.biosSettings.named('tuned').reaches('Applied');
  assert.equal(done.status?.flowState?.[0]?.flowState, 'Applied');
  assert.equal(node.machine.biosAttributes.ProcHyperthreading, 'Disabled');
  await testenv.server(node).hasReason('Available');
  assert.equal(startsSince(node, before), 2);
});

test('the spec and the object stay while the BMC carries out the change, unless an annotation allows more', async () => {
  await using testenv = await startTestenv();
  const name = 'flashing';
  const ref = { name };
  const annotated = (value: string) => ({ metadata: { annotations: { [operationAnnotation]: value } } });
  const spec = { version: '2', image: { URI: 'http://images.test/2' }, serverRef: { name: 'none' } };
  await testenv.client.create(BIOSVersion, { metadata: { name, ...annotated('ignore').metadata }, spec });
  const status = { state: 'InProgress', attempt: { sendTime: '2026-01-01T00:00:00Z' } };
  await testenv.client.mergePatch(BIOSVersion, ref, { status }, { subresource: 'status' });
  const change = { spec: { version: '3' } };
  let tries = 2;
  const refused = /cannot change the spec while the BMC carries out/;
  await untilEnforced(async () => {
    // Until the policy is enforced, each change passes.
    return testenv.client.mergePatch(BIOSVersion, ref, { spec: { version: String((tries += 1)) } }).then(
      () => false,
      (error: unknown) => refused.test(String(error)),
    );
  });
  await assert.rejects(testenv.client.delete(BIOSVersion, ref), /cannot delete BIOSVersion flashing while the BMC/);
  await testenv.client.mergePatch(BIOSVersion, ref, { metadata: { labels: { rack: 'one' } } });
  await testenv.client.mergePatch(BIOSVersion, ref, { ...annotated('allow-in-progress-update'), ...change });
  await testenv.client.mergePatch(BIOSVersion, ref, annotated('allow-in-progress-delete'));
  await testenv.client.delete(BIOSVersion, ref);
});
