import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { HardwareDetails } from '@metal/api/metal3/hardware-details.ts';
import { busy, type CleaningMode, done, type StepResult } from '@metal/metal3/provisioner/step-result.ts';
import { BackEndNotReady } from '@metal/metal3/provisioner/back-end.ts';
import type { PreparationData, ProvisioningData } from '@metal/metal3/provisioner/provisioner.ts';
import { startImageServer } from '@metal/testenv/network/image-server.ts';
import { type IronicFixture, startIronicFixture } from '@metal/testenv/ironic/ironic-fixture.ts';
import type { IronicHost } from '@metal/testenv/ironic/ironic-host.ts';

let fixture: IronicFixture;
before(async () => {
  fixture = await startIronicFixture();
});
after(() => fixture?.[Symbol.asyncDispose]());

const url = 'http://images.test/os.raw';
const image = { url, checksum: 'a'.repeat(64), checksumType: 'sha256', format: 'raw' } as const;
const deployment: ProvisioningData = {
  image,
  customDeploy: undefined,
  bootMode: 'UEFI',
  rootDeviceHints: { deviceName: '/dev/sda' },
  isForced: false,
  restartsAfterFailure: false,
};
const deploy = (host: IronicHost, changes: Partial<ProvisioningData> = {}) =>
  host.until((provisioner) => provisioner.provision({ ...deployment, ...changes }), { state: 'provisioning' });
const undeploy = (host: IronicHost, cleaning: CleaningMode = 'disabled') =>
  host.until((provisioner) => provisioner.deprovision({ cleaning, restartsAfterFailure: false }), {
    state: 'deprovisioning',
    cleaning,
  });
const adopt = (host: IronicHost) =>
  host.until((provisioner) => provisioner.adopt({ state: 'provisioned', restartsAfterFailure: false }), {
    state: 'provisioned',
  });
const remove = (host: IronicHost) => host.untilAlone((provisioner) => provisioner.delete());

/** Of one node, in order: verbs, power targets, and the method of everything else. */
function changesOf({ id }: IronicHost): string[] {
  return fixture.relay.changes
    .filter(({ path }) => path.startsWith(`nodes/${id}`))
    .map(({ method, body }) =>
      method === 'PUT' && typeof Object(body).target === 'string' ? Object(body).target : method,
    );
}

test('a host is registered, provisioned and deprovisioned', async () => {
  const config = {
    userData: async () => '#cloud-config',
    networkData: async () => '{"links": []}',
    metaData: async () => 'role: worker',
  };
  const host = fixture.host({}, { config });
  assert.deepEqual(await host.until(), done);
  assert.partialDeepStrictEqual(await fixture.node(host), {
    uuid: host.id,
    provision_state: 'manageable',
    driver: 'fake-hardware',
    automated_clean: false,
    properties: { capabilities: 'boot_mode:uefi', cpu_arch: 'x86_64' },
  });

  assert.deepEqual(await deploy(host), done);
  const { uid, name } = host.host.metadata;
  assert.partialDeepStrictEqual(await fixture.node(host), {
    provision_state: 'active',
    instance_uuid: uid,
    instance_info: { image_source: url, image_os_hash_algo: 'sha256', root_device: { name: 's== /dev/sda' } },
  });
  const order = fixture.relay.requests.find(({ body }) => Object(body).target === 'active');
  assert.partialDeepStrictEqual(order?.body, {
    configdrive: {
      user_data: '#cloud-config',
      network_data: { links: [] },
      meta_data: { uuid: uid, 'metal3-name': name, role: 'worker' },
    },
  });
  assert.partialDeepStrictEqual(order?.headers, {
    'x-openstack-ironic-api-version': '1.110',
    'openstack-api-version': 'baremetal 1.110',
  });

  assert.deepEqual(await undeploy(host), done);
  assert.partialDeepStrictEqual(await fixture.node(host), { provision_state: 'available', instance_uuid: null });
  assert.deepEqual(await remove(host), done);
  await assert.rejects(fixture.node(host), /404/);
});

test('the registration of a host without changes sends nothing that changes the node', async () => {
  const host = fixture.host({ preprovisioningNetworkDataName: 'n' });
  assert.deepEqual(await host.until(), done);
  fixture.relay.clear();
  assert.deepEqual(await host.until(), done);
  assert.deepEqual(fixture.relay.changes, []);
  assert.equal(fixture.relay.requests.filter(({ path }) => path !== 'drivers').length, 2);
});

test('a deprovisioning sets the cleaning before it begins', async () => {
  const host = fixture.host();
  assert.deepEqual(await deploy(host), done);
  fixture.relay.clear();
  assert.deepEqual(await undeploy(host, 'metadata'), done);
  assert.deepEqual(changesOf(host).slice(0, 2), ['PATCH', 'deleted']);
  assert.partialDeepStrictEqual(await fixture.node(host), { automated_clean: true, provision_state: 'available' });
});

test('a custom deployment sends its step, and is interrupted by force only', async () => {
  const host = fixture.host({ customDeploy: { method: 'install_everything' } });
  const data = { ...deployment, image: undefined, customDeploy: 'install_everything' };
  assert.deepEqual(await host.until(), done);
  const waits = async (): Promise<boolean> => (await fixture.node(host)).provision_state === 'wait call-back';
  // It stays busy: nobody answers as the ramdisk.
  await host.passUntil((provisioner) => provisioner.provision(data), waits);
  assert.partialDeepStrictEqual(await fixture.node(host), { deploy_interface: 'custom-agent', instance_info: {} });
  const order = fixture.relay.requests.find(({ body }) => Object(body).deploy_steps !== undefined);
  const step = { interface: 'deploy', step: 'install_everything', args: {}, priority: 80 };
  assert.deepEqual(Object(order?.body).deploy_steps, [step]);

  assert.equal((await (await host.provisioner()).provision(data)).kind, 'busy');
  assert.ok(await waits());
  assert.equal((await (await host.provisioner()).provision({ ...data, isForced: true })).kind, 'busy');
  assert.deepEqual(await undeploy(host), done);
  assert.deepEqual(changesOf(host).slice(-2), ['active', 'deleted']);
});

test('a password that is rotated during a deployment is used after it', async () => {
  const host = fixture.host({ customDeploy: { method: 'install_everything' } });
  const data = { ...deployment, image: undefined, customDeploy: 'install_everything' };
  const waits = async (): Promise<boolean> => (await fixture.node(host)).provision_state === 'wait call-back';
  await host.passUntil((provisioner) => provisioner.provision(data), waits);
  const mark = async () => Object((await fixture.node(host)).extra);
  const before = await mark();
  host.setCredentials('admin', 'rotated');
  fixture.relay.clear();
  assert.equal((await (await host.provisioner()).provision(data)).kind, 'busy');
  assert.deepEqual(await host.until(undefined, { state: 'provisioning' }), done);
  assert.deepEqual([changesOf(host), await mark()], [[], before], 'Ironic works with the former one');
  assert.deepEqual(await undeploy(host), done);
  assert.notDeepEqual(await mark(), before);
});

test('power is changed softly or hard, and a host that must stay on is restarted', async () => {
  const host = fixture.host();
  assert.deepEqual(await host.until(), done);
  const power = { mode: 'hard', isForced: false, cleaning: 'disabled' } as const;
  assert.deepEqual(await host.until((provisioner) => provisioner.powerOn({ isForced: false })), done);
  assert.equal(await (await host.provisioner()).readPower(), true);
  assert.deepEqual(await host.until((provisioner) => provisioner.powerOff({ ...power, mode: 'soft' })), done);
  assert.equal(await (await host.provisioner()).readPower(), false);
  assert.deepEqual(await host.until((provisioner) => provisioner.powerOn({ isForced: false })), done);
  assert.deepEqual(await host.until((provisioner) => provisioner.powerOff(power)), done);
  assert.deepEqual(await host.until((provisioner) => provisioner.powerOn({ isForced: false })), done);
  host.host.spec.disablePowerOff = true;
  assert.deepEqual(await host.until(), done);
  assert.equal((await (await host.provisioner()).powerOff(power)).kind, 'busy');
  const targets = ['power on', 'soft power off', 'power on', 'power off', 'power on', 'rebooting'];
  assert.deepEqual(
    changesOf(host).filter((change) => / |reboot/.test(change)),
    targets,
  );
});

const preparation: PreparationData = {
  raid: undefined,
  appliedRaid: undefined,
  rootDeviceHints: undefined,
  firmware: { settings: { BootMode: 'Uefi' }, updates: [{ component: 'bmc', url: 'http://images.test/bmc' }] },
  isUnprepared: true,
  restartsAfterFailure: false,
};

/** As its controller does: what was begun is not begun again. */
async function prepare(host: IronicHost, changes: Partial<PreparationData> = {}): Promise<StepResult> {
  let isStarted = false;
  return host.until(async (provisioner) => {
    const answer = await provisioner.prepare({ ...preparation, ...changes, isUnprepared: !isStarted });
    isStarted ||= answer.isStarted;
    return answer.result;
  });
}

const stepsSince = (start: number): string[] =>
  fixture.relay.requests
    .slice(start)
    .flatMap(({ body }) => Object(body).clean_steps ?? [])
    .map((step) => `${step.interface}.${step.step}`);

test('settings and firmware are changed in one cleaning', async () => {
  const host = fixture.host();
  const start = fixture.relay.requests.length;
  assert.deepEqual(await prepare(host), done);
  assert.deepEqual(stepsSince(start), ['bios.apply_configuration', 'firmware.update']);
  assert.equal((await fixture.node(host)).provision_state, 'manageable');
});

test('a cleaning that fails says why, and can be repeated', async () => {
  const host = fixture.host();
  const start = fixture.relay.requests.length;
  // Fake hardware has no steps for RAID.
  const result = await prepare(host, { raid: { hardwareRAIDVolumes: [{ level: '1' }] } });
  assert.ok(result.kind === 'failed');
  assert.match(result.message, /does not support this clean step/);
  const raid = ['raid.delete_configuration', 'raid.create_configuration'];
  assert.deepEqual(stepsSince(start), [...raid, 'bios.apply_configuration', 'firmware.update']);
  assert.partialDeepStrictEqual(await fixture.node(host), {
    provision_state: 'clean failed',
    target_raid_config: { logical_disks: [{ raid_level: '1', size_gb: 'MAX', is_root_volume: true }] },
  });
  assert.deepEqual(await prepare(host, { restartsAfterFailure: true }), done);
});

test('an inspection takes the report of the ramdisk, and is interrupted by force only', async () => {
  await using images = await startImageServer();
  const ramdisk = {
    kernelUrl: images.serve('kernel', Buffer.from('k')),
    initrdUrl: images.serve('initrd', Buffer.from('i')),
    isoUrl: undefined,
  };
  const backEnd = fixture.backEndWith({ ramdisk });
  const host = fixture.host({ bmc: { address: 'fake+ipxe://inspected', credentialsName: 'bmc' } }, { backEnd });
  const data = { mode: 'agent', bootMode: 'UEFI', architecture: 'x86_64', isRefresh: false } as const;
  const inspect = async (isForced: boolean) => {
    const provisioner = await host.provisioner();
    return provisioner.inspect({ ...data, isForced, restartsAfterFailure: false });
  };
  const waits = async (): Promise<boolean> => (await fixture.node(host)).provision_state === 'inspect wait';
  await host.passUntil(async () => (await inspect(false)).result, waits);
  assert.equal((await inspect(true)).isStarted, true);
  // Ironic powers the machine off, and forgets its reason a moment later.
  await host.untilAlone(async () => {
    const { provision_state: state, last_error: text } = await fixture.node(host);
    return state === 'inspect failed' && text === null ? done : busy(100);
  });
  await host.passUntil(async () => (await inspect(false)).result, waits);

  const mac = '52:54:00:00:02:01';
  const report = {
    inventory: {
      bmc_address: '192.0.2.1',
      interfaces: [{ name: 'eno1', mac_address: mac, ipv4_address: '192.0.2.7', has_carrier: true }],
      cpu: { architecture: 'x86_64', count: 4, model_name: 'A CPU', frequency: '2000', flags: ['b', 'a'] },
      disks: [{ name: '/dev/sda', size: 1_000_000, model: 'A disk' }],
      memory: { physical_mb: 2048, total: 2_147_483_648 },
      system_vendor: { product_name: 'A machine', manufacturer: 'A vendor', serial_number: 's' },
      boot: { current_boot_mode: 'uefi', pxe_interface: mac },
      hostname: 'ramdisk',
    },
  };
  await fixture.ironic.request('POST', `continue_inspection?node_uuid=${host.id}`, report);
  let details: HardwareDetails | undefined;
  const result = await host.until(async () => {
    const inspection = await inspect(false);
    details = inspection.details;
    return inspection.result;
  });
  assert.deepEqual(result, done);
  assert.partialDeepStrictEqual(details, {
    cpu: { arch: 'x86_64', count: 4, flags: ['a', 'b'] },
    hostname: 'ramdisk',
    nics: [{ name: 'eno1', mac, ip: '192.0.2.7' }],
    ramMebibytes: 2048,
  });
});

test('settings of a deployed host are changed by a servicing', async () => {
  const host = fixture.host();
  assert.deepEqual(await deploy(host), done);
  const firmware = { settings: { BootMode: 'Uefi' }, updates: [] };
  const data = { firmware, hasFirmwareSpec: true, restartsAfterFailure: false };
  let isStarted = false;
  const serviced = await host.untilStarted(
    async (provisioner) => {
      const answer = await provisioner.service({ ...data, isUnprepared: !isStarted });
      isStarted ||= answer.isStarted;
      return answer;
    },
    { state: 'provisioned' },
  );
  assert.deepEqual(serviced.result, done);
  assert.ok(isStarted);
  assert.equal((await fixture.node(host)).provision_state, 'active');
});

test('a detached host is registered with another address and adopted, without another deployment', async () => {
  const host = fixture.host();
  assert.deepEqual(await deploy(host), done);
  assert.deepEqual(await host.untilAlone((provisioner) => provisioner.detach({ isForced: false })), done);
  await assert.rejects(fixture.node(host), /404/);

  const former = host.id;
  host.host.spec.bmc = { address: 'fake://elsewhere', credentialsName: 'bmc' };
  fixture.relay.clear();
  assert.deepEqual(await adopt(host), done);
  assert.notEqual(host.id, former);
  assert.deepEqual(changesOf(host), ['manage', 'PATCH', 'adopt']);
  assert.partialDeepStrictEqual(await fixture.node(host), {
    provision_state: 'active',
    driver_info: { fake_address: 'elsewhere' },
  });
});

test('a maintenance that a person set ends before the node is changed', async () => {
  const host = fixture.host();
  assert.deepEqual(await deploy(host), done);
  await fixture.ironic.request('PUT', `nodes/${host.id}/maintenance`, { reason: 'a person' });
  assert.deepEqual(await adopt(host), done);
  assert.partialDeepStrictEqual(await fixture.node(host), { maintenance: false, provision_state: 'active' });

  await fixture.ironic.request('PUT', `nodes/${host.id}/maintenance`, { reason: 'a person' });
  assert.deepEqual(await undeploy(host), done);
});

test('a host waits for capacity, unless it boots from virtual media or is the one that Ironic works on', async () => {
  const backEnd = fixture.backEndWith({ provisioningLimit: 1 });
  const pxe = (name: string) =>
    fixture.host({ bmc: { address: `fake+pxe://${name}`, credentialsName: 'bmc' } }, { backEnd });
  const [worked, next, media] = [pxe('first'), pxe('second'), fixture.host({}, { backEnd })];
  for (const host of [worked, next, media]) assert.deepEqual(await host.until(), done);
  const capacityOf = async (host: IronicHost) => (await host.provisioner()).hasCapacity();
  assert.equal(await capacityOf(next), true);
  const data = { ...deployment, image: undefined, customDeploy: 'install' };
  const waits = async (): Promise<boolean> => (await fixture.node(worked)).provision_state === 'wait call-back';
  await worked.passUntil((provisioner) => provisioner.provision(data), waits);
  assert.deepEqual(await Promise.all([worked, next, media].map(capacityOf)), [true, false, true]);
  assert.deepEqual(await worked.untilAlone((provisioner) => provisioner.detach({ isForced: true })), done);
  assert.equal(await capacityOf(next), true);
});

test('the MAC address of another host is refused by name', async () => {
  const host = fixture.host();
  assert.deepEqual(await host.until(), done);
  const other = fixture.host({ bootMACAddress: host.host.spec.bootMACAddress ?? '' });
  const result = await other.until();
  assert.ok(result.kind === 'failed');
  assert.match(result.message, new RegExp(`${host.host.spec.bootMACAddress} belongs to node ${host.nodeName}`));
});

test('a host is deleted in every state, and with a node that its status does not know', async () => {
  const [enrolled, deployed, unstored] = [fixture.host(), fixture.host(), fixture.host()];
  await (await enrolled.provisioner()).register(enrolled.registrationData());
  assert.deepEqual(await deploy(deployed), done);
  assert.deepEqual(await unstored.until(), done);
  unstored.forget();
  for (const host of [enrolled, deployed, unstored]) {
    assert.deepEqual(await remove(host), done);
    await assert.rejects(fixture.node(host), /404/);
  }
});

test('every call waits while Ironic is down, and goes on afterwards', async () => {
  const host = fixture.host();
  assert.deepEqual(await host.until(), done);
  await fixture.ironic.stop();
  await assert.rejects(host.provisioner(), BackEndNotReady);
  await assert.rejects(fixture.backEnd.servicesOf(host.host), BackEndNotReady);
  await fixture.ironic.start();
  assert.deepEqual(await remove(host), done);
});

test('a host gets the ramdisk of its PreprovisioningImage, and waits for it where a ramdisk works', async () => {
  const backEnd = fixture.backEndWith({ usesPreprovisioningImages: true });
  const host = fixture.host({}, { backEnd });
  assert.deepEqual(await (await host.provisioner()).preprovisioningImageFormats(), ['iso', 'initrd']);
  assert.deepEqual(await host.until(), done);
  assert.deepEqual(await host.until(undefined, { state: 'preparing' }), { kind: 'needsImage' });
  assert.deepEqual(await host.until(undefined, { state: 'deprovisioning', cleaning: 'disabled' }), done);

  const [kernelUrl, imageUrl] = ['http://images.test/kernel', 'http://images.test/initrd'];
  host.preprovisioningImage = { format: 'initrd', imageUrl, kernelUrl, extraKernelParams: 'console=ttyS0' };
  assert.deepEqual(await host.until(undefined, { state: 'preparing' }), done);
  assert.partialDeepStrictEqual(await fixture.node(host), {
    driver_info: {
      deploy_kernel: kernelUrl,
      deploy_ramdisk: imageUrl,
      kernel_append_params: '%default% console=ttyS0',
    },
  });
  const iso = 'http://images.test/ramdisk.iso';
  host.preprovisioningImage = { format: 'iso', imageUrl: iso, kernelUrl: undefined, extraKernelParams: undefined };
  assert.deepEqual(await host.until(undefined, { state: 'preparing' }), done);
  const { fake_address, deploy_iso, deploy_kernel } = Object((await fixture.node(host)).driver_info);
  assert.deepEqual([fake_address, deploy_iso, deploy_kernel], [host.host.metadata.name, iso, undefined]);
});
