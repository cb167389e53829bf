import assert from 'node:assert/strict';
import { test } from 'node:test';
import { StubBmc, FakeClock, type Intercept, json, openStubClient } from '../../test/stub-bmc.ts';
import { readSystem } from '../resources/systems.ts';

const system = '/redfish/v1/Systems/1';
const reset = `${system}/Actions/ComputerSystem.Reset`;

/** Fails the first requests to a path; the stub answers later ones. */
function failFirst(times: number, path: string, fail: Intercept): Intercept {
  let left = times;
  return (request, response) => {
    if (request.path !== path || left === 0) return false;
    left -= 1;
    return fail(request, response);
  };
}

const busy =
  (status: number, headers: Record<string, string> = {}): Intercept =>
  (_request, response) => {
    json(response, status, {}, headers);
    return true;
  };

const resetConnection: Intercept = (_request, response) => {
  response.socket?.resetAndDestroy();
  return true;
};

test('a read with status 503 is repeated after its Retry-After', async () => {
  await using stub = await StubBmc.start();
  const clock = new FakeClock();
  stub.intercept = failFirst(2, system, busy(503, { 'retry-after': '3' }));
  await using bmc = openStubClient(stub, { clock });
  await readSystem(bmc, system);
  assert.deepEqual(clock.slept, [3_000, 3_000]);
});

test('a read with status 429 is repeated after a growing pause', async () => {
  await using stub = await StubBmc.start();
  const clock = new FakeClock();
  stub.intercept = failFirst(2, system, busy(429));
  await using bmc = openStubClient(stub, { clock });
  await readSystem(bmc, system);
  assert.deepEqual(clock.slept, [175, 700]);
});

test('a BMC that stays busy fails the request after three attempts, with retryAfterMs', async () => {
  await using stub = await StubBmc.start();
  const clock = new FakeClock();
  const inFiveSeconds = () => new Date(clock.now() + 5_000).toUTCString();
  stub.intercept = (request, response) =>
    request.path === system && busy(503, { 'retry-after': inFiveSeconds() })(request, response);
  await using bmc = openStubClient(stub, { clock });
  await assert.rejects(readSystem(bmc, system), { code: 'Busy', status: 503, retryAfterMs: 5_000 });
  assert.equal(stub.count(`GET ${system}`), 3);
});

test('a long Retry-After is returned to the caller', async () => {
  await using stub = await StubBmc.start();
  stub.intercept = failFirst(1, system, busy(503, { 'retry-after': '120' }));
  await using bmc = openStubClient(stub, { clock: new FakeClock() });
  await assert.rejects(readSystem(bmc, system), { code: 'Busy', retryAfterMs: 120_000 });
  assert.equal(stub.count(`GET ${system}`), 1);
});

test('a read with a broken connection is repeated', async () => {
  await using stub = await StubBmc.start();
  stub.intercept = failFirst(2, system, resetConnection);
  await using bmc = openStubClient(stub, { clock: new FakeClock() });
  await readSystem(bmc, system);
  assert.equal(stub.count(`GET ${system}`), 3);
});

test('a reset is never sent twice after any failure', async () => {
  for (const fail of [resetConnection, busy(503, { 'retry-after': '1' }), busy(429), busy(500)]) {
    await using stub = await StubBmc.start();
    stub.intercept = failFirst(1, reset, fail);
    await using bmc = openStubClient(stub, { clock: new FakeClock() });
    await assert.rejects(bmc.post(reset, { ResetType: 'On' }), { name: 'RedfishError' });
    assert.equal(stub.count(`POST ${reset}`), 1);
  }
});

test('a reset with an expired session is sent again with a new one', async () => {
  await using stub = await StubBmc.start();
  await using bmc = openStubClient(stub);
  await readSystem(bmc, system);
  stub.tokens.clear();
  await bmc.post(reset, { ResetType: 'On' });
  assert.equal(stub.count(`POST ${reset}`), 2, 'refused with 401, then accepted');
});

test('a change carries the ETag of the read', async () => {
  await using stub = await StubBmc.start();
  await using bmc = openStubClient(stub);
  await bmc.patch(system, { AssetTag: 'a' }, { ifMatch: '"1"' });
  assert.equal(stub.received.at(-1)?.headers['if-match'], '"1"');
});

/** Rejects a change with 412 by its ETag. */
const guarded =
  (etagOf: () => string, isAccepted: (ifMatch: string | undefined) => boolean): Intercept =>
  ({ method, headers }, response) => {
    if (method === 'GET') response.setHeader('etag', etagOf());
    if (method !== 'PATCH' || isAccepted(headers['if-match'])) return false;
    json(response, 412, {});
    return true;
  };

test('a change of a resource that changed meanwhile is repeated with the new ETag', async () => {
  await using stub = await StubBmc.start();
  stub.intercept = guarded(
    () => '"2"',
    (ifMatch) => ifMatch === '"2"',
  );
  await using bmc = openStubClient(stub);
  await bmc.patch(system, { AssetTag: 'a' }, { ifMatch: '"1"' });
  const sent = stub.received.slice(-3).map(({ method, headers }) => [method, headers['if-match']]);
  assert.deepEqual(sent, [
    ['PATCH', '"1"'],
    ['GET', undefined],
    ['PATCH', '"2"'],
  ]);
});

test('a change is repeated without an ETag when the BMC rejects its own', async () => {
  await using stub = await StubBmc.start();
  stub.intercept = guarded(
    () => '"1"',
    (ifMatch) => ifMatch === undefined,
  );
  await using bmc = openStubClient(stub);
  await bmc.patch(system, { AssetTag: 'a' }, { ifMatch: '"1"' });
  const patches = stub.received.filter(({ method }) => method === 'PATCH').map(({ headers }) => headers['if-match']);
  assert.deepEqual(patches, ['"1"', undefined]);
});
