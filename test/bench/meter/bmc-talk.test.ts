import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { holdersOf } from '@metal/process/connection-holders.ts';
import type { JournalConnection, JournalPage } from '@metal/simulator/journal.ts';
import { BmcTalk } from './bmc-talk.ts';

const connection = (id: number, node: string): JournalConnection => ({
  id,
  node,
  from: { address: '127.0.0.1', port: 40_000 + id },
  to: { address: '127.20.0.1', port: 8_000 },
});

/** Tells of these pages one after the other; the kernel knows who is behind the port of each connection. */
function talkOf(pages: readonly Partial<JournalPage>[], pidByPort: Readonly<Record<number, number>>): BmcTalk {
  const left = [...pages];
  const holders: typeof holdersOf = (connections) =>
    new Map(
      [...connections].flatMap((each) => (pidByPort[each.from.port] ? [[each, pidByPort[each.from.port] ?? 0]] : [])),
    );
  const tearOff = async () => ({ connections: [], moments: [], lost: 0, ...left.shift() });
  return new BmcTalk({ tearOff, pids: () => [10, 20], holders });
}

test('requests belong to the process behind their connection, also when they come on a later page', async () => {
  const talk = talkOf(
    [
      { connections: [connection(1, 'a')], moments: [[1, 1, 'arrived']] },
      {
        connections: [connection(2, 'a')],
        moments: [
          [2, 2, 'arrived'],
          [3, 1, 'answered'],
        ],
      },
    ],
    { 40_001: 10, 40_002: 20 },
  );
  await talk.look();
  assert.deepEqual([...talk.reigns.shared], []);
  await talk.look();
  assert.deepEqual([...talk.reigns.shared], ['a']);
  assert.equal(talk.undecided, 0);
});

test('a connection that nobody is found behind is counted, and what came over it is nobody’s', async () => {
  const page: Partial<JournalPage> = {
    connections: [connection(1, 'a'), connection(2, 'a')],
    moments: [
      [1, 1, 'arrived'],
      [2, 2, 'arrived'],
    ],
  };
  const talk = talkOf([page], { 40_001: 10 });
  await talk.look();
  assert.deepEqual(talk.connections, { all: 2, ofNobody: 1 });
  assert.deepEqual(talk.requests, { all: 2, ofNobody: 1 });
  assert.equal(talk.undecided, 1);
  assert.deepEqual([...talk.reigns.shared], []);
  assert.equal(talk.reigns.ownerOf('a'), 10);
});

test('the BMCs of a process that was killed are left alone until another one asks them', async () => {
  const talk = talkOf(
    [
      {
        connections: [connection(1, 'a'), connection(2, 'b')],
        moments: [
          [1, 1, 'arrived'],
          [2, 2, 'arrived'],
        ],
      },
      { connections: [connection(3, 'a')], moments: [[900, 3, 'arrived']] },
    ],
    { 40_001: 10, 40_002: 10, 40_003: 20 },
  );
  await talk.look();
  talk.ended(10, 100);
  await talk.look();
  assert.deepEqual(talk.takeoverFrom(10), { afterMs: new Map([['a', 800]]), left: ['b'] });
  assert.deepEqual([...talk.reigns.shared], [], 'its request was still under way, and it was gone');
});

test('a journal that lost something is not believed', () =>
  assert.rejects(talkOf([{ lost: 3 }], {}).look(), /lost 3 moments/));
