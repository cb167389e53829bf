import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { BareMetalHost } from '@metal/api/metal3/bare-metal-host.ts';
import { HardwareData } from '@metal/api/metal3/hardware-data.ts';
import {
  hardwareDetailsAnnotation,
  inspectAnnotation,
  pausedAnnotation,
  provisionerAnnotation,
  rebootAnnotation,
  statusAnnotation,
} from '@metal/api/metal3/metal3-contract.ts';
import { type HostTestenv, startHostTestenv } from '@metal/testenv/metal3/host-testenv.ts';

const namespace = 'default';
const image = { url: 'http://images.test/os.raw', checksum: 'abc', format: 'raw' } as const;
const details = {
  cpu: { arch: 'aarch64', count: 4 },
  ramMebibytes: 4_096,
  nics: [{ name: 'eth7', mac: '00:00:5e:00:53:07' }],
  hostname: 'given',
};

suite('Annotations of a BareMetalHost', { concurrency: true }, () => {
  let testenv: HostTestenv;
  before(async () => {
    testenv = await startHostTestenv();
    await testenv.start();
  });
  after(async () => testenv[Symbol.asyncDispose]());

  const annotate = (name: string, key: string, text: string | null) =>
    testenv.hosts.patch(name, { metadata: { annotations: { [key]: text } } });

  /** The controller has seen what happened before. */
  async function hasCaughtUp(name: string): Promise<void> {
    await testenv.host(name);
    await testenv.hosts.named(name).reaches('available');
  }

  test('a paused host is left alone, also when it is deleted', async () => {
    const { hosts, backEnd, client } = testenv;
    await testenv.host('paused');
    const host = hosts.named('paused');
    await host.reaches('available');
    await host.until('is on', ({ status }) => status?.poweredOn === true);
    await annotate('paused', pausedAnnotation, '');
    const before = [...backEnd.machine('paused').started];
    await hosts.patch('paused', { spec: { image } });
    await client.delete(BareMetalHost, { namespace, name: 'paused' });
    const { status } = await host.until('is deleted', ({ metadata }) => metadata.deletionTimestamp !== undefined);
    await hasCaughtUp('after-pause');
    assert.deepEqual(host.now?.status, status);
    assert.deepEqual(backEnd.machine('paused').started, before);
    await annotate('paused', pausedAnnotation, null);
    await host.isGone();
    assert.ok(!backEnd.machine('paused').started.includes('provision'));
  });

  test('a host that was created paused gets nothing', async () => {
    await testenv.host('created-paused', { metadata: { annotations: { [pausedAnnotation]: 'metal3.io/capm3' } } });
    await hasCaughtUp('after-created');
    const { metadata, status } = await testenv.hosts.named('created-paused').exists();
    assert.deepEqual([metadata.finalizers, status], [undefined, undefined]);
  });

  test('a host without a BMC needs no back end', async () => {
    const annotations = { [provisionerAnnotation]: 'ironic' };
    await testenv.host('bare', { spec: { bmc: { address: '', credentialsName: '' } }, metadata: { annotations } });
    await testenv.hosts.named('bare').reaches('unmanaged');
  });

  test('a host that was moved here goes on with the status of its annotation', async () => {
    const { hosts, backEnd, client } = testenv;
    Object.assign(backEnd.machine('moved'), { image: image.url, isOn: true });
    await client.create(HardwareData, { metadata: { name: 'moved', namespace }, spec: { hardware: details } });
    const saved = {
      operationalStatus: 'OK',
      errorMessage: '',
      errorCount: 0,
      poweredOn: true,
      lastUpdated: null,
      goodCredentials: {},
      triedCredentials: {},
      hardwareProfile: 'unknown',
      provisioning: { state: 'provisioned', ID: 'of-the-other-cluster', image, bootMode: 'UEFI' },
    };
    await testenv.host('moved', {
      spec: { image },
      metadata: { annotations: { [statusAnnotation]: JSON.stringify(saved) } },
    });
    const host = hosts.named('moved');
    const restored = await host.until(
      'is registered here',
      ({ status }) => status?.provisioning.ID.startsWith('node-') === true,
    );
    assert.equal(restored.status?.provisioning.state, 'provisioned');
    await host.until('has no annotation', ({ metadata }) => metadata.annotations?.[statusAnnotation] === undefined);
    await host.until('has its hardware', ({ status }) => status?.hardware?.hostname === 'given');
    assert.deepEqual(backEnd.machine('moved').started, ['register']);
  });

  test('a saved status that is not understood stops everything', async () => {
    const text = JSON.stringify({ provisioning: { state: 'provisioned', ID: '', unknownMember: 1 } });
    await testenv.host('misread', { metadata: { annotations: { [statusAnnotation]: text } } });
    const { events, hosts, backEnd } = testenv;
    await events
      .found('event', () =>
        [...events.all()].find(
          ({ reason, regarding }) => reason === 'InvalidAnnotationValue' && regarding.name === 'misread',
        ),
      )
      .exists();
    await hasCaughtUp('after-misread');
    assert.equal(hosts.named('misread').now?.metadata.annotations?.[statusAnnotation], text);
    assert.deepEqual(backEnd.machine('misread').started, []);
    await annotate('misread', statusAnnotation, null);
    await hosts.named('misread').reaches('available');
  });

  test('the hardware of a host that is not inspected comes from the annotation', async () => {
    await testenv.host('given', {
      spec: { inspectionMode: 'disabled', bootMACAddress: details.nics[0]?.mac },
      metadata: { annotations: { [hardwareDetailsAnnotation]: JSON.stringify(details) } },
    });
    const { hosts, backEnd, client } = testenv;
    const available = await hosts.named('given').reaches('available');
    assert.equal(available.status?.hardware?.hostname, 'given');
    assert.equal(available.metadata.annotations?.[hardwareDetailsAnnotation], undefined);
    assert.equal(available.spec.architecture, 'aarch64');
    assert.ok(!backEnd.machine('given').started.includes('inspect'));
    const data = await client.get(HardwareData, { namespace, name: 'given' });
    assert.equal(data.spec.hardware?.hostname, 'given');
  });

  test('the annotation for an inspection inspects an available host again', async () => {
    await testenv.host('again');
    const { hosts, backEnd } = testenv;
    const host = hosts.named('again');
    await host.reaches('available');
    await annotate('again', inspectAnnotation, '');
    await host.until('has no annotation', ({ metadata }) => metadata.annotations?.[inspectAnnotation] === undefined);
    await host.reaches('available');
    const inspections = backEnd.machine('again').started.filter((operation) => operation === 'inspect');
    assert.equal(inspections.length, 2);
  });

  test('the annotation for a restart is removed when the host is off, and the host is on again', async () => {
    await testenv.host('restart', { spec: { image } });
    const host = testenv.hosts.named('restart');
    await host.reaches('provisioned');
    await host.until('is on', ({ status }) => status?.poweredOn === true);
    const { started } = testenv.backEnd.machine('restart');
    const before = started.length;
    await annotate('restart', rebootAnnotation, '');
    await host.until('is off', ({ status }) => status?.poweredOn === false);
    await host.until('has no annotation', ({ metadata }) => metadata.annotations?.[rebootAnnotation] === undefined);
    await host.until('is on', ({ status }) => status?.poweredOn === true);
    assert.deepEqual(started.slice(before), ['powerOff', 'powerOn']);
    assert.equal(host.now?.status?.provisioning.state, 'provisioned');
  });
});
