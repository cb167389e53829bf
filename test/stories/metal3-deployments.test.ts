import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { BareMetalHost } from '@metal/api/metal3/bare-metal-host.ts';
import { hostEventController } from '@metal/api/metal3/metal3-contract.ts';
import { BackEndNotReady } from '@metal/metal3/provisioner/back-end.ts';
import { type HostTestenv, startHostTestenv } from '@metal/testenv/metal3/host-testenv.ts';

const namespace = 'default';
const image = { url: 'http://images.test/os.raw', checksum: 'abc', format: 'raw' } as const;
const isOn = ({ status }: BareMetalHost): boolean => status?.poweredOn === true;

suite('Deployments of a BareMetalHost', () => {
  let testenv: HostTestenv;
  before(async () => {
    testenv = await startHostTestenv();
    await testenv.start();
  });
  after(async () => testenv[Symbol.asyncDispose]());

  async function available(name: string, spec: Partial<BareMetalHost['spec']> = {}) {
    await testenv.host(name, { spec });
    const host = testenv.hosts.named(name);
    await host.reaches('available');
    return host;
  }

  test('an error that may pass leaves the status alone', async () => {
    const { backEnd } = testenv;
    const host = await available('transient');
    await host.until('is on', isOn);
    const before = host.now?.status;
    backEnd.fail('transient', 'register', { error: new Error('no connection') });
    for (let pass = 0; pass < 3; pass += 1) await backEnd.untilCalled('transient', 'register');
    assert.deepEqual(host.now?.status, before);
    backEnd.repair('transient', 'register');
    await testenv.hosts.patch('transient', { spec: { image } });
    await host.reaches('provisioned');
  });

  test('a back end that is not ready leaves the status alone', async () => {
    const { backEnd } = testenv;
    const host = await available('not-ready');
    await host.until('is on', isOn);
    const before = host.now?.status;
    backEnd.notReady = new BackEndNotReady('it starts');
    await testenv.hosts.patch('not-ready', { spec: { image } });
    for (let pass = 0; pass < 2; pass += 1) await backEnd.untilCalled('not-ready', 'provisionerOf');
    assert.deepEqual(host.now?.status, before);
    await testenv.hasEvents('not-ready', 'BackEndNotReady');
    backEnd.notReady = undefined;
    await host.reaches('provisioned');
  });

  test('an image is tried five times, and again when it is edited', async () => {
    const { backEnd, hosts } = testenv;
    backEnd.fail('limited', 'provision', { failure: 'the checksum differs' });
    const host = await available('limited', { image });
    const failing = await host.until('has given up', ({ status }) =>
      (status?.errorMessage ?? '').includes('could not be deployed in 5 attempts'),
    );
    assert.deepEqual(
      [failing.status?.provisioning.state, failing.status?.provisioningFailCount, failing.status?.errorType],
      ['available', 5, 'provisioning error'],
    );
    backEnd.repair('limited', 'provision');
    await hosts.patch('limited', { spec: { image: { checksum: 'def' } } });
    const provisioned = await host.reaches('provisioned');
    assert.deepEqual([provisioned.status?.provisioningFailCount, provisioned.status?.errorMessage], [0, '']);
    assert.equal(backEnd.machine('limited').started.filter((operation) => operation === 'provision').length, 1);
  });

  test('another URL of the image is another deployment, another checksum is not', async () => {
    const { backEnd, hosts } = testenv;
    const host = await available('replaced', { image });
    await host.reaches('provisioned');
    await hosts.patch('replaced', { spec: { image: { checksum: 'other' } } });
    await backEnd.untilCalled('replaced', 'register');
    await hosts.patch('replaced', { spec: { image: { url: 'http://images.test/next.raw' } } });
    await host.until(
      'has the next image',
      ({ status }) => status?.provisioning.image?.url.endsWith('next.raw') === true,
    );
    assert.deepEqual(
      backEnd.machine('replaced').started.filter((operation) => operation.endsWith('provision')),
      ['provision', 'deprovision', 'provision'],
    );
  });

  test('a host waits while the back end is busy with others', async () => {
    const { backEnd } = testenv;
    const host = await available('crowded');
    await host.until('is on', isOn);
    backEnd.capacity = 0;
    await testenv.hosts.patch('crowded', { spec: { image } });
    const delayed = await host.until('is delayed', ({ status }) => status?.operationalStatus === 'delayed');
    assert.deepEqual([delayed.status?.provisioning.state, delayed.status?.errorMessage], ['available', '']);
    backEnd.capacity = undefined;
    const provisioned = await host.reaches('provisioned');
    assert.equal(provisioned.status?.operationalStatus, 'OK');
  });

  test('the life of a host is told by events in the words of Metal3', async () => {
    const { events, hosts, client } = testenv;
    const consumerRef = { apiVersion: 'example.test/v1', kind: 'User', name: 'u', namespace };
    const host = await available('reported', { image, consumerRef });
    await host.reaches('provisioned');
    await hosts.patch('reported', { spec: { image: null } });
    await host.reaches('available');
    await client.delete(BareMetalHost, { namespace, name: 'reported' });
    await host.isGone();
    await testenv.hasEvents(
      'reported',
      'BMCAccessValidated',
      'ProfileSet',
      'Registered',
      'InspectionStarted',
      'InspectionComplete',
      'ProvisioningStarted',
      'ProvisioningComplete',
      'DeprovisioningStarted',
      'DeprovisioningComplete',
    );
    const controllers = [...events.all()].filter(({ regarding }) => regarding.name === 'reported');
    const contract = controllers.filter(({ reportingController }) => reportingController === hostEventController);
    assert.ok(contract.length > 0 && contract.every(({ related }) => related?.name === 'u'));
  });
});
