import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { BareMetalHost } from '@metal/api/metal3/bare-metal-host.ts';
import { HardwareData } from '@metal/api/metal3/hardware-data.ts';
import { detachedAnnotation, hardwareDataFinalizer } from '@metal/api/metal3/metal3-contract.ts';
import { Secret } from '@metal/kube/kinds/builtin.ts';
import { type HostTestenv, startHostTestenv } from '@metal/testenv/metal3/host-testenv.ts';

const namespace = 'default';
const image = { url: 'http://images.test/os.raw', checksum: 'abc', format: 'raw' } as const;

suite('Detachment and deletion of a BareMetalHost', { concurrency: true }, () => {
  let testenv: HostTestenv;
  before(async () => {
    testenv = await startHostTestenv();
    await testenv.start();
  });
  after(async () => testenv[Symbol.asyncDispose]());

  const remove = (name: string) => testenv.client.delete(BareMetalHost, { namespace, name });
  const annotate = (name: string, text: string | null) =>
    testenv.hosts.patch(name, { metadata: { annotations: { [detachedAnnotation]: text } } });

  /** The counter of a host. */
  async function counted(metric: string, host: string): Promise<number> {
    const { values = [] } = (await testenv.metrics.getSingleMetric(metric)?.get()) ?? {};
    return values.find(({ labels }) => labels.host === host)?.value ?? 0;
  }

  async function running(name: string, spec: Partial<BareMetalHost['spec']> = {}, state = 'provisioned') {
    await testenv.host(name, { spec: { image, ...spec } });
    const host = testenv.hosts.named(name);
    await host.reaches(state);
    await host.until('is on', ({ status }) => status?.poweredOn === true);
    const machine = testenv.backEnd.machine(name);
    const before = machine.started.length;
    return { host, machine, since: () => machine.started.slice(before) };
  }

  test('a detached host is forgotten by the back end, and is taken back as it is', async () => {
    const { host, machine, since } = await running('detached');
    await annotate('detached', '');
    await host.until('is detached', ({ status }) => status?.operationalStatus === 'detached');
    assert.equal(machine.nodeId, undefined);
    assert.deepEqual(
      [machine.isOn, machine.image, host.now?.status?.provisioning.state],
      [true, image.url, 'provisioned'],
    );
    await annotate('detached', null);
    await host.until(
      'is managed again',
      ({ status }) => status?.operationalStatus === 'OK' && status.provisioning.ID === machine.nodeId,
    );
    assert.deepEqual(since(), ['detach', 'register']);
  });

  test('a detached host is deleted without touching the machine', async () => {
    const { host, machine, since } = await running('gone');
    await annotate('gone', '');
    await host.until('is detached', ({ status }) => status?.operationalStatus === 'detached');
    await remove('gone');
    await host.isGone();
    assert.deepEqual(since(), ['detach']);
    assert.deepEqual([machine.isOn, machine.image], [true, image.url]);
  });

  test('a deletion may wait until a detached host is taken back', async () => {
    const { host, since } = await running('delayed');
    await annotate('delayed', JSON.stringify({ deleteAction: 'delay' }));
    await host.until('is detached', ({ status }) => status?.operationalStatus === 'detached');
    const called = testenv.backEnd.untilCalled('delayed', 'provisionerOf');
    await remove('delayed');
    await called;
    assert.deepEqual(since(), ['detach']);
    await annotate('delayed', null);
    await host.isGone();
    assert.deepEqual(since(), ['detach', 'register', 'deprovision', 'delete']);
    assert.ok((await counted('metal3_delete_delayed_for_detached_total', 'delayed')) > 0);
  });

  test('an externally provisioned host is adopted, and powered off before it is deleted', async () => {
    testenv.backEnd.machine('external').isOn = true;
    const { host, machine } = await running('external', { externallyProvisioned: true }, 'externally provisioned');
    assert.deepEqual(machine.started, ['register']);
    await remove('external');
    await host.isGone();
    assert.deepEqual(machine.started, ['register', 'powerOff', 'delete']);
  });

  test('a host that may not be powered off is deleted while it is on', async () => {
    const spec = { externallyProvisioned: true, disablePowerOff: true };
    const { host, machine } = await running('never-off', spec, 'externally provisioned');
    await remove('never-off');
    await host.isGone();
    assert.deepEqual([machine.isOn, machine.nodeId], [true, undefined]);
  });

  test('a deployment that is deleted while it goes on is undone', async () => {
    testenv.backEnd.fail('early', 'provision', { error: new Error('no connection') });
    await testenv.host('early', { spec: { image } });
    const host = testenv.hosts.named('early');
    await host.reaches('provisioning');
    testenv.backEnd.repair('early', 'provision');
    await remove('early');
    await host.isGone();
    const { image: left, isErased, nodeId } = testenv.backEnd.machine('early');
    assert.deepEqual([left, isErased, nodeId], [undefined, true, undefined]);
  });

  test('a host whose Secret is gone is deprovisioned and deleted', async () => {
    const { host, machine } = await running('no-secret');
    const secret = { namespace, name: 'no-secret-bmc' };
    await testenv.client.mergePatch(Secret, secret, { metadata: { finalizers: null } });
    await testenv.client.delete(Secret, secret);
    await remove('no-secret');
    await host.isGone();
    assert.equal(machine.nodeId, undefined);
    assert.ok(machine.started.includes('deprovision'));
  });

  test('a host that was never registered is deleted', async () => {
    testenv.backEnd.acceptOnly('unknown', 'another');
    await testenv.host('unknown');
    const host = testenv.hosts.named('unknown');
    await host.until('has failed', ({ status }) => status?.errorType === 'registration error');
    await remove('unknown');
    await host.isGone();
    assert.deepEqual(testenv.backEnd.machine('unknown').started, []);
  });

  test('a deletion goes on after more than three failures of the deprovisioning', async () => {
    const { host, machine } = await running('stuck');
    testenv.backEnd.fail('stuck', 'deprovision', { failure: 'the disk is gone' });
    await remove('stuck');
    const failing = await host.until('has failed three times', ({ status }) => status?.errorCount === 3);
    assert.deepEqual(
      [failing.status?.errorType, failing.status?.errorMessage],
      ['provisioning error', 'the disk is gone'],
    );
    await host.isGone();
    assert.equal(machine.nodeId, undefined);
    assert.equal(await counted('metal3_delete_without_deprovisioning_total', 'stuck'), 1);
  });

  test('HardwareData is owned by its host and kept until the host is deleted', async () => {
    const { host } = await running('described');
    const data = await testenv.client.get(HardwareData, { namespace, name: 'described' });
    assert.deepEqual(data.metadata.finalizers, [hardwareDataFinalizer]);
    const [owner] = data.metadata.ownerReferences ?? [];
    assert.deepEqual([owner?.uid, owner?.controller], [host.now?.metadata.uid, true]);
    assert.equal(host.now?.spec.architecture, 'x86_64');
    await remove('described');
    await host.isGone();
    const kept = await testenv.client.find(HardwareData, { namespace, name: 'described' });
    assert.deepEqual(kept?.metadata.finalizers ?? [], []);
  });
});
