import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { metal3LeaseName } from '@metal/api/metal3/metal3-contract.ts';
import { Lease } from '@metal/kube/kinds/builtin.ts';
import { minutes, seconds } from '@metal/kube/runtime/durations.ts';
import { type HostTestenv, startHostTestenv } from '@metal/testenv/metal3/host-testenv.ts';

const namespace = 'default';
const image = { url: 'http://images.test/os.raw', checksum: 'abc', format: 'raw' } as const;

suite('Two replicas with the lease of Metal3', () => {
  let testenv: HostTestenv;
  before(async () => {
    testenv = await startHostTestenv({ speed: 20 });
  });
  after(async () => testenv[Symbol.asyncDispose]());

  const replica = (identity: string) =>
    testenv.start(
      {},
      {
        // The clock is fast: the lease lasts nine seconds of the wall clock.
        leaderElection: {
          namespace,
          identity,
          leaseMs: minutes(3),
          renewMs: minutes(2),
          retryMs: seconds(10),
        },
      },
    );

  async function holder(): Promise<string | undefined> {
    const { spec } = await testenv.client.get(Lease, { namespace, name: metal3LeaseName });
    return spec?.holderIdentity;
  }

  test('one of them works, and the other goes on when the first one stops', async () => {
    const { backEnd, hosts } = testenv;
    const first = await replica('first');
    await testenv.host('led');
    const host = hosts.named('led');
    await host.reaches('inspecting');
    await replica('second');
    await host.reaches('available');
    assert.equal(await holder(), 'first');

    await hosts.patch('led', { spec: { image } });
    await host.reaches('provisioning');
    await first[Symbol.asyncDispose]();
    await host.reaches('provisioned');
    assert.equal(await holder(), 'second');
    const deployments = backEnd.machine('led').started.filter((operation) => operation === 'provision');
    assert.equal(deployments.length, 1);
  });
});
