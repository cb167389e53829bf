import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { HardwareDetails } from '@metal/api/metal3/hardware-details.ts';
import type { Provisioner } from '@metal/metal3/provisioner/provisioner.ts';
import { done, type StepResult } from '@metal/metal3/provisioner/step-result.ts';
import { type Fleet, type Node, startFleet } from '@metal/simulator/fleet.ts';
import { type IronicFixture, startIronicFixture } from '@metal/testenv/ironic/ironic-fixture.ts';
import type { IronicHostOptions } from '@metal/testenv/ironic/ironic-host.ts';

let fixture: IronicFixture;
let fleet: Fleet;
before(async () => {
  fixture = await startIronicFixture();
  fleet = await startFleet({ powerOnMs: 100, powerOffMs: 100, bootMs: 100 });
});
after(async () => {
  await fleet?.[Symbol.asyncDispose]();
  await fixture?.[Symbol.asyncDispose]();
});

const credentials = { username: 'admin', password: 'fleet-password' };
const firstMac = ({ machine }: Node): string => machine.hardware.nics[0]?.macAddress ?? '';

function hostOf(node: Node, spec: Partial<IronicHostOptions['spec']> = {}, password = credentials.password) {
  const { address, machine } = { address: node.bmc.address, machine: node.machine };
  const url = `redfish-virtualmedia+http://${address}:${fleet.port}/redfish/v1/Systems/${machine.systemId}`;
  const bmc = { address: url, credentialsName: 'bmc' };
  const login = { ...credentials, password };
  return fixture.host({ bmc, bootMACAddress: firstMac(node), ...spec }, { credentials: login });
}

const image = { url: 'http://images.test/os.raw', checksum: 'a'.repeat(64) } as const;
const deployment = {
  image,
  customDeploy: undefined,
  bootMode: 'UEFI',
  rootDeviceHints: undefined,
  isForced: false,
  restartsAfterFailure: false,
} as const;

test('the node of a host has the interfaces of its address and a port, and its messages have no password', async () => {
  const node = await fleet.add();
  const host = hostOf(node);
  assert.deepEqual(await host.until(), done);
  assert.partialDeepStrictEqual(await fixture.node(host), {
    uuid: host.id,
    name: host.nodeName,
    driver: 'redfish',
    boot_interface: 'redfish-virtual-media',
    firmware_interface: 'redfish',
    inspect_interface: 'agent',
    driver_info: {
      redfish_address: `http://${node.bmc.address}:${fleet.port}`,
      redfish_system_id: `/redfish/v1/Systems/${node.machine.systemId}`,
      redfish_username: 'admin',
    },
    power_state: 'power off',
  });
  const { ports } = Object(
    await fixture.ironic.request('GET', `ports?node_uuid=${host.id}&fields=address,pxe_enabled`),
  );
  assert.partialDeepStrictEqual(ports, [{ address: firstMac(node), pxe_enabled: true }]);
});

test('wrong credentials are reported and not repeated, and a new Secret works at once', async () => {
  const node = await fleet.add();
  const host = hostOf(node, {}, 'wrong-password');
  const rejected = await host.until();
  assert.ok(rejected.kind === 'failed');
  assert.doesNotMatch(rejected.message, /wrong-password/);
  const { length } = fixture.relay.changes;
  assert.equal((await host.until()).kind, 'failed');
  assert.equal(fixture.relay.changes.length, length, 'the BMC is not asked again');

  host.setCredentials(credentials.username, credentials.password);
  assert.deepEqual(await host.until(), done);

  host.setCredentials(credentials.username, 'rotated');
  assert.deepEqual(await host.until(), done);
  const patches = fixture.relay.changes.filter(({ method }) => method === 'PATCH');
  assert.match(JSON.stringify(patches.at(-1)?.body), /rotated/, 'a password that Ironic masks is sent by its version');
});

test('an inspection by the BMC alone finds the hardware, whose interfaces get ports', async () => {
  const node = await fleet.add();
  const host = hostOf(node);
  const data = { mode: 'fast', bootMode: 'UEFI', architecture: 'x86_64', isRefresh: false } as const;
  let hardware: HardwareDetails | undefined;
  const inspect = async (provisioner: Provisioner): Promise<StepResult> => {
    const answer = await provisioner.inspect({ ...data, isForced: false, restartsAfterFailure: false });
    hardware = answer.details;
    return answer.result;
  };
  assert.deepEqual(await host.until(inspect, { state: 'inspecting', inspection: 'fast' }), done);
  const { hardware: parts } = node.machine;
  assert.partialDeepStrictEqual(hardware, {
    cpu: { arch: 'x86_64' },
    systemVendor: { serialNumber: parts.serialNumber },
    nics: parts.nics.map(({ macAddress: mac }) => ({ mac })),
  });
  assert.deepEqual(await host.until(undefined, { hardware }), done);
  const { ports } = Object(await fixture.ironic.request('GET', `ports?node_uuid=${host.id}`));
  assert.equal(ports.length, parts.nics.length);
});

test('the machine is switched on and off', async () => {
  const node = await fleet.add();
  const host = hostOf(node);
  assert.deepEqual(await host.until((provisioner) => provisioner.powerOn({ isForced: false })), done);
  const off = { mode: 'hard', isForced: false, cleaning: 'disabled' } as const;
  assert.deepEqual(await host.until((provisioner) => provisioner.powerOff(off)), done);
  assert.deepEqual(node.powerLog, ['On', 'Off']);
});

test('a deployment that Ironic cannot begin is refused with its reason', async () => {
  const host = hostOf(await fleet.add());
  const refused = await host.until((provisioner) => provisioner.provision(deployment), { state: 'provisioning' });
  assert.ok(refused.kind === 'failed');
  assert.match(refused.message, /^Ironic cannot deploy the host: /);
  assert.equal((await fixture.node(host)).provision_state, 'available');
});

test('a deployment that fails says why, and the host is available again after its deprovisioning', async () => {
  const host = hostOf(await fleet.add());
  const data = { ...deployment, image: { url: 'http://127.0.0.1:9/live.iso', format: 'live-iso' } } as const;
  const failure = await host.until((provisioner) => provisioner.provision(data), {
    state: 'provisioning',
    image: data.image,
  });
  assert.ok(failure.kind === 'failed');
  assert.match(failure.message, /^http:\/\/127.0.0.1:9\/live\.iso: .*VirtualMedia/s);
  assert.equal((await fixture.node(host)).deploy_interface, 'ramdisk');
  const order = fixture.relay.changes.findLast(({ body }) => Object(body).target === 'active');
  assert.deepEqual(order?.body, { target: 'active' }, 'a live ISO has no config drive');
  const retry = { cleaning: 'disabled', restartsAfterFailure: false } as const;
  const undeploy = host.until((provisioner) => provisioner.deprovision(retry), { state: 'deprovisioning' });
  assert.deepEqual(await undeploy, done);

  const disk = await host.until((provisioner) => provisioner.provision(deployment), { state: 'provisioning' });
  assert.equal(disk.kind, 'failed', 'it needs a ramdisk');
  assert.equal((await fixture.node(host)).deploy_interface, 'direct');
});

test('a cleaning that fails is reported, and the host is not available', async () => {
  const host = hostOf(await fleet.add(), { automatedCleaningMode: 'metadata' });
  const failure = await host.until((provisioner) => provisioner.provision(deployment), { state: 'provisioning' });
  assert.equal(failure.kind, 'failed');
  assert.partialDeepStrictEqual(await fixture.node(host), { provision_state: 'clean failed' });
  const retry = { cleaning: 'metadata', restartsAfterFailure: false } as const;
  const undeploy = (restartsAfterFailure: boolean, cleaning: 'metadata' | 'disabled' = 'metadata') =>
    host.until((provisioner) => provisioner.deprovision({ ...retry, cleaning, restartsAfterFailure }), {
      state: 'deprovisioning',
      cleaning,
    });
  assert.equal((await undeploy(false)).kind, 'failed');
  assert.deepEqual(await undeploy(true, 'disabled'), done);
});

test('Ironic waits for a BMC that does not answer, and the host for Ironic', async () => {
  const node = await fleet.add();
  const host = hostOf(node);
  assert.deepEqual(await host.until(), done);
  await node.bmc.refuse();
  let hasFailure = false;
  await host.passUntil(
    async (provisioner) => {
      await provisioner.readPower();
      hasFailure = provisioner.hasPowerFailure();
      return { kind: 'busy', delayMs: 200 };
    },
    async () => hasFailure,
  );
  const provisioner = await host.provisioner();
  assert.equal((await provisioner.provision(deployment)).kind, 'busy');
  assert.equal((await fixture.node(host)).maintenance, true, 'a fault ends by itself');
  await node.bmc.heal();
  await host.passUntil(
    async () => ({ kind: 'busy', delayMs: 200 }),
    async () => (await fixture.node(host)).fault === null,
  );
});

test('settings and components are read, and a rejected subscription reveals none of its headers', async () => {
  const node = await fleet.add();
  const host = hostOf(node);
  assert.deepEqual(await host.until(), done);
  const services = await fixture.backEnd.servicesOf(host.host);
  const { settings } = await services.readFirmwareSettings();
  const attributes = Object.keys(node.machine.biosAttributes).filter((name) => !name.includes('Password'));
  assert.deepEqual(Object.keys(settings).toSorted(), attributes.toSorted());
  const components = await services.readFirmwareComponents();
  assert.deepEqual(components.map(({ component }) => component).toSorted(), ['bios', 'bmc']);

  fixture.relay.setFault(({ path, body }) =>
    path.includes('create_subscription')
      ? { kind: 'answer', status: 500, body: JSON.stringify({ error_message: `rejected: ${JSON.stringify(body)}` }) }
      : undefined,
  );
  const rejected = services.addEventSubscription({
    destination: 'https://events.test/receive',
    context: 'c',
    httpHeaders: { 'X-Token': 'secret-token' },
  });
  await assert.rejects(
    rejected,
    (error: Error) => /events\.test/.test(error.message) && !/secret-token/.test(error.message),
  );
  fixture.relay.setFault(() => undefined);
});
