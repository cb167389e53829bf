import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { after, before, suite, test } from 'node:test';
import { gunzipSync } from 'node:zlib';
import type { BareMetalHost } from '@metal/api/metal3/bare-metal-host.ts';
import { HardwareData } from '@metal/api/metal3/hardware-data.ts';
import { HostFirmwareSettings } from '@metal/api/metal3/host-firmware-settings.ts';
import { HostUpdatePolicy } from '@metal/api/metal3/host-update-policy.ts';
import type { HostTestenv } from '@metal/testenv/metal3/host-testenv.ts';
import { type IronicTestenv, onlyPower, startIronicTestenv } from '@metal/testenv/ironic/ironic-testenv.ts';

const namespace = 'default';
const os = randomBytes(100_000);
const checksum = createHash('sha256').update(os).digest('hex');
const erasure = 'clean deploy.erase_devices_metadata';

suite('BareMetalHosts on a real Ironic, whose ramdisk runs an agent', { concurrency: true }, () => {
  let env: IronicTestenv;
  let testenv: HostTestenv;
  before(async () => {
    env = await startIronicTestenv({ 'max-provisioning-retries': '2' });
    ({ testenv } = env);
  });
  after(() => env?.[Symbol.asyncDispose]());

  const imageOf = (name: string) => {
    const url = env.images.serve(`${name}.raw`, os);
    return { url, checksum, checksumType: 'sha256', format: 'raw' } as const;
  };

  test('a host is inspected, cleaned, deployed with its config drive, and cleaned again', async () => {
    const { host, node, machine, work } = await env.addHost('life', {});
    const { status } = await host.reaches('available');
    const { hardware } = node.machine;
    assert.partialDeepStrictEqual(status?.hardware, {
      hostname: 'ramdisk',
      ramMebibytes: hardware.memoryGiB * 1_024,
      systemVendor: { serialNumber: hardware.serialNumber },
      nics: hardware.nics.map(({ macAddress: mac }) => ({ mac })),
      storage: hardware.disks.map(({ bytes }) => ({ sizeBytes: bytes })),
    });
    const data = await testenv.client.get(HardwareData, { name: 'life', namespace });
    assert.deepEqual(data.spec.hardware, status?.hardware);

    await testenv.secret('user-data', { userData: '#cloud-config of life' });
    const userData = { name: 'user-data', namespace };
    await testenv.hosts.patch('life', { spec: { image: imageOf('life'), userData } });
    await host.reaches('provisioned');
    assert.deepEqual(work.steps, [erasure, 'deploy deploy.write_image']);
    const [deployment] = work.deployments;
    assert.deepEqual([deployment?.disk, deployment?.image], ['nvme1n1', os]);
    const drive = gunzipSync(Buffer.from(deployment?.configDrive ?? '', 'base64'));
    for (const expected of ['#cloud-config of life', '"metal3-name": "life"'])
      assert.ok(drive.includes(expected), expected);
    assert.deepEqual(machine.disks.read('nvme1n1', 0, os.length), os);
    await node.until(({ running }) => running?.from === 'disk', AbortSignal.timeout(30_000));
    assert.equal(node.running?.kernel.sha256, checksum);

    await testenv.hosts.patch('life', { spec: { image: null, online: false } });
    await host.reaches('available');
    assert.equal(work.steps.at(-1), erasure);
    assert.deepEqual([machine.installed, node.power], [undefined, 'Off']);
  });

  test('an image with another checksum is not deployed, is tried as often as allowed, and again when edited', async () => {
    const image = { ...imageOf('edited'), checksum: 'a'.repeat(64) };
    const { host, node, machine, work } = await env.addHost('edited', { ...onlyPower, image });
    const failing = await host.until('has an error', ({ status }) => status?.errorType === 'provisioning error');
    assert.match(failing.status?.errorMessage ?? '', /edited\.raw.*Image failed to verify against checksum/s);
    const limited = await host.until('has given up', ({ status }) =>
      (status?.errorMessage ?? '').includes('could not be deployed in 2 attempts'),
    );
    assert.equal(limited.status?.provisioning.state, 'available');
    assert.deepEqual([work.deployments, machine.installed], [[], undefined]);

    await testenv.hosts.patch('edited', { spec: { image: { checksum } } });
    await host.reaches('provisioned');
    assert.equal(work.deployments.length, 1);
    await node.until(({ running }) => running?.from === 'disk', AbortSignal.timeout(30_000));
  });

  test('a host whose cleaning fails reports why, and is not available before one succeeds', async () => {
    const { host, work } = await env.addHost('dirty', { ...onlyPower, image: imageOf('dirty') });
    await host.reaches('provisioned');
    work.faults.set('deploy.erase_devices_metadata', 'the disk is broken');
    await testenv.hosts.patch('dirty', { spec: { image: null, automatedCleaningMode: 'metadata' } });
    const failing = await host.until('has an error', ({ status }) => (status?.errorMessage ?? '') !== '');
    assert.match(failing.status?.errorMessage ?? '', /the disk is broken/);
    assert.equal(failing.status?.provisioning.state, 'deprovisioning');
    work.faults.clear();
    await host.reaches('available');
    assert.equal(work.steps.at(-1), erasure);
  });

  test('software RAID and BIOS settings are applied by manual cleaning before a host is available', async () => {
    await testenv.client.create(HostFirmwareSettings, {
      metadata: { name: 'prepared', namespace },
      spec: { settings: { UrlBootTimeout: 60 } },
    });
    const raid: BareMetalHost['spec']['raid'] = { softwareRAIDVolumes: [{ level: '1', rootVolume: false }] };
    const { host, node, work } = await env.addHost('prepared', { ...onlyPower, raid }, { vendor: 'hpe' });
    await host.reaches('available');
    assert.deepEqual(work.steps, ['clean raid.delete_configuration', erasure, 'clean raid.create_configuration']);
    assert.equal(node.machine.biosAttributes.UrlBootTimeout, 60);
  });

  test('a custom deployment is a step of the ramdisk', async () => {
    const { host, node, work } = await env.addHost('custom', {
      ...onlyPower,
      customDeploy: { method: 'install_everything' },
    });
    await host.reaches('provisioned');
    assert.deepEqual(work.steps, ['deploy deploy.install_everything']);
    await node.until(({ running }) => running?.from === 'disk', AbortSignal.timeout(30_000));
  });

  test('a provisioned host gets BIOS settings at a restart that its policy allows, and runs its image again', async () => {
    const { host, node } = await env.addHost(
      'serviced',
      { ...onlyPower, image: imageOf('serviced') },
      { vendor: 'hpe' },
    );
    await host.until(
      'runs its image',
      ({ status }) => status?.provisioning.state === 'provisioned' && status.poweredOn,
    );
    await testenv.client.create(HostUpdatePolicy, {
      metadata: { name: 'serviced', namespace },
      spec: { firmwareSettings: 'onReboot' },
    });
    await env.firmwareSettings.named('serviced').hasCondition('Valid', 'True');
    await env.firmwareSettings.patch('serviced', { spec: { settings: { UrlBootTimeout: 60 } } });
    await testenv.hosts.patch('serviced', { spec: { online: false } });
    await host.until('is off', ({ status }) => status?.poweredOn === false);
    await testenv.hosts.patch('serviced', { spec: { online: true } });
    await host.until('is serviced', ({ status }) => status?.operationalStatus === 'servicing');
    await host.until('is on', ({ status }) => status?.operationalStatus === 'OK' && status.poweredOn);
    assert.deepEqual(env.verbsOf(host), ['manage', 'provide', 'active', 'service']);
    assert.equal(node.machine.biosAttributes.UrlBootTimeout, 60);
    await node.until(({ running }) => running?.from === 'disk', AbortSignal.timeout(30_000));
    assert.equal(node.running?.kernel.sha256, checksum);
  });
});
