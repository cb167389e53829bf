import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { Server } from '@metal/api/v1alpha1/server.ts';
import { ServerClaim } from '@metal/api/v1alpha1/server-claim.ts';
import { seconds } from '@metal/kube/runtime/durations.ts';
import { startTestenv } from '@metal/testenv/testenv.ts';
import { untilChanged } from '@metal/testenv/watched-object.ts';

const atOnce = 10;
/** Each counts for so long at most: packages/kube/src/runtime/in-flight-limiter.ts. */
const countsForMs = seconds(30);
const count = atOnce + 4;

test('of claims that come together so many are let in, the oldest first, and the others have their turn without a word', async () => {
  await using testenv = await startTestenv({ operator: 'none', maxInFlight: atOnce });
  const names = Array.from({ length: count }, (_, index) => `many-${String(index).padStart(3, '0')}`);
  // Their BMC does not exist: they are bound, and then wait for it for as long as that counts.
  for (const name of names) {
    const spec = { systemUUID: randomUUID(), bmcRef: { name: 'missing' } };
    await testenv.client.create(Server, { metadata: { name }, spec });
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
