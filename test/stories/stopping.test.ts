import assert from 'node:assert/strict';
import { test } from 'node:test';
import { leaderElectionLeaseName } from '@metal/api/wire/contract.ts';
import { Lease } from '@metal/kube/kinds/builtin.ts';
import { testenvsOfFile } from '@metal/testenv/testenv.ts';

const startTestenv = testenvsOfFile();

/** Long enough for a busy machine, at ten times its speed. */
const leases = ['--leader-elect', '--leader-election-lease-duration=150s', '--leader-election-renew-deadline=100s'];
const frequentPolling = ['--bmc-resync-interval=2s', '--server-resync-interval=1s', '--bmc-call-timeout=10m'];

for (const [title, flags] of [
  ['that leads', []],
  ['of a sharded fleet', ['--shards=auto']],
] as const) {
  test(`a replica ${title} that waits for a BMC releases its lease when stopped, and reports no BMC failure`, async () => {
    await using testenv = await startTestenv({ operator: 'none', flags: [...leases, ...frequentPolling, ...flags] });
    const first = await testenv.startOperator('first');
    const nodes = await testenv.addNodes({ generic: 2 });
    await testenv.plugIn(...nodes);
    for (const node of nodes) await testenv.server(node).hasReason('Available');
    const held = nodes.map(({ bmc }) => {
      const arrived = Promise.withResolvers<void>();
      bmc.hang();
      bmc.traffic.onRequest((event) => event === 'arrived' && arrived.resolve());
      return arrived.promise;
    });
    await Promise.all(held);
    await first[Symbol.asyncDispose]();
    const lease = await testenv.client.get(Lease, { namespace: 'default', name: leaderElectionLeaseName });
    assert.equal(lease.spec?.holderIdentity, '', 'the next leader need not wait');
    for (const node of nodes) {
      const conditions = testenv.bmc(node).now?.status?.conditions ?? [];
      assert.equal(conditions.find(({ type }) => type === 'Ready')?.reason, 'Connected');
      await node.bmc.heal();
    }
    await testenv.startOperator('second');
    const claim = await testenv.claim({ image: 'registry.test/os:1' });
    await claim.reaches('Bound');
  });
}
