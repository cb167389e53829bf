import assert from 'node:assert/strict';
import { test } from 'node:test';
import { IPXEBootConfig } from '@metal/api/v1alpha1/ipxe-boot-config.ts';
import { ServerClaim } from '@metal/api/v1alpha1/server-claim.ts';
import { Namespace, Secret } from '@metal/kube/kinds/builtin.ts';
import { testenvsOfFile } from '@metal/testenv/testenv.ts';

const startTestenv = testenvsOfFile();

test('the generated roles suffice for the whole main path', async () => {
  await using testenv = await startTestenv({
    operator: 'none',
    speed: 1,
    flags: ['--leader-elect'],
    fleet: { powerOnMs: 200, powerOffMs: 200, bootMs: 200 },
  });
  const operator = await testenv.startOperatorProcess();
  const [node] = await testenv.addNodes({ dell: 1 });
  assert.ok(node);
  await testenv.plugIn(node);
  await testenv.server(node).hasReason('Available');
  const claim = await testenv.claim({ image: 'registry.test/os:1' });
  await testenv.server(node).hasReason('ClaimServed');
  await claim.delete();
  await claim.isGone();
  await testenv.server(node).hasReason('Available');
  assert.deepEqual(
    operator.log.filter((line) => /forbidden|cannot (get|list|watch|create|patch|delete)/i.test(line)),
    [],
  );
});

test("a boot service without access to tenants' Secrets names the missing role, and serves boots without Secrets", async () => {
  await using testenv = await startTestenv({
    withoutRoles: ['metal-operator-ignition-reader', 'metal-operator-user-data-reader'],
  });
  const [node] = await testenv.addNodes({ generic: 1 });
  assert.ok(node);
  await testenv.plugIn(node);
  await testenv.server(node).hasReason('Available');
  await testenv.client.create(Namespace, { metadata: { name: 'tenant' } });
  await testenv.client.create(Secret, {
    metadata: { name: 'first-boot', namespace: 'tenant' },
    data: { ignition: Buffer.from('{}').toString('base64') },
  });
  await testenv.client.create(ServerClaim, {
    metadata: { name: 'with-ignition', namespace: 'tenant' },
    spec: { power: 'On', image: 'registry.test/os:1', ignitionSecretRef: { name: 'first-boot' } },
  });
  await testenv.server(node).hasReason('BootConfigurationFailed');
  const bootOf = (name: string) =>
    testenv.boots.found(`boot of ${name}`, () => testenv.boots.get({ namespace: 'tenant', name }));
  const tenantsBoot = bootOf('with-ignition');
  await tenantsBoot.hasReason('PreparationFailed');
  assert.match(
    tenantsBoot.condition('Ready')?.message ?? '',
    /^IgnitionForbidden: .* bind ClusterRole metal-operator-ignition-reader in namespace "tenant"$/,
  );
  await testenv.client.delete(ServerClaim, { namespace: 'tenant', name: 'with-ignition' });
  await testenv.server(node).hasReason('Available');
  const metadata = { name: 'with-script', namespace: 'tenant' };
  const ipxeScriptSecretRef = { name: 'first-boot' };
  await testenv.client.create(IPXEBootConfig, {
    metadata,
    spec: { kernelURL: 'none', initrdURL: 'none', ipxeScriptSecretRef },
  });
  await testenv.client.create(ServerClaim, { metadata, spec: { power: 'On', image: 'registry.test/os:1' } });
  await testenv.server(node).hasReason('BootConfigurationFailed');
  await bootOf('with-script').hasMessage(
    /^ScriptForbidden: .*bind ClusterRole metal-operator-ignition-reader in namespace "tenant"$/,
  );
  await testenv.client.delete(ServerClaim, metadata);
  await testenv.server(node).hasReason('Available');
  await testenv.claim({ image: 'registry.test/os:1' });
  await testenv.server(node).hasReason('ClaimServed');
});
