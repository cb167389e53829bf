import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { holdersOf } from '@metal/process/connection-holders.ts';
import type { JournalConnection, JournalPage } from '@metal/simulator/journal.ts';
import { BmcTraffic } from './bmc-traffic.ts';

const connection = (id: number, node: string): JournalConnection => ({
  id,
  node,
  from: { address: '127.0.0.1', port: 40_000 + id },
  to: { address: '127.20.0.1', port: 8_000 },
});

/** A journal with these pages in turn, and processes by local port. */
function trafficOf(pages: readonly Partial<JournalPage>[], pidByPort: Readonly<Record<number, number>>): BmcTraffic {
  const left = [...pages];
  const holders: typeof holdersOf = (connections) =>
    new Map(
      [...connections].flatMap((each) => (pidByPort[each.from.port] ? [[each, pidByPort[each.from.port] ?? 0]] : [])),
    );
  const readJournal = async () => ({ connections: [], events: [], lost: 0, ...left.shift() });
  return new BmcTraffic({ readJournal, pids: () => [10, 20], holders });
}

test('requests belong to the process of their connection, also on a later page', async () => {
  const traffic = trafficOf(
    [
      { connections: [connection(1, 'a')], events: [[1, 1, 'arrived']] },
      {
        connections: [connection(2, 'a')],
        events: [
          [2, 2, 'arrived'],
          [3, 1, 'answered'],
        ],
      },
    ],
    { 40_001: 10, 40_002: 20 },
  );
  await traffic.poll();
  assert.deepEqual([...traffic.ownershipIntervals.shared], []);
  await traffic.poll();
  assert.deepEqual([...traffic.ownershipIntervals.shared], ['a']);
  assert.equal(traffic.undecided, 0);
});

test('a connection without a known process is counted, and its requests have no owner', async () => {
  const page: Partial<JournalPage> = {
    connections: [connection(1, 'a'), connection(2, 'a')],
    events: [
      [1, 1, 'arrived'],
      [2, 2, 'arrived'],
    ],
  };
  const traffic = trafficOf([page], { 40_001: 10 });
  await traffic.poll();
  assert.deepEqual(traffic.connections, { all: 2, unattributed: 1 });
  assert.deepEqual(traffic.requests, { all: 2, unattributed: 1 });
  assert.equal(traffic.undecided, 1);
  assert.deepEqual([...traffic.ownershipIntervals.shared], []);
  assert.equal(traffic.ownershipIntervals.ownerOf('a'), 10);
});

test('the BMCs of a killed process have no owner until another process requests them', async () => {
  const traffic = trafficOf(
    [
      {
        connections: [connection(1, 'a'), connection(2, 'b')],
        events: [
          [1, 1, 'arrived'],
          [2, 2, 'arrived'],
        ],
      },
      { connections: [connection(3, 'a')], events: [[900, 3, 'arrived']] },
    ],
    { 40_001: 10, 40_002: 10, 40_003: 20 },
  );
  await traffic.poll();
  traffic.markEnded(10, 100);
  await traffic.poll();
  assert.deepEqual(traffic.takeoverFrom(10), { afterMs: new Map([['a', 800]]), abandoned: ['b'] });
  assert.deepEqual([...traffic.ownershipIntervals.shared], [], 'the request in flight of a killed process is ignored');
});

test('a journal with lost entries is an error', () =>
  assert.rejects(trafficOf([{ lost: 3 }], {}).poll(), /lost 3 entries/));
