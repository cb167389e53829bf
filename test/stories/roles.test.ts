import assert from 'node:assert/strict';
import { test } from 'node:test';
import { IPXEBootConfig } from '@metal/api/v1alpha1/ipxe-boot-config.ts';
import { ServerClaim } from '@metal/api/v1alpha1/server-claim.ts';
import { Namespace, Secret } from '@metal/kube/builtin.ts';
import { labsOfFile } from '@metal/lab/lab.ts';

const openLab = labsOfFile();

test('the generated roles are enough for the whole main path', async () => {
  await using lab = await openLab({
    operator: 'none',
    speed: 1,
    flags: ['--leader-elect'],
    fleet: { powerOnMs: 200, powerOffMs: 200, bootMs: 200 },
  });
  const operator = await lab.startOperatorProcess();
  const [node] = await lab.rack({ dell: 1 });
  assert.ok(node);
  await lab.plugIn(node);
  await lab.server(node).says('Available');
  const claim = await lab.claim({ image: 'registry.test/os:1' });
  await lab.server(node).says('ClaimServed');
  await claim.delete();
  await claim.isGone();
  await lab.server(node).says('Available');
  assert.deepEqual(
    operator.log.filter((line) => /forbidden|cannot (get|list|watch|create|patch|delete)/i.test(line)),
    [],
  );
});

test('a boot service that may not read Secrets of tenants says which role is missing, and boots what needs none', async () => {
  await using lab = await openLab({
    withoutRoles: ['metal-operator-ignition-reader', 'metal-operator-user-data-reader'],
  });
  const [node] = await lab.rack({ generic: 1 });
  assert.ok(node);
  await lab.plugIn(node);
  await lab.server(node).says('Available');
  await lab.client.create(Namespace, { metadata: { name: 'tenant' } });
  await lab.client.create(Secret, {
    metadata: { name: 'first-boot', namespace: 'tenant' },
    data: { ignition: Buffer.from('{}').toString('base64') },
  });
  await lab.client.create(ServerClaim, {
    metadata: { name: 'with-ignition', namespace: 'tenant' },
    spec: { power: 'On', image: 'registry.test/os:1', ignitionSecretRef: { name: 'first-boot' } },
  });
  await lab.server(node).says('BootConfigurationFailed');
  assert.match(
    lab.server(node).condition('Ready')?.message ?? '',
    /bind the ClusterRole metal-operator-ignition-reader there/,
  );
  await lab.client.delete(ServerClaim, { namespace: 'tenant', name: 'with-ignition' });
  await lab.server(node).says('Available');
  const metadata = { name: 'with-script', namespace: 'tenant' };
  const ipxeScriptSecretRef = { name: 'first-boot' };
  await lab.client.create(IPXEBootConfig, {
    metadata,
    spec: { kernelURL: 'none', initrdURL: 'none', ipxeScriptSecretRef },
  });
  await lab.client.create(ServerClaim, { metadata, spec: { power: 'On', image: 'registry.test/os:1' } });
  await lab.server(node).says('BootConfigurationFailed');
  assert.match(
    lab.server(node).condition('Ready')?.message ?? '',
    /ScriptForbidden: .*bind the ClusterRole metal-operator-ignition-reader there/,
  );
  await lab.client.delete(ServerClaim, metadata);
  await lab.server(node).says('Available');
  await lab.claim({ image: 'registry.test/os:1' });
  await lab.server(node).says('ClaimServed');
});
