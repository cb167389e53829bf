import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ServerClaim } from '@metal/api/v1alpha1/server-claim.ts';
import { SortedNames } from '@metal/kube/runtime/sorted-names.ts';
import { PendingClaims } from './pending-claims.ts';

/** Claims for servers whose name begins with a letter, or for one server. */
const claim = (name: string, constraints: { letter: string } | { server: string }, age = 0): ServerClaim => ({
  apiVersion: 'metal.ironcore.dev/v1alpha1',
  kind: 'ServerClaim',
  metadata: { name, namespace: 'team', creationTimestamp: `2026-01-01T00:00:${String(30 - age).padStart(2, '0')}Z` },
  spec: {
    power: 'On',
    image: 'os',
    ...('letter' in constraints
      ? { serverSelector: { matchLabels: { letter: constraints.letter } } }
      : { serverRef: { name: constraints.server } }),
  },
});

/** The next claim with a server. */
function served(pendingClaims: PendingClaims): { name: string; serverName: string } | undefined {
  for (let one = pendingClaims.next(); one !== undefined; one = pendingClaims.next())
    if (one.serverName !== undefined) return { name: one.claim.metadata.name, serverName: one.serverName };
  return undefined;
}

function openPendingClaims(...servers: readonly string[]) {
  const free = new SortedNames();
  const evaluations: string[] = [];
  const pendingClaims = new PendingClaims({
    free,
    fits: (serverName, { spec }) => {
      evaluations.push(serverName);
      return spec.serverRef === undefined
        ? spec.serverSelector?.matchLabels?.letter === serverName[0]
        : spec.serverRef.name === serverName;
    },
  });
  const come = (serverName: string) => (free.put(serverName, true), pendingClaims.offer(serverName));
  const go = (serverName: string) => (free.put(serverName, false), pendingClaims.withdraw(serverName));
  for (const server of servers) come(server);
  const evaluationsDuring = (act: () => void): string[] => (evaluations.splice(0), act(), evaluations.splice(0));
  const next = () => {
    const one = served(pendingClaims);
    return one && `${one.name}=${one.serverName}`;
  };
  /** Assigns all free servers. */
  const serve = (): string[] => {
    const pairs: string[] = [];
    for (let one = served(pendingClaims); one !== undefined; one = served(pendingClaims)) {
      pairs.push(next() ?? '');
      pendingClaims.remove(`team/${one.name}`);
      go(one.serverName);
    }
    return pairs;
  };
  return { pendingClaims, come, go, evaluationsDuring, next, serve };
}

test('the oldest claim that a free server fits is next, with the first of those servers', () => {
  const { pendingClaims, serve } = openPendingClaims('a-2', 'a-10', 'b-1', 'c-1');
  pendingClaims.add(claim('young', { letter: 'a' }, 1));
  pendingClaims.add(claim('other', { letter: 'b' }, 2));
  pendingClaims.add(claim('without', { letter: 'x' }, 9));
  pendingClaims.add(claim('old', { letter: 'a' }, 3));
  pendingClaims.add(claim('named', { server: 'c-1' }, 0));
  assert.deepEqual(serve(), ['old=a-2', 'other=b-1', 'young=a-10', 'named=c-1']);
  assert.equal(pendingClaims.size, 1);
});

test('a group evaluates servers up to the first that fits, and continues there', () => {
  const { pendingClaims, go, evaluationsDuring, next } = openPendingClaims('a-1', 'b-1', 'b-2', 'c-1', 'd-1');
  pendingClaims.add(claim('one', { letter: 'b' }));
  assert.deepEqual(evaluationsDuring(next), ['a-1', 'b-1']);
  assert.deepEqual(evaluationsDuring(next), []);
  go('b-1');
  assert.deepEqual(evaluationsDuring(next), ['b-2']);
  go('b-2');
  assert.deepEqual(evaluationsDuring(next), ['c-1', 'd-1']);
  assert.equal(next(), undefined);
});

test('a new server is evaluated once by each group that has passed its position, and comes before later servers', () => {
  const { pendingClaims, come, evaluationsDuring, next } = openPendingClaims('a-1', 'b-5', 'c-1');
  for (let index = 0; index < 100; index += 1) pendingClaims.add(claim(`b-${index}`, { letter: 'b' }));
  for (let index = 0; index < 100; index += 1) pendingClaims.add(claim(`x-${index}`, { letter: 'x' }, 9));
  assert.equal(next(), 'b-0=b-5');
  assert.deepEqual(
    evaluationsDuring(() => (come('b-9'), next())),
    ['b-9'],
  );
  assert.equal(next(), 'b-0=b-5');
  assert.deepEqual(
    evaluationsDuring(() => (come('b-2'), next())),
    ['b-2', 'b-2'],
  );
  assert.equal(next(), 'b-0=b-2');
  come('x-1');
  assert.equal(next(), 'x-0=x-1');
});

test('claims without a match are skipped by group', () => {
  const { pendingClaims, evaluationsDuring } = openPendingClaims('a-1', 'a-2');
  pendingClaims.add(claim('old', { letter: 'x' }, 9));
  pendingClaims.add(claim('older', { letter: 'y' }, 10));
  pendingClaims.add(claim('served', { letter: 'a' }));
  const steps: (string | undefined)[] = [];
  const step = () => void steps.push(pendingClaims.next()?.serverName);
  assert.deepEqual(evaluationsDuring(step), ['a-1', 'a-2']);
  assert.deepEqual(evaluationsDuring(step), ['a-1', 'a-2']);
  assert.deepEqual(evaluationsDuring(step), ['a-1']);
  assert.deepEqual(steps, [undefined, undefined, 'a-1']);
});

test('a free server that changes is evaluated again', () => {
  const free = new SortedNames();
  let letter = 'a';
  const fits = (_: string, { spec }: ServerClaim) => spec.serverSelector?.matchLabels?.letter === letter;
  const pendingClaims = new PendingClaims({ free, fits });
  for (const wantedLetter of ['a', 'b']) pendingClaims.add(claim(`for-${wantedLetter}`, { letter: wantedLetter }));
  free.put('one', true);
  pendingClaims.offer('one');
  assert.equal(served(pendingClaims)?.name, 'for-a');
  letter = 'b';
  pendingClaims.offer('one');
  assert.equal(served(pendingClaims)?.name, 'for-b');
  letter = 'c';
  pendingClaims.offer('one');
  assert.equal(served(pendingClaims), undefined);
});

test('a claim for one server evaluates only that server', () => {
  const { pendingClaims, come, evaluationsDuring, next } = openPendingClaims('a-1', 'a-2', 'a-3');
  pendingClaims.add(claim('second', { server: 'a-2' }));
  pendingClaims.add(claim('missing', { server: 'a-9' }, 9));
  assert.deepEqual(evaluationsDuring(next), ['a-2']);
  assert.equal(next(), 'second=a-2');
  come('a-9');
  assert.equal(next(), 'missing=a-9');
});

test('a claim with changed constraints, or a new claim of the same name, gets a new position', () => {
  const { pendingClaims, next } = openPendingClaims('a-1', 'b-1');
  pendingClaims.add(claim('one', { letter: 'a' }, 2));
  pendingClaims.add(claim('two', { letter: 'a' }, 1));
  assert.equal(next(), 'one=a-1');
  pendingClaims.add(claim('one', { letter: 'b' }, 2));
  assert.equal(next(), 'one=b-1');
  pendingClaims.add(claim('one', { letter: 'b' }, 0));
  assert.equal(next(), 'two=a-1');
  pendingClaims.remove('team/two');
  pendingClaims.remove('team/two');
  assert.equal(next(), 'one=b-1');
  assert.equal(pendingClaims.size, 1);
});

test('a claim update with equal constraints causes no evaluation', () => {
  const { pendingClaims, evaluationsDuring, next } = openPendingClaims('a-1', 'a-2');
  pendingClaims.add(claim('one', { letter: 'x' }));
  assert.equal(next(), undefined);
  assert.deepEqual(
    evaluationsDuring(() => (pendingClaims.add(claim('one', { letter: 'x' })), next())),
    [],
  );
});

test('a claim is offered the first matching server in any position, and none without a group', () => {
  const { pendingClaims } = openPendingClaims('a-1', 'b-1');
  pendingClaims.add(claim('one', { letter: 'a' }, 9));
  pendingClaims.add(claim('two', { letter: 'b' }));
  assert.equal(pendingClaims.offeredTo(claim('two', { letter: 'b' })), 'b-1');
  assert.equal(pendingClaims.offeredTo(claim('three', { server: 'a-1' })), undefined);
});
