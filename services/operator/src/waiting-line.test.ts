import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ServerClaim } from '@metal/api/v1alpha1/server-claim.ts';
import { SortedNames } from './sorted-names.ts';
import { WaitingLine } from './waiting-line.ts';

/** Claims for servers whose name begins with a letter, or for one server. */
const claim = (name: string, wish: { letter: string } | { server: string }, age = 0): ServerClaim => ({
  apiVersion: 'metal.ironcore.dev/v1alpha1',
  kind: 'ServerClaim',
  metadata: { name, namespace: 'team', creationTimestamp: `2026-01-01T00:00:${String(30 - age).padStart(2, '0')}Z` },
  spec: {
    power: 'On',
    image: 'os',
    ...('letter' in wish
      ? { serverSelector: { matchLabels: { letter: wish.letter } } }
      : { serverRef: { name: wish.server } }),
  },
});

/** The next one that a server is there for. */
function served(line: WaitingLine): { name: string; serverName: string } | undefined {
  for (let one = line.next(); one !== undefined; one = line.next())
    if (one.serverName !== undefined) return { name: one.claim.metadata.name, serverName: one.serverName };
  return undefined;
}

function openLine(...servers: readonly string[]) {
  const free = new SortedNames();
  const looks: string[] = [];
  const line = new WaitingLine({
    free,
    fits: (serverName, { spec }) => {
      looks.push(serverName);
      return spec.serverRef === undefined
        ? spec.serverSelector?.matchLabels?.letter === serverName[0]
        : spec.serverRef.name === serverName;
    },
  });
  const come = (serverName: string) => (free.put(serverName, true), line.offer(serverName));
  const go = (serverName: string) => (free.put(serverName, false), line.withdraw(serverName));
  for (const server of servers) come(server);
  const looksWhile = (act: () => void): string[] => (looks.splice(0), act(), looks.splice(0));
  const next = () => {
    const one = served(line);
    return one && `${one.name}=${one.serverName}`;
  };
  /** Gives away what there is. */
  const serve = (): string[] => {
    const pairs: string[] = [];
    for (let one = served(line); one !== undefined; one = served(line)) {
      pairs.push(next() ?? '');
      line.remove(`team/${one.name}`);
      go(one.serverName);
    }
    return pairs;
  };
  return { line, come, go, looksWhile, next, serve };
}

test('the oldest claim that a free server fits is next, with the first of those servers', () => {
  const { line, serve } = openLine('a-2', 'a-10', 'b-1', 'c-1');
  line.add(claim('young', { letter: 'a' }, 1));
  line.add(claim('other', { letter: 'b' }, 2));
  line.add(claim('without', { letter: 'x' }, 9));
  line.add(claim('old', { letter: 'a' }, 3));
  line.add(claim('named', { server: 'c-1' }, 0));
  assert.deepEqual(serve(), ['old=a-2', 'other=b-1', 'young=a-10', 'named=c-1']);
  assert.equal(line.size, 1);
});

test('a wish looks no further than to a server that fits, and goes on from there', () => {
  const { line, go, looksWhile, next } = openLine('a-1', 'b-1', 'b-2', 'c-1', 'd-1');
  line.add(claim('one', { letter: 'b' }));
  assert.deepEqual(looksWhile(next), ['a-1', 'b-1']);
  assert.deepEqual(looksWhile(next), []);
  go('b-1');
  assert.deepEqual(looksWhile(next), ['b-2']);
  go('b-2');
  assert.deepEqual(looksWhile(next), ['c-1', 'd-1']);
  assert.equal(next(), undefined);
});

test('a server that comes is looked at once by each wish that came past its place, and goes before those behind it', () => {
  const { line, come, looksWhile, next } = openLine('a-1', 'b-5', 'c-1');
  for (let index = 0; index < 100; index += 1) line.add(claim(`b-${index}`, { letter: 'b' }));
  for (let index = 0; index < 100; index += 1) line.add(claim(`x-${index}`, { letter: 'x' }, 9));
  assert.equal(next(), 'b-0=b-5');
  assert.deepEqual(
    looksWhile(() => (come('b-9'), next())),
    ['b-9'],
  );
  assert.equal(next(), 'b-0=b-5');
  assert.deepEqual(
    looksWhile(() => (come('b-2'), next())),
    ['b-2', 'b-2'],
  );
  assert.equal(next(), 'b-0=b-2');
  come('x-1');
  assert.equal(next(), 'x-0=x-1');
});

test('claims that nothing fits are passed over one wish at a time', () => {
  const { line, looksWhile } = openLine('a-1', 'a-2');
  line.add(claim('old', { letter: 'x' }, 9));
  line.add(claim('older', { letter: 'y' }, 10));
  line.add(claim('served', { letter: 'a' }));
  const steps: (string | undefined)[] = [];
  const step = () => void steps.push(line.next()?.serverName);
  assert.deepEqual(looksWhile(step), ['a-1', 'a-2']);
  assert.deepEqual(looksWhile(step), ['a-1', 'a-2']);
  assert.deepEqual(looksWhile(step), ['a-1']);
  assert.deepEqual(steps, [undefined, undefined, 'a-1']);
});

test('a server that changes while it is free is what it is now', () => {
  const free = new SortedNames();
  let letter = 'a';
  const fits = (_: string, { spec }: ServerClaim) => spec.serverSelector?.matchLabels?.letter === letter;
  const line = new WaitingLine({ free, fits });
  for (const wish of ['a', 'b']) line.add(claim(`for-${wish}`, { letter: wish }));
  free.put('one', true);
  line.offer('one');
  assert.equal(served(line)?.name, 'for-a');
  letter = 'b';
  line.offer('one');
  assert.equal(served(line)?.name, 'for-b');
  letter = 'c';
  line.offer('one');
  assert.equal(served(line), undefined);
});

test('a claim for one server looks at that one only', () => {
  const { line, come, looksWhile, next } = openLine('a-1', 'a-2', 'a-3');
  line.add(claim('second', { server: 'a-2' }));
  line.add(claim('missing', { server: 'a-9' }, 9));
  assert.deepEqual(looksWhile(next), ['a-2']);
  assert.equal(next(), 'second=a-2');
  come('a-9');
  assert.equal(next(), 'missing=a-9');
});

test('a claim that chooses otherwise than before, or is made anew, has its new place', () => {
  const { line, next } = openLine('a-1', 'b-1');
  line.add(claim('one', { letter: 'a' }, 2));
  line.add(claim('two', { letter: 'a' }, 1));
  assert.equal(next(), 'one=a-1');
  line.add(claim('one', { letter: 'b' }, 2));
  assert.equal(next(), 'one=b-1');
  line.add(claim('one', { letter: 'b' }, 0));
  assert.equal(next(), 'two=a-1');
  line.remove('team/two');
  line.remove('team/two');
  assert.equal(next(), 'one=b-1');
  assert.equal(line.size, 1);
});

test('a claim that is told anew without another wish costs no look', () => {
  const { line, looksWhile, next } = openLine('a-1', 'a-2');
  line.add(claim('one', { letter: 'x' }));
  assert.equal(next(), undefined);
  assert.deepEqual(
    looksWhile(() => (line.add(claim('one', { letter: 'x' })), next())),
    [],
  );
});

test('what is offered to a claim is what fits it, whoever is next; to one that nobody in line resembles, nothing', () => {
  const { line } = openLine('a-1', 'b-1');
  line.add(claim('one', { letter: 'a' }, 9));
  line.add(claim('two', { letter: 'b' }));
  assert.equal(line.offeredTo(claim('two', { letter: 'b' })), 'b-1');
  assert.equal(line.offeredTo(claim('three', { server: 'a-1' })), undefined);
});
