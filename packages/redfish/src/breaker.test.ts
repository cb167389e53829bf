import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DeskBmc, DeskClock, json, talkTo } from '../test/desk-bmc.ts';
import { RedfishError } from './errors.ts';
import { readInventory } from './inventory.ts';
import { readSystem } from './systems.ts';

const system = '/redfish/v1/Systems/1';

/** A conversation over a BMC that can be made to fail, past its login. */
async function failing(status: number) {
  const desk = await DeskBmc.start();
  const clock = new DeskClock();
  const states: string[] = [];
  const observer = {
    request: () => undefined,
    sessions: () => undefined,
    breaker: (state: string) => states.push(state),
  };
  const bmc = talkTo(desk, { clock, observer });
  await readSystem(bmc, system);
  desk.intercept = (_seen, response) => {
    json(response, status, {});
    return true;
  };
  const stack = new AsyncDisposableStack();
  stack.use(desk);
  stack.use(bmc);
  return { desk, clock, states, bmc, [Symbol.asyncDispose]: () => stack.disposeAsync() };
}

test('five failures in a row leave the BMC alone, and the error says since when and until when', async () => {
  await using lab = await failing(500);
  const { bmc, desk, states } = lab;
  for (let count = 0; count < 5; count += 1) await assert.rejects(readSystem(bmc, system), { code: 'HttpError' });
  const traffic = desk.seen.length;
  await assert.rejects(readSystem(bmc, system), {
    code: 'CircuitOpen',
    retry: 'later',
    retryAfterMs: 1_750,
    message:
      /failed 5 times in a row since 2026-01-01T00:00:00\.000Z \(last: HTTP 500\).*until 2026-01-01T00:00:01\.750Z/,
  });
  assert.equal(desk.seen.length, traffic);
  assert.deepEqual(states, ['open']);
});

test('what is left alone says what failed last, an answer or the lack of one', async () => {
  await using lab = await failing(500);
  const { bmc, desk, clock } = lab;
  const causeOfRefusal = async (): Promise<unknown[]> => {
    const error = await readSystem(bmc, system).catch((thrown: unknown) => thrown);
    assert.ok(error instanceof RedfishError && error.code === 'CircuitOpen', String(error));
    const { cause } = error;
    assert.ok(cause instanceof RedfishError);
    return [cause.code, cause.status];
  };
  for (let count = 0; count < 5; count += 1) await assert.rejects(readSystem(bmc, system));
  assert.deepEqual(await causeOfRefusal(), ['HttpError', 500]);
  desk.intercept = (_seen, response) => {
    response.destroy();
    return true;
  };
  clock.advance(1_750);
  await assert.rejects(readSystem(bmc, system));
  assert.deepEqual(await causeOfRefusal(), ['Unreachable', undefined]);
});

test('after the pause one request tries, and the next pause is twice as long', async () => {
  await using lab = await failing(500);
  const { bmc, desk, clock, states } = lab;
  for (let count = 0; count < 5; count += 1) await assert.rejects(readSystem(bmc, system));
  const traffic = desk.seen.length;
  clock.advance(1_750);
  const outcomes = await Promise.allSettled([1, 2, 3].map(() => readSystem(bmc, system)));
  const codes = outcomes.map((outcome) => (outcome.status === 'rejected' ? outcome.reason.code : 'fine'));
  assert.deepEqual(codes, ['HttpError', 'CircuitOpen', 'CircuitOpen']);
  assert.equal(desk.seen.length, traffic + 1);
  await assert.rejects(readSystem(bmc, system), { code: 'CircuitOpen', retryAfterMs: 3_500 });
  assert.deepEqual(states, ['open', 'half-open', 'open']);
});

test('a BMC that is back is talked to as before', async () => {
  await using lab = await failing(503);
  const { bmc, desk, clock } = lab;
  for (let count = 0; count < 5; count += 1) await assert.rejects(readSystem(bmc, system), { code: 'Busy' });
  assert.equal(bmc.breaker, 'open');
  desk.intercept = () => false;
  clock.advance(2_000);
  await readSystem(bmc, system);
  assert.equal(bmc.breaker, 'closed');
  await readSystem(bmc, system);
});

test('a caller who gives up while the BMC is tried again leaves the trial to the next', async () => {
  await using lab = await failing(500);
  const { bmc, desk, clock } = lab;
  for (let count = 0; count < 5; count += 1) await assert.rejects(readSystem(bmc, system));
  clock.advance(2_000);
  const giveUp = new AbortController();
  desk.intercept = () => {
    giveUp.abort(new Error('gave up'));
    return true;
  };
  await assert.rejects(readSystem(bmc, system, { signal: giveUp.signal }), /gave up/);
  desk.intercept = () => false;
  await readSystem(bmc, system);
  assert.equal(bmc.breaker, 'closed');
});

for (const status of [400, 403, 404, 501]) {
  test(`HTTP ${status} is the answer of a healthy BMC`, async () => {
    await using lab = await failing(status);
    for (let count = 0; count < 7; count += 1) await assert.rejects(readSystem(lab.bmc, system), { status });
    assert.equal(lab.bmc.breaker, 'closed');
  });
}

test('timeouts count as failures', async () => {
  await using lab = await failing(500);
  const { bmc, desk, clock } = lab;
  desk.intercept = () => {
    clock.advance(30_000);
    return true;
  };
  for (let count = 0; count < 5; count += 1) await assert.rejects(readSystem(bmc, system), { code: 'TimedOut' });
  assert.equal(bmc.breaker, 'open');
});

test('parts of the inventory that answer 500 do not make the BMC a failing one', async () => {
  await using desk = await DeskBmc.start();
  const parts = ['Processors', 'Storage', 'SimpleStorage', 'EthernetInterfaces'];
  desk.set(system, {
    ...desk.resources.get(system),
    ...Object.fromEntries(parts.map((part) => [part, { '@odata.id': `/bad/${part}` }])),
  });
  desk.intercept = ({ path }, response) => {
    if (path.startsWith('/bad/')) json(response, 500, {});
    return path.startsWith('/bad/');
  };
  await using bmc = talkTo(desk);
  for (let count = 0; count < 3; count += 1) assert.equal((await readInventory(bmc, system)).missing.length, 3);
  assert.equal(bmc.breaker, 'closed');
});
