import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { systemClock } from '@metal/kube/runtime/clock.ts';
import { IronicBackEnd } from '@metal/metal3/ironic/ironic-back-end.ts';
import type { ProvisioningData } from '@metal/metal3/provisioner/provisioner.ts';
import { withFakeHardware } from '@metal/testenv/fake-hardware.ts';
import { IronicHost, type IronicHostOptions, ironicOptions } from '@metal/testenv/ironic-host.ts';
import { type IronicService, startIronic } from '@metal/testenv/ironic.ts';

let ironic: IronicService;
let backEnd: IronicBackEnd;
before(async () => {
  ironic = await startIronic();
  const options = ironicOptions(ironic.url);
  backEnd = new IronicBackEnd({ options, clock: systemClock, random: Math.random, parseAddress: withFakeHardware });
});
after(async () => {
  await backEnd?.[Symbol.asyncDispose]();
  await ironic?.[Symbol.asyncDispose]();
});

const credentials = { username: 'admin', password: 'opensesame' };
let count = 0;

function makeHost(spec: Partial<IronicHostOptions['spec']> = {}, config: IronicHostOptions['config'] = {}): IronicHost {
  count += 1;
  const name = `host-${count}`;
  const bootMACAddress = `52:54:00:00:01:${String(count).padStart(2, '0')}`;
  const bmc = { address: `fake://${name}`, credentialsName: `${name}-bmc` };
  return new IronicHost(backEnd, { name, spec: { bootMACAddress, bmc, ...spec }, credentials, config });
}

const nodeOf = async (host: IronicHost): Promise<Record<string, unknown>> =>
  Object(await ironic.request('GET', `nodes/${host.nodeName}`));

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
  const host = makeHost({}, { userData: async () => '#cloud-config', metaData: async () => 'role: worker' });
  assert.deepEqual(await host.until(), { kind: 'done' });
  assert.partialDeepStrictEqual(await nodeOf(host), {
    uuid: host.id,
    provision_state: 'manageable',
    driver: 'fake-hardware',
    automated_clean: false,
    properties: { capabilities: 'boot_mode:uefi', cpu_arch: 'x86_64' },
  });

  assert.deepEqual(await host.until((provisioner) => provisioner.provision(deployment)), { kind: 'done' });
  assert.partialDeepStrictEqual(await nodeOf(host), {
    provision_state: 'active',
    instance_uuid: host.host.metadata.uid,
    instance_info: { image_source: image.url, image_os_hash_algo: 'sha256', root_device: { name: 's== /dev/sda' } },
  });

  const retry = { cleaning: 'disabled', restartsAfterFailure: false } as const;
  assert.deepEqual(await host.until((provisioner) => provisioner.deprovision(retry)), { kind: 'done' });
  assert.partialDeepStrictEqual(await nodeOf(host), { provision_state: 'available', instance_uuid: null });

  assert.deepEqual(await host.untilAlone((provisioner) => provisioner.delete()), { kind: 'done' });
  await assert.rejects(nodeOf(host), /404/);
});
