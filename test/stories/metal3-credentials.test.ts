import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import {
  environmentLabel,
  environmentLabelValue,
  hostFinalizer,
  secretFinalizer,
} from '@metal/api/metal3/metal3-contract.ts';
import { BareMetalHost } from '@metal/api/metal3/bare-metal-host.ts';
import { minutes } from '@metal/kube/runtime/durations.ts';
import { Secret } from '@metal/kube/kinds/builtin.ts';
import { type HostTestenv, startHostTestenv } from '@metal/testenv/metal3/host-testenv.ts';

const namespace = 'default';
const base64 = (text: string): string => Buffer.from(text).toString('base64');

suite('The Secret of the BMC of a BareMetalHost', { concurrency: true }, () => {
  let testenv: HostTestenv;
  before(async () => {
    testenv = await startHostTestenv();
    await testenv.start();
  });
  after(async () => testenv[Symbol.asyncDispose]());

  const change = (name: string, texts: Readonly<Record<string, string>>) => {
    const data = Object.fromEntries(Object.entries(texts).map(([key, text]) => [key, base64(text)]));
    return testenv.client.mergePatch(Secret, { namespace, name: `${name}-bmc` }, { data });
  };

  test('a rejected password is an error until the Secret has another one', async () => {
    const { hosts, backEnd } = testenv;
    backEnd.acceptOnly('rejected', 'changed');
    await testenv.host('rejected');
    const host = hosts.named('rejected');
    const failing = await host.until('has failed', ({ status }) => status?.errorType === 'registration error');
    assert.match(failing.status?.errorMessage ?? '', /rejects the login/);
    assert.equal(failing.status?.operationalStatus, 'error');
    assert.equal(failing.status?.goodCredentials, undefined);
    await change('rejected', { password: 'changed' });
    const repaired = await host.reaches('available');
    assert.equal(repaired.status?.errorMessage, '');
    assert.equal(repaired.status?.goodCredentials?.credentials?.name, 'rejected-bmc');
    await testenv.hasEvents('rejected', 'RegistrationError');
  });

  test('an incomplete Secret is used as soon as it is complete', async () => {
    const { client, clock, hosts } = testenv;
    await testenv.secret('incomplete-bmc', { username: 'root' });
    const bmc = { address: 'redfish://192.0.2.1/redfish/v1/Systems/1', credentialsName: 'incomplete-bmc' };
    await client.create(BareMetalHost, {
      metadata: { name: 'incomplete', namespace },
      spec: { online: true, automatedCleaningMode: 'metadata', bmc },
    });
    const host = hosts.named('incomplete');
    const failing = await host.until('has failed', ({ status }) => status?.errorType === 'registration error');
    assert.match(failing.status?.errorMessage ?? '', /no password/);
    const changedAt = clock.now();
    await change('incomplete', { password: ' good\n' });
    await host.until('has no error', ({ status }) => status?.errorMessage === '');
    // Without the watch it would be read again after ten minutes.
    assert.ok(clock.now() - changedAt < minutes(10));
  });

  test('a Secret that does not exist is awaited', async () => {
    const { client, events, hosts } = testenv;
    const bmc = { address: 'redfish://192.0.2.1/redfish/v1/Systems/1', credentialsName: 'late-bmc' };
    await client.create(BareMetalHost, {
      metadata: { name: 'late', namespace },
      spec: { online: true, automatedCleaningMode: 'metadata', bmc },
    });
    const failing = await hosts
      .named('late')
      .until('has failed', ({ status }) => status?.errorType === 'registration error');
    assert.match(failing.status?.errorMessage ?? '', /Secret late-bmc does not exist/);
    await events
      .found('event', () =>
        [...events.all()].find(({ reason, regarding }) => reason === 'BMCCredentialError' && regarding.name === 'late'),
      )
      .exists();
    await testenv.secret('late-bmc', { username: 'root', password: 'good' });
    await hosts.named('late').reaches('available');
  });

  test('another label on the Secret verifies the login again and changes nothing else', async () => {
    const { backEnd, client, hosts } = testenv;
    const host = hosts.named('relabelled');
    await testenv.host('relabelled');
    await host.reaches('available');
    await host.until('is on', ({ status }) => status?.poweredOn === true);
    const started = [...backEnd.machine('relabelled').started];
    const { metadata } = await client.mergePatch(
      Secret,
      { namespace, name: 'relabelled-bmc' },
      { metadata: { labels: { 'cluster.x-k8s.io/cluster-name': 'one' } } },
    );
    const verified = await host.until(
      'uses the new version',
      ({ status }) => status?.goodCredentials?.credentialsVersion === metadata.resourceVersion,
    );
    assert.equal(verified.status?.provisioning.state, 'available');
    assert.equal(verified.status?.errorMessage, '');
    assert.deepEqual(backEnd.machine('relabelled').started, started);
  });

  test('the Secret is labelled, owned and kept until the host is gone', async () => {
    const { client, hosts } = testenv;
    const host = hosts.named('claims');
    const { metadata } = await testenv.host('claims');
    await host.reaches('available');
    const secret = await client.get(Secret, { namespace, name: 'claims-bmc' });
    assert.equal(secret.metadata.labels?.[environmentLabel], environmentLabelValue);
    assert.deepEqual(secret.metadata.finalizers, [secretFinalizer]);
    const [owner, ...others] = secret.metadata.ownerReferences ?? [];
    assert.deepEqual(
      [owner?.uid, owner?.kind, owner?.controller, others],
      [metadata.uid, 'BareMetalHost', undefined, []],
    );
    assert.deepEqual(host.now?.metadata.finalizers, [hostFinalizer]);

    await client.delete(BareMetalHost, { namespace, name: 'claims' });
    await host.isGone();
    const released = await client.find(Secret, { namespace, name: 'claims-bmc' });
    assert.deepEqual(released?.metadata.finalizers ?? [], []);
  });

  test('a Secret that is deleted stays until the host is gone', async () => {
    const { client, hosts } = testenv;
    const host = hosts.named('kept');
    await testenv.host('kept');
    await host.reaches('available');
    await client.delete(Secret, { namespace, name: 'kept-bmc' });
    await client.delete(BareMetalHost, { namespace, name: 'kept' });
    await host.isGone();
    assert.equal(await client.find(Secret, { namespace, name: 'kept-bmc' }), undefined);
    assert.ok(testenv.backEnd.machine('kept').started.includes('delete'));
  });

  test('user data that do not exist yet are awaited, and the host reports it', async () => {
    const image = { url: 'http://images.test/os.raw', checksum: 'abc', format: 'raw' } as const;
    await testenv.host('awaits', { spec: { image, userData: { name: 'late-data' } } });
    const host = testenv.hosts.named('awaits');
    const { status } = await host.hasMessage(/the Secret late-data with the userData of the host does not exist/);
    assert.deepEqual([status?.provisioning.state, status?.errorMessage], ['provisioning', '']);
    await testenv.secret('late-data', { userData: 'text' });
    const provisioned = await host.reaches('provisioned');
    assert.deepEqual(provisioned.status?.provisioningFailCount, 0);
  });

  test('a registry login that is not understood has an event of its own', async () => {
    await testenv.secret('login', { other: 'text' });
    const image = { url: 'oci://registry.test/os:1', ociAuthSecretName: 'login' };
    await testenv.host('registry', { spec: { image } });
    const host = testenv.hosts.named('registry');
    await host.until('has failed', ({ status }) => status?.errorType === 'provisioning error');
    await testenv.hasEvents('registry', 'ImageAuthFormatUnsupported');
  });
});
