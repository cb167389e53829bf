import assert from 'node:assert/strict';
import { test } from 'node:test';
import { StubBmc, FakeClock, json, openStubClient } from '../../test/stub-bmc.ts';
import { RedfishError } from '../errors.ts';
import { readInventory } from '../resources/inventory.ts';
import { readSystem } from '../resources/systems.ts';

const system = '/redfish/v1/Systems/1';

/** A client that is logged in to a BMC whose responses can be made to fail. */
async function failingStub(status: number) {
  const stub = await StubBmc.start();
  const clock = new FakeClock();
  const states: string[] = [];
  const observer = {
    request: () => undefined,
    sessions: () => undefined,
    breaker: (state: string) => states.push(state),
  };
  const bmc = openStubClient(stub, { clock, observer });
  await readSystem(bmc, system);
  stub.intercept = (_request, response) => {
    json(response, status, {});
    return true;
  };
  const stack = new AsyncDisposableStack();
  stack.use(stub);
  stack.use(bmc);
  return { stub, clock, states, bmc, [Symbol.asyncDispose]: () => stack.disposeAsync() };
}

test('five failures in a row open the breaker, and the error names the first failure and the end of the pause', async () => {
  await using fixture = await failingStub(500);
  const { bmc, stub, states } = fixture;
  for (let count = 0; count < 5; count += 1) await assert.rejects(readSystem(bmc, system), { code: 'HttpError' });
  const traffic = stub.received.length;
  await assert.rejects(readSystem(bmc, system), {
    code: 'CircuitOpen',
    retry: 'later',
    retryAfterMs: 1_750,
    message:
      /failed 5 times in a row since 2026-01-01T00:00:00\.000Z \(last: HTTP 500\).*until 2026-01-01T00:00:01\.750Z/,
  });
  assert.equal(stub.received.length, traffic);
  assert.deepEqual(states, ['open']);
});

test('an open breaker names the last failure, a status or a missing response', async () => {
  await using fixture = await failingStub(500);
  const { bmc, stub, clock } = fixture;
  const causeOfOpen = async (): Promise<unknown[]> => {
    const error = await readSystem(bmc, system).catch((thrown: unknown) => thrown);
    assert.ok(error instanceof RedfishError && error.code === 'CircuitOpen', String(error));
    const { cause } = error;
    assert.ok(cause instanceof RedfishError);
    return [cause.code, cause.status];
  };
  for (let count = 0; count < 5; count += 1) await assert.rejects(readSystem(bmc, system));
  assert.deepEqual(await causeOfOpen(), ['HttpError', 500]);
  stub.intercept = (_request, response) => {
    response.destroy();
    return true;
  };
  clock.advance(1_750);
  await assert.rejects(readSystem(bmc, system));
  assert.deepEqual(await causeOfOpen(), ['Unreachable', undefined]);
});

test('one request is sent after the pause, and the next pause is twice as long', async () => {
  await using fixture = await failingStub(500);
  const { bmc, stub, clock, states } = fixture;
  for (let count = 0; count < 5; count += 1) await assert.rejects(readSystem(bmc, system));
  const traffic = stub.received.length;
  clock.advance(1_750);
  const outcomes = await Promise.allSettled([1, 2, 3].map(() => readSystem(bmc, system)));
  const codes = outcomes.map((outcome) => (outcome.status === 'rejected' ? outcome.reason.code : 'fine'));
  assert.deepEqual(codes, ['HttpError', 'CircuitOpen', 'CircuitOpen']);
  assert.equal(stub.received.length, traffic + 1);
  await assert.rejects(readSystem(bmc, system), { code: 'CircuitOpen', retryAfterMs: 3_500 });
  assert.deepEqual(states, ['open', 'half-open', 'open']);
});

test('a successful request closes the breaker', async () => {
  await using fixture = await failingStub(503);
  const { bmc, stub, clock } = fixture;
  for (let count = 0; count < 5; count += 1) await assert.rejects(readSystem(bmc, system), { code: 'Busy' });
  assert.equal(bmc.breaker, 'open');
  stub.intercept = () => false;
  clock.advance(2_000);
  await readSystem(bmc, system);
  assert.equal(bmc.breaker, 'closed');
  await readSystem(bmc, system);
});

test('an aborted request of a half-open breaker leaves the attempt to the next request', async () => {
  await using fixture = await failingStub(500);
  const { bmc, stub, clock } = fixture;
  for (let count = 0; count < 5; count += 1) await assert.rejects(readSystem(bmc, system));
  clock.advance(2_000);
  const abortController = new AbortController();
  stub.intercept = () => {
    abortController.abort(new Error('gave up'));
    return true;
  };
  await assert.rejects(readSystem(bmc, system, { signal: abortController.signal }), /gave up/);
  stub.intercept = () => false;
  await readSystem(bmc, system);
  assert.equal(bmc.breaker, 'closed');
});

for (const status of [400, 403, 404, 501]) {
  test(`HTTP ${status} does not count as a failure of the BMC`, async () => {
    await using fixture = await failingStub(status);
    for (let count = 0; count < 7; count += 1) await assert.rejects(readSystem(fixture.bmc, system), { status });
    assert.equal(fixture.bmc.breaker, 'closed');
  });
}

test('timeouts count as failures of the BMC', async () => {
  await using fixture = await failingStub(500);
  const { bmc, stub, clock } = fixture;
  stub.intercept = () => {
    clock.advance(30_000);
    return true;
  };
  for (let count = 0; count < 5; count += 1) await assert.rejects(readSystem(bmc, system), { code: 'TimedOut' });
  assert.equal(bmc.breaker, 'open');
});

test('a status 500 of an inventory part does not count as a failure of the BMC', async () => {
  await using stub = await StubBmc.start();
  const parts = ['Processors', 'Storage', 'SimpleStorage', 'EthernetInterfaces'];
  stub.set(system, {
    ...stub.resources.get(system),
    ...Object.fromEntries(parts.map((part) => [part, { '@odata.id': `/bad/${part}` }])),
  });
  stub.intercept = ({ path }, response) => {
    if (path.startsWith('/bad/')) json(response, 500, {});
    return path.startsWith('/bad/');
  };
  await using bmc = openStubClient(stub);
  for (let count = 0; count < 3; count += 1) assert.equal((await readInventory(bmc, system)).missing.length, 3);
  assert.equal(bmc.breaker, 'closed');
});
