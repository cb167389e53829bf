import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ClaimHandle } from '@metal/testenv/cluster/claim-handle.ts';
import { type Testenv, testenvsOfFile } from '@metal/testenv/testenv.ts';
import { MachineService } from '@metal/testenv/operator/machine-service.ts';
import { Replicas } from '@metal/testenv/operator/replicas.ts';
import { untilChanged } from '@metal/testenv/cluster/watched-object.ts';
import { TenancyWatch } from '@metal/testenv/assertions/tenancy-watch.ts';
import type { Node } from '@metal/simulator/fleet.ts';

const startTestenv = testenvsOfFile();
const serverCount = 50;
const claimCount = 100;
/** Of each wait: three operators share the processor with other tests. */
const timeoutMs = 300_000;

test('a hundred claims for fifty servers survive a leader kill: each server is bound once, and every claim gets one', async () => {
  await using fixture = await openFixture();
  const { testenv, replicas, tenancy, nodes } = fixture;
  const claims = await claimAtOnce(testenv);
  await until(testenv, '15 servers are bound', () => tenancy.held >= 15);
  await replicas.failOver();
  await until(testenv, '35 servers are bound', () => tenancy.held >= 35);
  await replicas.failOver();
  for (const node of nodes) await testenv.server(node).hasReason('ClaimServed');
  const first = await boundAmong(testenv, claims);
  assert.equal(tenancy.served.size, serverCount, 'no claim lost its server');

  await Promise.all(first.map((claim) => claim.delete()));
  await until(testenv, 'ten more claims have a server', () => tenancy.served.size >= serverCount + 10);
  await replicas.failOver();
  const others = claims.filter((claim) => !first.includes(claim));
  for (const claim of first) await claim.isGone();
  for (const claim of others) await claim.reaches('Bound');
  await until(testenv, 'every claim has had a server', () => tenancy.served.size >= claimCount);
  for (const node of nodes) await testenv.server(node).hasReason('ClaimServed');
  assert.equal(tenancy.served.size, claimCount, 'every claim had a server, once');
  assert.deepEqual(tenancy.breaches, []);
});

test('claims recreated under the same names in the storm never inherit a running machine', async () => {
  await using fixture = await openFixture();
  const { testenv, replicas, tenancy, nodes } = fixture;
  const claims = await claimAtOnce(testenv);
  const replacedEarly = claims.filter((_, index) => index % 5 === 0);
  const earlyReplacements = replacedEarly.map((claim) => recreate(testenv, claim));
  await until(testenv, '20 servers are bound', () => tenancy.held >= 20);
  const served = claims.filter((claim) => !replacedEarly.includes(claim) && claim.phase === 'Bound');
  const lateReplacements = served.map((claim) => recreate(testenv, claim));
  await replicas.failOver();
  const replacements = await Promise.all([...earlyReplacements, ...lateReplacements]);
  await replicas.failOver();
  for (const node of nodes) await testenv.server(node).hasReason('ClaimServed');
  const present = [
    ...claims.filter((claim) => !replacedEarly.includes(claim) && !served.includes(claim)),
    ...replacements,
  ];
  const first = await boundAmong(testenv, present);

  await Promise.all(first.map((claim) => claim.delete()));
  for (const claim of present) if (!first.includes(claim)) await claim.reaches('Bound');
  for (const node of nodes) await testenv.server(node).hasReason('ClaimServed');
  assert.deepEqual(tenancy.breaches, []);
});

interface Fixture extends AsyncDisposable {
  readonly testenv: Testenv;
  readonly nodes: readonly Node[];
  readonly replicas: Replicas;
  readonly tenancy: TenancyWatch;
}

/** Fifty free servers and three operators. */
async function openFixture(): Promise<Fixture> {
  await using stack = new AsyncDisposableStack();
  const service = new MachineService();
  const testenv = stack.use(await startTestenv({ ...service.testenvOptions(200), timeoutMs }));
  const nodes = await testenv.addNodes({ generic: serverCount });
  const replicas = stack.use(new Replicas(testenv, service));
  for (let count = 0; count < 3; count += 1) await replicas.start();
  await testenv.plugIn(...nodes);
  for (const node of nodes) await testenv.server(node).hasReason('Available');
  const tenancy = stack.use(new TenancyWatch(testenv, nodes));
  const owned = stack.move();
  return { testenv, nodes, replicas, tenancy, [Symbol.asyncDispose]: () => owned.disposeAsync() };
}

function claimAtOnce(testenv: Testenv): Promise<ClaimHandle[]> {
  return Promise.all(
    Array.from({ length: claimCount }, (_, index) =>
      testenv.claim({ image: 'registry.test/os:1', name: `storm-${index}` }),
    ),
  );
}

/** Deletes the claim and creates it again as soon as its name is free. */
async function recreate(testenv: Testenv, claim: ClaimHandle): Promise<ClaimHandle> {
  await claim.delete();
  await claim.isGone();
  return testenv.claim({ image: 'registry.test/os:2', name: claim.name });
}

/** As many claims are bound as there are servers. */
async function boundAmong(testenv: Testenv, claims: readonly ClaimHandle[]): Promise<ClaimHandle[]> {
  const bound = () => claims.filter(({ phase }) => phase === 'Bound');
  const follow = (check: () => void) => testenv.claims.onChange(check);
  await untilChanged('the claims', 'are bound', () => bound().length >= serverCount, follow, testenv.timeline);
  assert.equal(bound().length, serverCount, 'as many claims are bound as there are servers');
  return bound();
}

/** Until a count of the tenancies is reached; the counts change with the servers. */
function until(testenv: Testenv, description: string, holds: () => boolean): Promise<void> {
  return untilChanged('the storm', description, holds, (check) => testenv.servers.onChange(check), testenv.timeline);
}
