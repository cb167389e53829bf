import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ClaimHandle } from '@metal/lab/claim-handle.ts';
import { type Lab, labsOfFile } from '@metal/lab/lab.ts';
import { MachineService } from '@metal/lab/machine-service.ts';
import { Replicas } from '@metal/lab/replicas.ts';
import { untilChanged } from '@metal/lab/subject.ts';
import { TenancyWatch } from '@metal/lab/tenancy.ts';
import type { Node } from '@metal/simulator/fleet.ts';

const openLab = labsOfFile();
const serverCount = 50;
const claimCount = 100;

test('a hundred claims at once against fifty servers, the leader killed in between: each server once, nobody starves', async () => {
  await using storm = await openStorm();
  const { lab, replicas, tenancy, nodes } = storm;
  const claims = await claimAtOnce(lab);
  await until(lab, '15 servers are held', () => tenancy.held >= 15);
  await replicas.failOver();
  await until(lab, '35 servers are held', () => tenancy.held >= 35);
  await replicas.failOver();
  for (const node of nodes) await lab.server(node).says('ClaimServed');
  const first = claims.filter(({ phase }) => phase === 'Bound');
  assert.equal(first.length, serverCount, 'as many claims are bound as there are servers');
  assert.equal(tenancy.served.size, serverCount, 'nobody had a server and lost it');

  await Promise.all(first.map((claim) => claim.delete()));
  await until(lab, 'ten more claims have a server', () => tenancy.served.size >= serverCount + 10);
  await replicas.failOver();
  const others = claims.filter((claim) => !first.includes(claim));
  for (const claim of first) await claim.isGone();
  for (const claim of others) await claim.reaches('Bound');
  for (const node of nodes) await lab.server(node).says('ClaimServed');
  assert.equal(tenancy.served.size, claimCount, 'everybody had a server, once');
  assert.deepEqual(tenancy.breaches, []);
});

test('claims that are deleted and made anew under their names in the storm never inherit a running machine', async () => {
  await using storm = await openStorm();
  const { lab, replicas, tenancy, nodes } = storm;
  const claims = await claimAtOnce(lab);
  const restless = claims.filter((_, index) => index % 5 === 0);
  const hasty = restless.map((claim) => makeAnew(lab, claim));
  await until(lab, '20 servers are held', () => tenancy.held >= 20);
  const served = claims.filter((claim) => !restless.includes(claim) && claim.phase === 'Bound');
  const fickle = served.map((claim) => makeAnew(lab, claim));
  await replicas.failOver();
  const anew = await Promise.all([...hasty, ...fickle]);
  await replicas.failOver();
  for (const node of nodes) await lab.server(node).says('ClaimServed');
  const present = [...claims.filter((claim) => !restless.includes(claim) && !served.includes(claim)), ...anew];
  const first = present.filter(({ phase }) => phase === 'Bound');
  assert.equal(first.length, serverCount, 'as many claims are bound as there are servers');

  await Promise.all(first.map((claim) => claim.delete()));
  for (const claim of present) if (!first.includes(claim)) await claim.reaches('Bound');
  for (const node of nodes) await lab.server(node).says('ClaimServed');
  assert.deepEqual(tenancy.breaches, []);
});

interface Storm extends AsyncDisposable {
  readonly lab: Lab;
  readonly nodes: readonly Node[];
  readonly replicas: Replicas;
  readonly tenancy: TenancyWatch;
}

/** Fifty free servers and three operators. */
async function openStorm(): Promise<Storm> {
  await using stack = new AsyncDisposableStack();
  const service = new MachineService();
  const lab = stack.use(await openLab(service.labFor(200)));
  const nodes = await lab.rack({ generic: serverCount });
  const replicas = stack.use(new Replicas(lab, service));
  for (let count = 0; count < 3; count += 1) await replicas.start();
  await lab.plugIn(...nodes);
  for (const node of nodes) await lab.server(node).says('Available');
  const tenancy = stack.use(new TenancyWatch(lab, nodes));
  const owned = stack.move();
  return { lab, nodes, replicas, tenancy, [Symbol.asyncDispose]: () => owned.disposeAsync() };
}

function claimAtOnce(lab: Lab): Promise<ClaimHandle[]> {
  return Promise.all(
    Array.from({ length: claimCount }, (_, index) =>
      lab.claim({ image: 'registry.test/os:1', name: `storm-${index}` }),
    ),
  );
}

/** Deleted, and back under its name as soon as that is free. */
async function makeAnew(lab: Lab, claim: ClaimHandle): Promise<ClaimHandle> {
  await claim.delete();
  await claim.isGone();
  return lab.claim({ image: 'registry.test/os:2', name: claim.name });
}

/** Until a figure of the tenancies is reached; they change with the servers. */
function until(lab: Lab, wish: string, holds: () => boolean): Promise<void> {
  return untilChanged('the storm', wish, holds, (check) => lab.servers.onChange(check), lab.timeline);
}
