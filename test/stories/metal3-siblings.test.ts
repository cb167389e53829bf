import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { BMCEventSubscription } from '@metal/api/metal3/bmc-event-subscription.ts';
import { DataImage } from '@metal/api/metal3/data-image.ts';
import { FirmwareSchema } from '@metal/api/metal3/firmware-schema.ts';
import { HostFirmwareComponents } from '@metal/api/metal3/host-firmware-components.ts';
import { HostFirmwareSettings } from '@metal/api/metal3/host-firmware-settings.ts';
import { HostUpdatePolicy } from '@metal/api/metal3/host-update-policy.ts';
import { pausedAnnotation, rebootAnnotation } from '@metal/api/metal3/metal3-contract.ts';
import { PreprovisioningImage } from '@metal/api/metal3/preprovisioning-image.ts';
import type { Kind, KubeObject } from '@metal/kube/kinds/kind.ts';
import { architectureOf } from '@metal/metal3/controllers/preprovisioningimage/built-image.ts';
import { type FirmwareSettings, NotSupported } from '@metal/metal3/provisioner/node-services.ts';
import { type HostTestenv, startHostTestenv } from '@metal/testenv/metal3/host-testenv.ts';
import type { ObjectsOfKind } from '@metal/testenv/cluster/objects-of-kind.ts';

const namespace = 'default';
const image = { url: 'http://images.test/os.raw', checksum: 'abc', format: 'raw' } as const;
const isoUrl = 'http://images.test/ramdisk.iso';
const bios = { component: 'bios', url: 'http://files.test/bios.bin' };
const settings: FirmwareSettings = {
  settings: { Turbo: 'Enabled', Cores: '4', AdminPassword: 'hidden' },
  schema: {
    Turbo: { attribute_type: 'Enumeration', allowable_values: ['Enabled', 'Disabled'] },
    Cores: { attribute_type: 'Integer', upper_bound: 8 },
  },
  vendor: 'Fixture',
  model: 'Machine',
};

suite('Objects beside a BareMetalHost', () => {
  let testenv: HostTestenv;
  let firmwareSettings: ObjectsOfKind<HostFirmwareSettings>;
  let firmwareComponents: ObjectsOfKind<HostFirmwareComponents>;
  let images: ObjectsOfKind<PreprovisioningImage>;
  let subscriptions: ObjectsOfKind<BMCEventSubscription>;
  let dataImages: ObjectsOfKind<DataImage>;
  before(async () => {
    testenv = await startHostTestenv();
    const { caches, backEnd } = testenv;
    firmwareSettings = testenv.objects(HostFirmwareSettings, caches.firmwareSettings);
    firmwareComponents = testenv.objects(HostFirmwareComponents, caches.firmwareComponents);
    images = testenv.objects(PreprovisioningImage, caches.preprovisioningImages);
    subscriptions = testenv.objects(BMCEventSubscription, caches.eventSubscriptions);
    dataImages = testenv.objects(DataImage, caches.dataImages);
    backEnd.services.settings = settings;
    backEnd.services.components = [
      {
        component: 'bios',
        initialVersion: '1.0',
        currentVersion: '1.0',
        lastVersionFlashed: undefined,
        updatedAt: undefined,
      },
    ];
    await testenv.start({ 'build-preprov-image': 'true', 'deploy-iso-url': isoUrl });
  });
  after(async () => testenv[Symbol.asyncDispose]());

  async function availableHost(name: string) {
    await testenv.host(name);
    const host = testenv.hosts.named(name);
    await host.reaches('available');
    return host;
  }

  const preparations = (name: string): number =>
    testenv.backEnd.machine(name).started.filter((operation) => operation === 'prepare').length;

  const eventAbout = (name: string, reason: string, note: RegExp) =>
    testenv.events
      .found(`event ${reason} about ${name}`, () =>
        [...testenv.events.all()].find(
          (event) => event.reason === reason && event.regarding.name === name && note.test(event.note ?? ''),
        ),
      )
      .exists();

  const named = (name: string) => ({ metadata: { name, namespace } });
  const remove = <T extends KubeObject>(kind: Kind<T>, name: string) =>
    testenv.client.delete(kind, { namespace, name });

  test('changed BIOS settings of an available host are applied, and those in use are shown without passwords', async () => {
    const host = await availableHost('tuned');
    const object = firmwareSettings.named('tuned');
    const read = await object.hasCondition('ChangeDetected', 'False');
    assert.deepEqual(read.status?.settings, { Turbo: 'Enabled', Cores: '4' });
    const before = preparations('tuned');
    const { services } = testenv.backEnd;
    const former = services.settings;
    const prepared = testenv.backEnd.untilCalled('tuned', 'prepare');
    await firmwareSettings.patch('tuned', { spec: { settings: { Turbo: 'Disabled', Cores: 4 } } });
    await prepared;
    services.settings = { ...former, settings: { ...former.settings, Turbo: 'Disabled' } };
    await object.until('has the new value', ({ status }) => status?.settings.Turbo === 'Disabled');
    const applied = await object.hasCondition('ChangeDetected', 'False');
    assert.equal(object.condition('ChangeDetected')?.observedGeneration, applied.metadata.generation);
    assert.equal(object.condition('Valid')?.reason, 'Success');
    await host.reaches('available');
    assert.equal(preparations('tuned'), before + 1);
    services.settings = former;
  });

  test('equal machines share a FirmwareSchema, which each of them owns', async () => {
    await Promise.all([availableHost('equal-1'), availableHost('equal-2')]);
    const both = ['equal-1', 'equal-2'].map((name) => firmwareSettings.named(name));
    const names = await Promise.all(
      both.map(async (object) => (await object.hasCondition('Valid', 'True')).status?.schema?.name),
    );
    assert.equal(names[0], names[1]);
    const schema = await testenv.client.get(FirmwareSchema, { namespace, name: names[0] ?? '' });
    const owners = new Set(schema.metadata.ownerReferences?.map(({ name }) => name));
    assert.ok(owners.has('equal-1') && owners.has('equal-2'));
    assert.deepEqual(Object.keys(schema.spec.schema).toSorted(), ['Cores', 'Turbo']);
  });

  test('BIOS settings that the machine rejects are reported, and the host is left alone', async () => {
    await availableHost('mistuned');
    const object = firmwareSettings.named('mistuned');
    await object.hasCondition('Valid', 'True');
    const before = preparations('mistuned');
    await firmwareSettings.patch('mistuned', { spec: { settings: { Cores: 9, AdminPassword: 'new' } } });
    const refused = await object.hasCondition('Valid', 'False');
    assert.equal(object.condition('Valid')?.reason, 'ConfigurationError');
    assert.equal(object.condition('ChangeDetected')?.observedGeneration, refused.metadata.generation);
    await eventAbout('mistuned', 'ValidationFailed', /Cores/);
    await eventAbout('mistuned', 'ValidationFailed', /AdminPassword is a password/);
    // Another generation with the same result: its conditions say so, too.
    await firmwareSettings.patch('mistuned', { spec: { settings: { Cores: 10 } } });
    await object.until('is observed again', ({ metadata, status }) =>
      (status?.conditions ?? []).every(({ observedGeneration }) => observedGeneration === metadata.generation),
    );
    assert.equal(preparations('mistuned'), before);
    await firmwareSettings.patch('mistuned', { spec: { settings: { Cores: null, AdminPassword: null } } });
    await object.hasCondition('Valid', 'True');
  });

  test('a firmware update of an available host is started once, and its versions are shown', async () => {
    const host = await availableHost('updated');
    const object = firmwareComponents.named('updated');
    const read = await object.hasCondition('ChangeDetected', 'False');
    assert.equal(read.status?.components?.[0]?.currentVersion, '1.0');
    const before = preparations('updated');
    await firmwareComponents.patch('updated', { spec: { updates: [bios] } });
    await object.until('has started', ({ status }) => status?.updates?.[0]?.url === bios.url);
    await object.hasCondition('ChangeDetected', 'False');
    await host.reaches('available');
    assert.equal(preparations('updated'), before + 1);
    await firmwareComponents.patch('updated', { spec: { updates: [] } });
    await object.until('has no started update', ({ status }) => status?.updates?.length === 0);
    await object.hasCondition('ChangeDetected', 'False');
    assert.equal(preparations('updated'), before + 1);
  });

  test('a firmware update of a provisioned host is made at its next restart, if its policy says so', async () => {
    await testenv.host('serviced', { spec: { image } });
    const host = testenv.hosts.named('serviced');
    await host.reaches('provisioned');
    await host.until('is on', ({ status }) => status?.poweredOn === true);
    const spec = { firmwareUpdates: 'onReboot' } as const;
    await testenv.client.create(HostUpdatePolicy, { ...named('serviced'), spec });
    const object = firmwareComponents.named('serviced');
    await firmwareComponents.patch('serviced', { spec: { updates: [bios] } });
    await object.hasCondition('ChangeDetected', 'True');
    const { started } = testenv.backEnd.machine('serviced');
    const { length } = started;
    await testenv.hosts.patch('serviced', { metadata: { annotations: { [rebootAnnotation]: '' } } });
    await object.until('has started it', ({ status }) => (status?.updates ?? []).length > 0);
    await host.until(
      'is on again',
      ({ status, metadata }) =>
        status?.poweredOn === true &&
        status.operationalStatus === 'OK' &&
        metadata.annotations?.[rebootAnnotation] === undefined,
    );
    assert.deepEqual(started.slice(length), ['powerOff', 'service', 'powerOn']);
    assert.equal(host.now?.status?.provisioning.state, 'provisioned');
  });

  test('an update of an unknown component is reported, and the host is left alone', async () => {
    await availableHost('misdirected');
    const object = firmwareComponents.named('misdirected');
    await object.hasCondition('Valid', 'True');
    const before = preparations('misdirected');
    await firmwareComponents.patch('misdirected', { spec: { updates: [{ ...bios, component: 'gpu' }] } });
    await object.hasCondition('Valid', 'False');
    assert.equal(object.condition('Valid')?.reason, 'InvalidComponent');
    await eventAbout('misdirected', 'ValidationFailed', /component "gpu"/);
    assert.equal(preparations('misdirected'), before);
  });

  test('a ramdisk of the operator is offered once the network data exists', async () => {
    const spec: PreprovisioningImage['spec'] = {
      acceptFormats: ['iso'],
      architecture: architectureOf(process.arch),
      networkDataName: 'late',
    };
    await testenv.client.create(PreprovisioningImage, { ...named('networked'), spec });
    const object = images.named('networked');
    await object.hasReason('MissingNetworkData');
    assert.equal(object.condition('Ready')?.status, 'False');
    const { metadata } = await testenv.secret('late', { networkData: '{}' });
    const ready = await object.hasCondition('Ready', 'True');
    assert.equal(ready.status?.imageUrl, isoUrl);
    assert.deepEqual(ready.status?.networkData, { name: 'late', version: metadata.resourceVersion });
    assert.equal(object.condition('Error')?.status, 'False');
    await remove(PreprovisioningImage, 'networked');
    await object.isGone();
  });

  test('a ramdisk for another architecture cannot be built', async () => {
    await testenv.client.create(PreprovisioningImage, {
      ...named('foreign'),
      spec: { acceptFormats: ['iso'], architecture: 'ppc64le' },
    });
    const object = images.named('foreign');
    await object.hasCondition('Error', 'True');
    assert.equal(object.condition('Ready')?.reason, 'ConfigurationError');
    assert.match(object.condition('Error')?.message ?? '', /architecture "ppc64le"/);
  });

  test('a subscription is created once with its headers, and removed with its object', async () => {
    await availableHost('watched');
    await testenv.secret('headers', { Authorization: 'Bearer abc\n' });
    const destination = 'https://events.test/in';
    const httpHeadersRef = { name: 'headers', namespace };
    await testenv.client.create(BMCEventSubscription, {
      ...named('alerts'),
      spec: { hostName: 'watched', destination, context: 'c', httpHeadersRef },
    });
    const object = subscriptions.named('alerts');
    const created = await object.until('has an ID', ({ status }) => (status?.subscriptionID ?? '') !== '');
    const inBmc = testenv.backEnd.services.subscriptions;
    assert.deepEqual(inBmc.get(created.status?.subscriptionID ?? ''), {
      destination,
      context: 'c',
      httpHeaders: { Authorization: 'Bearer abc' },
    });
    assert.equal(inBmc.size, 1);
    await remove(BMCEventSubscription, 'alerts');
    await object.isGone();
    assert.equal(inBmc.size, 0);
  });

  test('a subscription says what it lacks', async () => {
    const destination = 'https://events.test/in';
    await testenv.client.create(BMCEventSubscription, {
      ...named('early'),
      spec: { hostName: 'later', destination, httpHeadersRef: { name: 'missing', namespace } },
    });
    const object = subscriptions.named('early');
    await object.until('wants a host', ({ status }) => /"later" does not exist/.test(status?.error ?? ''));
    await availableHost('later');
    await object.until('wants a Secret', ({ status }) => /Secret "missing"/.test(status?.error ?? ''));
    assert.equal(testenv.backEnd.services.subscriptions.size, 0);
    await remove(BMCEventSubscription, 'early');
    await object.isGone();
  });

  test('a deleted DataImage stays until its host has taken it out of the drive', async () => {
    const host = await availableHost('reader');
    await testenv.hosts.patch('reader', { spec: { image } });
    await host.reaches('provisioned');
    await testenv.client.create(DataImage, { ...named('reader'), spec: { url: 'http://images.test/data.iso' } });
    const object = dataImages.named('reader');
    await object.until('is owned', ({ metadata }) => metadata.ownerReferences?.[0]?.uid === host.now?.metadata.uid);
    await restart('reader');
    await object.until('is attached', ({ status }) => status?.attachedImage !== undefined);
    const { services } = testenv.backEnd;
    assert.equal(services.dataImage, 'http://images.test/data.iso');
    await remove(DataImage, 'reader');
    await object.until('is being deleted', ({ metadata }) => metadata.deletionTimestamp !== undefined);
    assert.notEqual(services.dataImage, undefined);
    await restart('reader');
    await object.isGone();
    assert.equal(services.dataImage, undefined);
  });

  test('the DataImage of a paused host is left alone, and one without a host is deleted at once', async () => {
    await availableHost('still');
    await testenv.hosts.patch('still', { metadata: { annotations: { [pausedAnnotation]: '' } } });
    await testenv.client.create(DataImage, { ...named('still'), spec: { url: 'http://images.test/data.iso' } });
    await testenv.client.create(DataImage, { ...named('alone'), spec: { url: 'http://images.test/data.iso' } });
    await dataImages.named('alone').until('is kept', ({ metadata }) => (metadata.finalizers ?? []).length > 0);
    await remove(DataImage, 'alone');
    await dataImages.named('alone').isGone();
    assert.equal(dataImages.named('still').now?.metadata.ownerReferences, undefined);
  });

  test('a DataImage that the back end cannot attach says so, and its host is started without it', async () => {
    const { services } = testenv.backEnd;
    const host = await availableHost('driveless');
    await testenv.hosts.patch('driveless', { spec: { image } });
    await host.reaches('provisioned');
    services.unsupported = new NotSupported('the BMC has no virtual drive');
    await testenv.client.create(DataImage, { ...named('driveless'), spec: { url: 'http://images.test/data.iso' } });
    await restart('driveless');
    const { status } = await dataImages
      .named('driveless')
      .until('says so', ({ status: now }) => now?.error !== undefined);
    assert.equal(status?.error?.message, 'the BMC has no virtual drive');
    services.unsupported = undefined;
  });

  test('a back end that knows no settings makes them invalid instead of pending', async () => {
    const { services } = testenv.backEnd;
    services.unsupported = new NotSupported('the BMC has no BIOS settings');
    await availableHost('plain');
    await firmwareSettings.patch('plain', { spec: { settings: { Turbo: 'Disabled' } } });
    await firmwareSettings.named('plain').hasMessage(/the BMC has no BIOS settings/);
    services.unsupported = undefined;
  });

  async function restart(name: string): Promise<void> {
    await testenv.hosts.patch(name, { metadata: { annotations: { [rebootAnnotation]: '' } } });
    const host = testenv.hosts.named(name);
    await host.until(
      'has restarted',
      ({ metadata, status }) => metadata.annotations?.[rebootAnnotation] === undefined && status?.poweredOn === true,
    );
  }
});
