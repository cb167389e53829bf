import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { Server } from '@metal/api/v1alpha1/server.ts';
import { ServerClaim } from '@metal/api/v1alpha1/server-claim.ts';
import { seconds } from '@metal/kube/runtime/durations.ts';
import { startTestenv } from '@metal/testenv/testenv.ts';
import { untilChanged } from '@metal/testenv/cluster/watched-object.ts';

const atOnce = 10;
/** A slot is released after this time at the latest: packages/kube/src/runtime/in-flight-limiter.ts. */
const countsForMs = seconds(30);
const count = atOnce + 4;

test('simultaneous claims are admitted up to the limit, the oldest first, and the others without a condition', async () => {
  await using testenv = await startTestenv({ operator: 'none', maxInFlight: atOnce });
  const names = Array.from({ length: count }, (_, index) => `many-${String(index).padStart(3, '0')}`);
  // The Server controller does nothing to them: they are bound, and then hold their slot until its timeout.
  const annotations = { 'metal.ironcore.dev/operation': 'ignore' };
  for (const name of names) {
    const spec = { systemUUID: randomUUID(), bmcRef: { name: 'missing' } };
    await testenv.client.create(Server, { metadata: { name, annotations }, spec });
    const status = { state: 'Available', powerState: 'Off' };
    await testenv.client.mergePatch(Server, { name }, { status }, { subresource: 'status' });
    const metadata = { name, namespace: 'default' };
    await testenv.client.create(ServerClaim, { metadata, spec: { power: 'On', image: 'registry.test/os:1' } });
  }
  const reportedReasons = new Set<string>();
  const held = new Map<string, number>();
  using _servers = testenv.servers.onChange(({ after }) => {
    const claim = after?.spec.serverClaimRef?.name;
    if (claim !== undefined && !held.has(claim)) held.set(claim, testenv.clock.now());
  });
  using _claims = testenv.claims.onChange(({ after }) => {
    for (const { reason } of after?.status?.conditions ?? []) reportedReasons.add(reason);
  });

  const startedAt = testenv.clock.now();
  await testenv.startOperator();
  const follow = (check: () => void) => testenv.servers.onChange(check);
  await untilChanged('the claims', 'all have a server', () => held.size === count, follow, testenv.timeline);
  const early = [...held].filter(([, at]) => at < startedAt + countsForMs).map(([name]) => name);
  assert.deepEqual(early.toSorted(), early.filter((name) => names.indexOf(name) < atOnce).toSorted());
  assert.ok(
    !reportedReasons.has('OthersFirst') && !reportedReasons.has('NoServerMatches'),
    [...reportedReasons].join(', '),
  );
});
