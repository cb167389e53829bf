import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { BareMetalHost } from '@metal/api/metal3/bare-metal-host.ts';
import { HardwareData } from '@metal/api/metal3/hardware-data.ts';
import { hostFinalizer, pausedAnnotation, statusAnnotation } from '@metal/api/metal3/metal3-contract.ts';
import { Secret } from '@metal/kube/kinds/builtin.ts';
import { type HostTestenv, startHostTestenv } from '@metal/testenv/metal3/host-testenv.ts';
import { Capm3, capm3Pause, type Machine } from '../fixtures/capm3.ts';

const namespace = 'default';

suite('The Cluster API provider of Metal3', { concurrency: true }, () => {
  let testenv: HostTestenv;
  let capm3: Capm3;
  before(async () => {
    testenv = await startHostTestenv();
    capm3 = new Capm3(testenv.client);
    await testenv.start();
    await testenv.secret('bootstrap', { userData: '#cloud-config' });
  });
  after(async () => testenv[Symbol.asyncDispose]());

  const machineFor = (host: string, changes: Partial<Machine> = {}): Machine => ({
    name: `machine-of-${host}`,
    cluster: `cluster-of-${host}`,
    image: { url: 'http://images.test/os.qcow2', checksum: 'abc', checksumType: 'sha256', format: 'qcow2' },
    userData: 'bootstrap',
    hostSelector: { for: host },
    ...changes,
  });

  async function available(name: string) {
    await testenv.host(name, { metadata: { labels: { for: name } } });
    const host = testenv.hosts.named(name);
    await host.reaches('available');
    return host;
  }

  async function provisioned(name: string, changes: Partial<Machine> = {}) {
    const host = await available(name);
    const machine = machineFor(name, changes);
    await capm3.associate(name, machine);
    await host.reaches('provisioned');
    await host.until('is on', ({ status }) => status?.poweredOn === true);
    return { host, machine };
  }

  const released = async (name: string) => {
    const host = testenv.hosts.named(name);
    await capm3.empty(name);
    return host.until(
      'is released',
      (found) => found.status?.provisioning.image === undefined && capm3.isReleased(found),
    );
  };

  test('finds a host only while it is free', async () => {
    testenv.backEnd.acceptOnly('chosen', 'repaired');
    await testenv.host('chosen', { metadata: { labels: { for: 'chosen' } } });
    const host = testenv.hosts.named('chosen');
    await host.until('has failed', ({ status }) => status?.errorType === 'registration error');
    const machine = machineFor('chosen');
    assert.deepEqual(await capm3.candidates(machine), []);
    const data = { password: Buffer.from('repaired').toString('base64') };
    await testenv.client.mergePatch(Secret, { namespace, name: 'chosen-bmc' }, { data });
    await host.reaches('available');
    assert.deepEqual(await capm3.candidates(machine), ['chosen']);
    await capm3.associate('chosen', machine);
    assert.deepEqual(await capm3.candidates(machine), []);
    await host.reaches('provisioned');
    assert.deepEqual(await capm3.nodeAddresses('chosen'), ['192.0.2.10']);
    await capm3.markUnhealthy('chosen');
    await released('chosen');
    await capm3.forget('chosen');
    assert.deepEqual(await capm3.candidates(machine), []);
  });

  test('deploys an image without a format', async () => {
    const { host } = await provisioned('formatless', {
      image: { url: 'http://images.test/os.img', checksum: 'abc', format: '' },
    });
    assert.equal(host.now?.status?.provisioning.image?.url, 'http://images.test/os.img');
  });

  test('labels the Secret of a host without disturbing it', async () => {
    const { host } = await provisioned('labelled');
    const secret = await testenv.client.get(Secret, { namespace, name: 'labelled-bmc' });
    assert.equal(secret.metadata.labels?.['cluster.x-k8s.io/cluster-name'], 'cluster-of-labelled');
    assert.equal(host.now?.status?.goodCredentials?.credentialsVersion, secret.metadata.resourceVersion);
    assert.deepEqual(
      testenv.backEnd.machine('labelled').started.filter((operation) => operation !== 'powerOn'),
      ['register', 'inspect', 'provision'],
    );
  });

  test('releases a host, which is deprovisioned although it shall be off', async () => {
    const { host } = await provisioned('released');
    await released('released');
    await capm3.forget('released');
    const machine = testenv.backEnd.machine('released');
    assert.deepEqual([machine.image, machine.isOn], [undefined, false]);
    await host.reaches('available');
    assert.deepEqual(await capm3.candidates(machineFor('released')), ['released']);
  });

  test('prefers a host that it keeps for the next machine of a cluster', async () => {
    const { machine } = await provisioned('reused', { automatedCleaningMode: 'disabled' });
    await released('reused');
    await capm3.forget('reused', machine.cluster);
    await testenv.hosts.named('reused').reaches('available');
    assert.deepEqual(await capm3.candidates(machine), ['reused']);
    await capm3.associate('reused', { ...machine, name: 'next' });
    await testenv.hosts.named('reused').reaches('provisioned');
  });

  test('remediates a node by a power-off that it ends itself', async () => {
    const { host } = await provisioned('remediated');
    const before = testenv.backEnd.machine('remediated').started.length;
    const remediation = await capm3.startRemediation('remediated', '1');
    await host.until('is off', ({ status }) => status?.poweredOn === false);
    await remediation.end();
    await host.until('is on', ({ status }) => status?.poweredOn === true);
    assert.deepEqual(testenv.backEnd.machine('remediated').started.slice(before), ['powerOff', 'powerOn']);
  });

  test('pauses a host with its status, and the host goes on where it was', async () => {
    const { host } = await provisioned('paused');
    const { started } = testenv.backEnd.machine('paused');
    const before = started.length;
    await capm3.pause('paused');
    await capm3.unpause('paused');
    const after = await host.until(
      'has no annotation',
      ({ metadata }) =>
        metadata.annotations?.[statusAnnotation] === undefined &&
        metadata.annotations?.[pausedAnnotation] === undefined,
    );
    assert.equal(after.status?.provisioning.state, 'provisioned');
    assert.deepEqual(started.slice(before), []);
  });

  test('moves a provisioned host to another management cluster', async () => {
    const { client, backEnd, hosts } = testenv;
    const { host } = await provisioned('moving');
    await capm3.pause('moving');
    const ref = { namespace, name: 'moving' };
    const { metadata, spec, status } = await client.get(BareMetalHost, ref);
    assert.equal(metadata.annotations?.[pausedAnnotation], capm3Pause);
    const hardware = await client.get(HardwareData, ref);
    // As clusterctl: the finalizer is removed, the object is created without its status in the other cluster.
    await client.mergePatch(BareMetalHost, ref, { metadata: { finalizers: null } });
    await client.delete(BareMetalHost, ref);
    await host.isGone();
    await client.mergePatch(HardwareData, ref, { metadata: { finalizers: null } });
    await client.delete(HardwareData, ref).catch(() => undefined);
    Object.assign(backEnd.machine('moving'), { nodeId: undefined });
    const before = backEnd.machine('moving').started.length;

    await client.create(HardwareData, { metadata: { name: 'moving', namespace }, spec: hardware.spec });
    const { labels, annotations } = metadata;
    await client.create(BareMetalHost, {
      metadata: { name: 'moving', namespace, labels, annotations, finalizers: [hostFinalizer] },
      spec,
    });
    await capm3.unpause('moving');
    const moved = await hosts
      .named('moving')
      .until(
        'is registered again',
        (found) =>
          found.status?.provisioning.ID === backEnd.machine('moving').nodeId &&
          found.metadata.annotations?.[statusAnnotation] === undefined &&
          found.status?.hardware !== undefined,
      );
    assert.equal(moved.status?.provisioning.state, 'provisioned');
    assert.deepEqual(moved.status?.provisioning.image, status?.provisioning.image);
    assert.deepEqual(backEnd.machine('moving').started.slice(before), ['register']);
    assert.deepEqual(await capm3.nodeAddresses('moving'), ['192.0.2.10']);
  });
});
