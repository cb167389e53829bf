import assert from 'node:assert/strict';
import { test } from 'node:test';
import { waitForNeighbours } from './lldp-wait.ts';
import { type ProbeClock, discardLog } from './environment.ts';

const withNeighbours = (...ports: string[]) =>
  JSON.stringify({
    lldp: { interface: Object.fromEntries(ports.map((port) => [port, { chassis: { leaf: { id: { value: 'x' } } } }])) },
  });

/** A clock that advances only in sleep. */
function steppingClock(): ProbeClock & { pauses: number } {
  let now = 0;
  return {
    pauses: 0,
    now: () => now,
    async sleep(delayMs) {
      now += delayMs;
      this.pauses += 1;
    },
  };
}

async function waitWith(answers: (string | Error)[], expected: string[]) {
  const clock = steppingClock();
  const run = async () => {
    const answer = answers.length > 1 ? answers.shift() : answers[0];
    if (answer instanceof Error) throw answer;
    return answer ?? '';
  };
  const signal = new AbortController().signal;
  const found = await waitForNeighbours({
    run,
    clock,
    signal,
    log: discardLog,
    expectedPorts: async () => expected,
    intervalMs: 5_000,
    budgetMs: 30_000,
  });
  return { pauses: clock.pauses, found: found.map(({ name }) => name) };
}

test('polling continues while there are no neighbours, until the time limit', async () => {
  assert.deepEqual(await waitWith([withNeighbours()], ['eth0']), { pauses: 6, found: [] });
});

test('waiting ends when every port with a link has a neighbour', async () => {
  const answers = ['', withNeighbours('eth0'), withNeighbours('eth0', 'eth1')];
  assert.deepEqual(await waitWith(answers, ['eth0', 'eth1']), { pauses: 2, found: ['eth0', 'eth1'] });
});

test('the neighbours of some ports are reported if the other ports have none', async () => {
  assert.deepEqual(await waitWith([withNeighbours('eth0')], ['eth0', 'eth1']), { pauses: 6, found: ['eth0'] });
});

test('a machine without a link does not wait', async () => {
  assert.deepEqual(await waitWith([withNeighbours()], []), { pauses: 0, found: [] });
});

test('a machine without lldpctl does not wait', async () => {
  const missing = Object.assign(new Error('spawn lldpctl ENOENT'), { code: 'ENOENT' });
  assert.deepEqual(await waitWith([missing], ['eth0']), { pauses: 0, found: [] });
});

test('a daemon that is not running yet is polled again', async () => {
  assert.deepEqual(await waitWith([new Error('no connection'), 'not json', withNeighbours('eth0')], ['eth0']), {
    pauses: 2,
    found: ['eth0'],
  });
});
