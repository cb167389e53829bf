import assert from 'node:assert/strict';
import { test } from 'node:test';
import { leaderElectionLeaseName } from '@metal/api/wire/contract.ts';
import { Lease } from '@metal/kube/builtin.ts';
import { labsOfFile } from '@metal/lab/lab.ts';

const openLab = labsOfFile();

/** Long enough for a machine with other work to do, at ten times its speed. */
const leases = ['--leader-elect', '--leader-election-lease-duration=150s', '--leader-election-renew-deadline=100s'];
const looksOften = ['--bmc-resync-interval=2s', '--server-resync-interval=1s', '--bmc-call-timeout=10m'];

for (const [what, flags] of [
  ['that leads', []],
  ['that shares with others', ['--shards=auto']],
] as const) {
  test(`a replica ${what} and waits for a BMC gives back its lease when it is stopped, and blames nobody`, async () => {
    await using lab = await openLab({ operator: 'none', flags: [...leases, ...looksOften, ...flags] });
    const first = await lab.startOperator('first');
    const nodes = await lab.rack({ generic: 2 });
    await lab.plugIn(...nodes);
    for (const node of nodes) await lab.server(node).says('Available');
    const held = nodes.map(({ bmc }) => {
      const arrived = Promise.withResolvers<void>();
      bmc.hang();
      bmc.traffic.onRequest((moment) => moment === 'arrived' && arrived.resolve());
      return arrived.promise;
    });
    await Promise.all(held);
    await first[Symbol.asyncDispose]();
    const lease = await lab.client.get(Lease, { namespace: 'default', name: leaderElectionLeaseName });
    assert.equal(lease.spec?.holderIdentity, '', 'the next one need not wait');
    for (const node of nodes) {
      const conditions = lab.bmc(node).now?.status?.conditions ?? [];
      assert.equal(conditions.find(({ type }) => type === 'Ready')?.reason, 'Connected');
      await node.bmc.heal();
    }
    await lab.startOperator('second');
    const claim = await lab.claim({ image: 'registry.test/os:1' });
    await claim.reaches('Bound');
  });
}
