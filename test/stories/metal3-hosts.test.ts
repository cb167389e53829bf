import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { BareMetalHost } from '@metal/api/metal3/bare-metal-host.ts';
import { type HostTestenv, startHostTestenv } from '@metal/testenv/metal3/host-testenv.ts';

const image = { url: 'http://images.test/os.raw', checksum: 'abc', format: 'raw' } as const;

suite('BareMetalHosts on a back end in memory', () => {
  let testenv: HostTestenv;
  before(async () => {
    testenv = await startHostTestenv();
    await testenv.start();
  });
  after(async () => testenv[Symbol.asyncDispose]());

  test('a host is registered, inspected, prepared, provisioned, deprovisioned and deleted', async () => {
    const { hosts, backEnd, client } = testenv;
    const host = hosts.named('life');
    await testenv.host('life');
    const available = await host.reaches('available');
    assert.equal(available.status?.hardware?.hostname, 'fixture');
    assert.equal(available.status?.provisioning.ID, 'node-1');
    await host.until('has the architecture', ({ spec }) => spec.architecture === 'x86_64');

    await hosts.patch('life', { spec: { image } });
    const provisioned = await host.reaches('provisioned');
    assert.equal(provisioned.status?.provisioning.image?.url, image.url);
    assert.equal(backEnd.machine('life').image, image.url);
    await host.until('is on', ({ status }) => status?.poweredOn === true);

    await hosts.patch('life', { spec: { image: null, online: false } });
    await host.reaches('available');
    assert.equal(backEnd.machine('life').image, undefined);

    await client.delete(BareMetalHost, { name: 'life', namespace: 'default' });
    await host.isGone();
    assert.equal(backEnd.machine('life').nodeId, undefined);
    assert.deepEqual(backEnd.machine('life').started, [
      'register',
      'inspect',
      'powerOn',
      'provision',
      'deprovision',
      'delete',
    ]);
  });
});
