import assert from 'node:assert/strict';
import { test } from 'node:test';
import { BIOSSettingsSet } from '@metal/api/v1alpha1/bios-settings-set.ts';
import { BIOSVersionSet } from '@metal/api/v1alpha1/bios-version-set.ts';
import { type Testenv, testenvsOfFile } from '@metal/testenv/testenv.ts';
import { servedImage, startsSince } from '../fixtures/update-fixture.ts';

const startTestenv = testenvsOfFile();

/** The most servers that were in maintenance at once. */
function followMaintenance({ servers }: Testenv): { most: number } & Disposable {
  const now = new Set<string>();
  const seen = { most: 0 };
  const subscription = servers.onChange(({ key, after }) => {
    if (after?.status?.state === 'Maintenance' || after?.spec.serverMaintenanceRef !== undefined) now.add(key);
    else now.delete(key);
    seen.most = Math.max(seen.most, now.size);
  });
  return Object.assign(seen, { [Symbol.dispose]: () => subscription[Symbol.dispose]() });
}

test('a BIOS version and settings of a fleet are rolled out in one maintenance of each server, one server at a time', async () => {
  await using stack = new AsyncDisposableStack();
  const testenv = stack.use(await startTestenv());
  const nodes = await testenv.addNodes({ generic: 3 });
  await testenv.plugIn(...nodes);
  for (const node of nodes) await testenv.server(node).hasReason('Available');
  const { uri } = await servedImage(stack, { component: 'BIOS', version: '2.0.0' });
  const before = nodes.map(({ powerLog }) => powerLog.length);
  using maintenance = followMaintenance(testenv);
  const rollout = { maxUnavailable: '34%', canary: 1 };
  await testenv.client.create(BIOSVersionSet, {
    metadata: { name: 'bios' },
    spec: { serverSelector: {}, rollout, biosVersionTemplate: { version: '2.0.0', image: { URI: uri } } },
  });
  const settingsFlow = [{ name: 'tuned', priority: 1, settings: { ProcHyperthreading: 'Disabled' } }];
  await testenv.client.create(BIOSSettingsSet, {
    metadata: { name: 'settings' },
    spec: { serverSelector: {}, rollout, biosSettingsTemplate: { version: '2.0.0', settingsFlow } },
  });
  for (const node of nodes) {
    const { metadata } = await testenv.server(node).exists();
    await testenv.updates.biosVersions.named(`bios-${metadata.name}`).reaches('Completed');
    await testenv.updates.biosSettings.named(`settings-${metadata.name}`).reaches('Applied');
    await testenv.server(node).hasReason('Available');
    await testenv.server(node).hasReason('SetsComply');
  }
  assert.equal(maintenance.most, 1);
  for (const [index, node] of nodes.entries()) {
    assert.equal(node.bmc.flashes.length, 1);
    assert.equal(node.machine.biosAttributes.ProcHyperthreading, 'Disabled');
    const starts = startsSince(node, before[index] ?? 0);
    assert.ok(starts <= 3, `${node.name} was started ${starts} times`);
  }
});
