import assert from 'node:assert/strict';
import { test } from 'node:test';
import { RateLimit } from './rate-limit.ts';

function limitOf(burst: number, perSecond: number, clients?: number) {
  let now = 0;
  const clock = { now: () => now, setTimeout: () => ({ [Symbol.dispose]: () => {} }), sleep: () => Promise.resolve() };
  const limit = new RateLimit({ clock, burst, perSecond, ...(clients === undefined ? {} : { clients }) });
  return { limit, pass: (ms: number) => (now += ms) };
}

test('a client may send a burst and then the average rate', () => {
  const { limit, pass } = limitOf(3, 2);
  assert.deepEqual(
    [1, 2, 3, 4].map(() => limit.take('10.0.0.1')),
    [0, 0, 0, 1],
  );
  pass(500);
  assert.deepEqual(
    [1, 2].map(() => limit.take('10.0.0.1')),
    [0, 1],
  );
});

test('the limit of one client does not affect another', () => {
  const { limit } = limitOf(1, 1);
  assert.deepEqual(
    ['10.0.0.1', '10.0.0.1', '10.0.0.2'].map((address) => limit.take(address)),
    [0, 1, 0],
  );
});

test('an expensive request extends the wait of the next one', () => {
  const { limit } = limitOf(1, 1);
  limit.take('10.0.0.1', 10);
  assert.equal(limit.take('10.0.0.1'), 10);
});

const sameClient: [string, string, boolean][] = [
  ['2001:db8::1', '2001:db8::2', true],
  ['2001:db8:0:0:1::1', '2001:db8::1', true],
  ['2001:db8:0:1::1', '2001:db8:0:2::1', false],
  ['::ffff:10.0.0.1', '10.0.0.1', true],
  ['fe80::1%eth0', 'fe80::2%eth1', true],
];
for (const [one, other, same] of sameClient) {
  test(`${one} and ${other} are ${same ? 'one client' : 'two clients'}`, () => {
    const { limit } = limitOf(1, 1);
    limit.take(one);
    assert.equal(limit.take(other) > 0, same);
  });
}

test('the client with the oldest request is dropped first', () => {
  const { limit } = limitOf(1, 0.001, 2);
  for (const address of ['10.0.0.1', '10.0.0.2', '10.0.0.3']) limit.take(address);
  assert.equal(limit.take('10.0.0.3') > 0, true);
  assert.equal(limit.take('10.0.0.1'), 0);
});
