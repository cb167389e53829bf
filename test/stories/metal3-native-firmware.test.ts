import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { FirmwareSchema } from '@metal/api/metal3/firmware-schema.ts';
import { HostFirmwareComponents } from '@metal/api/metal3/host-firmware-components.ts';
import { HostFirmwareSettings } from '@metal/api/metal3/host-firmware-settings.ts';
import { HostUpdatePolicy } from '@metal/api/metal3/host-update-policy.ts';
import { rebootAnnotation } from '@metal/api/metal3/metal3-contract.ts';
import { BIOSSettings } from '@metal/api/v1alpha1/bios-settings.ts';
import type { Condition, KubeObject } from '@metal/kube/kinds/kind.ts';
import { CacheSet } from '@metal/kube/cache/cache.ts';
import { mbrImage } from '@metal/probe/test/disk-fixture.ts';
import { firmwareImage } from '@metal/simulator/firmware-image.ts';
import type { Node } from '@metal/simulator/fleet.ts';
import { profiles } from '@metal/simulator/profiles.ts';
import { ObjectsOfKind } from '@metal/testenv/cluster/objects-of-kind.ts';
import { type Testenv, testenvsOfFile } from '@metal/testenv/testenv.ts';
import { pino } from 'pino';
import { namespace, type NativeTestenv, startNativeTestenv } from '../fixtures/metal3-native-fixture.ts';

const startTestenv = testenvsOfFile();
/** Firmware is published up to half an hour after the discovery. */
const speed = 50;
const names = ['tuned', 'updated', 'refused', 'rebooted', 'unpermitted', 'foreign'] as const;
type Name = (typeof names)[number];

suite('Settings and firmware of BareMetalHosts on the native provisioner', () => {
  const stack = new AsyncDisposableStack();
  const nodes = new Map<Name, Node>();
  let native: NativeTestenv;
  let testenv: Testenv;
  let settings: ObjectsOfKind<HostFirmwareSettings>;
  let components: ObjectsOfKind<HostFirmwareComponents>;

  before(async () => {
    native = stack.use(await startNativeTestenv(startTestenv, [], { speed }));
    ({ testenv } = native);
    await watchSiblings();
    const added = await testenv.addNodes({ generic: names.length });
    for (const [index, name] of names.entries()) nodes.set(name, added[index] ?? assert.fail());
    await Promise.all(names.map((name) => native.host(nodeOf(name), name)));
    await Promise.all(names.map((name) => settings.named(name).hasCondition('Valid', 'True')));
  });
  after(async () => stack.disposeAsync());

  async function watchSiblings(): Promise<void> {
    const { client, clock, timeline } = testenv;
    const caches = new CacheSet({ client, clock, log: pino({ level: 'silent' }) });
    const found = { settings: caches.watch(HostFirmwareSettings), components: caches.watch(HostFirmwareComponents) };
    stack.defer(() => caches.stop());
    await caches.start(new AbortController().signal);
    settings = new ObjectsOfKind({ kind: HostFirmwareSettings, cache: found.settings, client, timeline });
    components = new ObjectsOfKind({ kind: HostFirmwareComponents, cache: found.components, client, timeline });
  }

  const nodeOf = (name: Name): Node => nodes.get(name) ?? assert.fail();
  const imageOf = (component: string, version: string): string => {
    const { manufacturer, model } = profiles.generic;
    const image = firmwareImage({ component, version, manufacturer, models: [model] });
    return native.images.serve(`${component}-${version}.bin`, image);
  };
  const isUnchanged = (object: KubeObject, condition: Condition | undefined) =>
    condition?.status === 'False' && condition.observedGeneration === object.metadata.generation;
  const applied = (name: Name) =>
    settings
      .named(name)
      .until('is as desired', (object) => isUnchanged(object, settings.named(name).condition('ChangeDetected')));
  const listed = (name: Name) =>
    components.named(name).until('lists components', ({ status }) => (status?.components ?? []).length > 0);
  const withoutObjects = async (name: Name) => {
    const { biosSettings, biosVersions, bmcVersions } = testenv.updates;
    for (const kind of [biosSettings, biosVersions, bmcVersions]) await kind.named(`${namespace}.${name}`).isGone();
  };
  const policy = (name: Name) =>
    testenv.client.create(HostUpdatePolicy, {
      metadata: { name, namespace },
      spec: { firmwareSettings: 'onReboot', firmwareUpdates: 'onReboot' },
    });

  async function provisioned(name: Name) {
    const image = { ...native.served(mbrImage(), `${name}.img`), format: 'raw' as const };
    await native.hosts.patch(name, { spec: { image, rootDeviceHints: { deviceName: '/dev/nvme1n1' } } });
    const host = native.hosts.named(name);
    await host.reaches('provisioned');
    await host.until('is on', ({ status }) => status?.poweredOn === true);
    return host;
  }

  async function restarted(name: Name) {
    const since = nodeOf(name).powerLog.length;
    await native.hosts.patch(name, { metadata: { annotations: { [rebootAnnotation]: '' } } });
    await native.hosts
      .named(name)
      .until(
        'has restarted',
        ({ metadata, status }) =>
          metadata.annotations?.[rebootAnnotation] === undefined &&
          status?.poweredOn === true &&
          status.operationalStatus === 'OK' &&
          nodeOf(name).powerLog.slice(since).includes('Off'),
      );
  }

  test('settings of a free host are changed in a maintenance, with one restart', async () => {
    const node = nodeOf('tuned');
    const { status } = await settings.named('tuned').exists();
    assert.equal(status?.settings.ProcHyperthreading, String(node.machine.biosAttributes.ProcHyperthreading));
    const { spec } = await testenv.client.get(FirmwareSchema, { namespace, name: status?.schema?.name ?? '' });
    assert.deepEqual(spec.schema.MaxCores, { attribute_type: 'Integer', lower_bound: 1, upper_bound: 64 });
    const host = native.hosts.named('tuned');
    await host.reaches('available');
    const since = node.powerLog.length;
    await settings.patch('tuned', { spec: { settings: { ProcHyperthreading: 'Disabled', MaxCores: 8 } } });
    await host.reaches('preparing');
    await host.reaches('available');
    assert.deepEqual(
      [node.machine.biosAttributes.ProcHyperthreading, node.machine.biosAttributes.MaxCores],
      ['Disabled', 8],
    );
    await applied('tuned');
    await testenv.server(node).hasReason('Available');
    assert.deepEqual(node.powerLog.slice(since), ['On', 'Off', 'On', 'Off']);
    await withoutObjects('tuned');
    await applied('tuned');
  });

  test('BIOS and BMC of a free host are updated, whatever their versions are', async () => {
    const node = nodeOf('updated');
    const host = native.hosts.named('updated');
    await host.reaches('available');
    const object = components.named('updated');
    const before = await listed('updated');
    assert.deepEqual(
      before.status?.components?.map(({ component, initialVersion }) => [component, initialVersion]),
      [
        ['bios', node.bmc.profile.biosVersion],
        ['bmc', node.bmc.profile.firmwareVersion],
        ['nic:NIC1', '22.5.7'],
      ],
    );
    const updates = [
      { component: 'bios', url: imageOf('BIOS', '7.0') },
      { component: 'bmc', url: imageOf('BMC', '8.0') },
    ];
    await components.patch('updated', { spec: { updates } });
    await object.until('has made the updates', ({ status }) => status?.updates?.length === updates.length);
    await host.reaches('available');
    assert.deepEqual(node.bmc.flashes.map(({ version }) => version).toSorted(), ['7.0', '8.0']);
    const { status } = await object.until(
      'has the versions',
      (now) => now.status?.components?.[0]?.currentVersion === '7.0',
    );
    assert.equal(status?.components?.[0]?.initialVersion, node.bmc.profile.biosVersion);
    await withoutObjects('updated');
  });

  test('a wrong attribute is invalid, a missing image a preparation error, and nothing is restarted', async () => {
    const node = nodeOf('refused');
    const host = native.hosts.named('refused');
    await host.reaches('available');
    const since = node.powerLog.length;
    await settings.patch('refused', { spec: { settings: { ProcCStates: 'Disabled' } } });
    await settings.named('refused').hasMessage(/setting ProcCStates is read-only/);
    await listed('refused');
    const url = `${native.images.url}/missing.bin`;
    await components.patch('refused', { spec: { updates: [{ component: 'bios', url }] } });
    const { status } = await host.until('has failed', ({ status: now }) => now?.errorType === 'preparation error');
    assert.match(status?.errorMessage ?? '', /BIOSVersion default\.refused: ImageRefused: .*404/);
    assert.equal(status?.errorCount, 1);
    await components.patch('refused', { spec: { updates: [] } });
    const free = await host.until('is available', ({ status: now }) => now?.provisioning.state === 'available');
    assert.equal(free.status?.errorType, undefined);
    await withoutObjects('refused');
    assert.deepEqual(node.powerLog.slice(since), []);
  });

  test('a HostUpdatePolicy lets settings and firmware of a provisioned host change at its next restart', async () => {
    const node = nodeOf('rebooted');
    await provisioned('rebooted');
    await policy('rebooted');
    const updates = [
      { component: 'bios', url: imageOf('BIOS', '7.1') },
      { component: 'nic:NIC1', url: imageOf('NIC', '23.0') },
    ];
    await listed('rebooted');
    await components.patch('rebooted', { spec: { updates } });
    await components.named('rebooted').hasCondition('ChangeDetected', 'True');
    await settings.patch('rebooted', { spec: { settings: { ProcHyperthreading: 'Disabled' } } });
    await settings.named('rebooted').hasCondition('ChangeDetected', 'True');
    assert.equal(node.machine.biosAttributes.ProcHyperthreading, 'Enabled');
    assert.deepEqual(node.bmc.flashes, []);
    await restarted('rebooted');
    assert.equal(node.machine.biosAttributes.ProcHyperthreading, 'Disabled');
    assert.deepEqual(new Set(node.bmc.flashes.map(({ version }) => version)), new Set(['7.1', '23.0']));
    assert.equal(node.bmc.flashes.length, 2);
    assert.equal(native.hosts.named('rebooted').now?.status?.provisioning.state, 'provisioned');
    await applied('rebooted');
  });

  test('without a policy nothing is changed on a provisioned host', async () => {
    const node = nodeOf('unpermitted');
    await provisioned('unpermitted');
    await settings.patch('unpermitted', { spec: { settings: { ProcHyperthreading: 'Disabled' } } });
    await settings.named('unpermitted').hasCondition('ChangeDetected', 'True');
    await restarted('unpermitted');
    assert.equal(node.machine.biosAttributes.ProcHyperthreading, 'Enabled');
    await withoutObjects('unpermitted');
  });

  test('an object of the same name that is not of the host is reported and left alone', async () => {
    const name = `${namespace}.foreign`;
    const spec = { version: '', settingsFlow: [] };
    const { metadata } = await testenv.client.create(BIOSSettings, { metadata: { name }, spec });
    await settings.patch('foreign', { spec: { settings: { ProcHyperthreading: 'Disabled' } } });
    const host = native.hosts.named('foreign');
    const { status } = await host.until('has failed', ({ status: now }) => now?.errorType === 'preparation error');
    assert.match(status?.errorMessage ?? '', /BIOSSettings default\.foreign is not of this host/);
    const found = await testenv.client.get(BIOSSettings, { name });
    assert.deepEqual([found.metadata.uid, found.spec], [metadata.uid, spec]);
  });
});
