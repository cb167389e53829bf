import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { BMCEventSubscription } from '@metal/api/metal3/bmc-event-subscription.ts';
import { rebootAnnotation } from '@metal/api/metal3/metal3-contract.ts';
import { type HostTestenv, startHostTestenv, withoutAdmission } from '@metal/testenv/metal3/host-testenv.ts';

const namespace = 'default';
const image = { url: 'http://images.test/os.raw', checksum: 'abc', format: 'raw' } as const;

suite('BareMetalHosts in a cluster without the admission rules', { concurrency: true }, () => {
  let testenv: HostTestenv;
  before(async () => {
    testenv = await startHostTestenv({ open: withoutAdmission });
    await testenv.start();
  });
  after(async () => testenv[Symbol.asyncDispose]());

  test('a request for a restart that is not understood restarts softly and is reported', async () => {
    await testenv.host('unclear', { spec: { image } });
    const host = testenv.hosts.named('unclear');
    await host.reaches('provisioned');
    await host.until('is on', ({ status }) => status?.poweredOn === true);
    await testenv.hosts.patch('unclear', { metadata: { annotations: { [rebootAnnotation]: '{"mode":' } } });
    await host.until('is off', ({ status }) => status?.poweredOn === false);
    await host.until('is on', ({ status }) => status?.poweredOn === true);
    await testenv.hasEvents('unclear', 'InvalidAnnotationValue');
  });

  test('user data of another namespace is refused', async () => {
    const { backEnd, hosts } = testenv;
    const host = hosts.named('foreign');
    await testenv.secret('foreign-data', { userData: 'secret of others' }, 'kube-system');
    const image = { url: 'http://images.test/os.raw', checksum: 'abc', format: 'raw' } as const;
    await testenv.host('foreign', { spec: { image, userData: { name: 'foreign-data', namespace: 'kube-system' } } });
    const failing = await host.until('has failed', ({ status }) => status?.errorType === 'provisioning error');
    assert.match(failing.status?.errorMessage ?? '', /spec.userData names a Secret in the namespace kube-system/);
    assert.ok(!backEnd.machine('foreign').started.includes('provision'));
    const counter = await testenv.metrics.getSingleMetric('metal3_host_config_data_error_total')?.get();
    assert.ok(counter?.values.some(({ labels, value }) => labels.host_data_type === 'userData' && value > 0));
    await testenv.secret('own-data', { userData: 'own' });
    await hosts.patch('foreign', { spec: { userData: { name: 'own-data', namespace } } });
    await host.reaches('provisioned');
  });

  test('headers of a subscription in another namespace are refused', async () => {
    await testenv.host('watched');
    await testenv.hosts.named('watched').reaches('available');
    const httpHeadersRef = { name: 'headers', namespace: 'other' };
    await testenv.client.create(BMCEventSubscription, {
      metadata: { name: 'nosy', namespace },
      spec: { hostName: 'watched', destination: 'https://events.test/in', httpHeadersRef },
    });
    const subscriptions = testenv.objects(BMCEventSubscription, testenv.caches.eventSubscriptions);
    await subscriptions
      .named('nosy')
      .until('needs another Secret', ({ status }) => /namespace "other"/.test(status?.error ?? ''));
    assert.equal(testenv.backEnd.services.subscriptions.size, 0);
  });
});
