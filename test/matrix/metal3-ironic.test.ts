import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { ProvisioningData } from '@metal/metal3/provisioner/provisioner.ts';
import { type IronicFixture, startIronicFixture } from '@metal/testenv/ironic-fixture.ts';

let fixture: IronicFixture;
before(async () => {
  fixture = await startIronicFixture();
});
after(() => fixture?.[Symbol.asyncDispose]());

const image = {
  url: 'http://images.test/os.raw',
  checksum: 'a'.repeat(64),
  checksumType: 'sha256',
  format: 'raw',
} as const;
const deployment: ProvisioningData = {
  image,
  customDeploy: undefined,
  bootMode: 'UEFI',
  rootDeviceHints: { deviceName: '/dev/sda' },
  isForced: false,
  restartsAfterFailure: false,
};

test('a host is registered, provisioned and deprovisioned', async () => {
  const host = fixture.host(
    {},
    { config: { userData: async () => '#cloud-config', metaData: async () => 'role: worker' } },
  );
  assert.deepEqual(await host.until(), { kind: 'done' });
  assert.partialDeepStrictEqual(await fixture.node(host), {
    uuid: host.id,
    provision_state: 'manageable',
    driver: 'fake-hardware',
    automated_clean: false,
    properties: { capabilities: 'boot_mode:uefi', cpu_arch: 'x86_64' },
  });

  assert.deepEqual(await host.until((provisioner) => provisioner.provision(deployment)), { kind: 'done' });
  assert.partialDeepStrictEqual(await fixture.node(host), {
    provision_state: 'active',
    instance_uuid: host.host.metadata.uid,
    instance_info: { image_source: image.url, image_os_hash_algo: 'sha256', root_device: { name: 's== /dev/sda' } },
  });

  const retry = { cleaning: 'disabled', restartsAfterFailure: false } as const;
  assert.deepEqual(await host.until((provisioner) => provisioner.deprovision(retry)), { kind: 'done' });
  assert.partialDeepStrictEqual(await fixture.node(host), { provision_state: 'available', instance_uuid: null });

  assert.deepEqual(await host.untilAlone((provisioner) => provisioner.delete()), { kind: 'done' });
  await assert.rejects(fixture.node(host), /404/);
});
