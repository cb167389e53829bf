import assert from 'node:assert/strict';
import { test } from 'node:test';
import { StubBmc, json, openStubClient } from '../../test/stub-bmc.ts';
import { readAccounts } from './accounts.ts';
import { listMembers } from './collections.ts';
import { readManagers } from './managers.ts';
import { readSystems } from './systems.ts';

const systems = '/redfish/v1/Systems';
const expand = { NoLinks: true, ExpandAll: true, Levels: true, MaxLevels: 3 };
const blades = { '10': { UUID: 'c' }, '2': { UUID: 'b' }, '1': { UUID: 'a' } };

test('members are read in one request when the BMC expands', async () => {
  await using stub = await StubBmc.start({ expand });
  stub.collection(systems, blades);
  await using bmc = openStubClient(stub);
  const found = await readSystems(bmc);
  assert.deepEqual(
    found.map(({ uuid }) => uuid),
    ['a', 'b', 'c'],
    'in the order of their URIs, numbers as numbers',
  );
  assert.deepEqual(stub.log.slice(2), [`GET ${systems}?$expand=.`]);
});

test('members are read one by one when the BMC does not expand', async () => {
  await using stub = await StubBmc.start();
  stub.collection(systems, blades);
  await using bmc = openStubClient(stub);
  assert.equal((await readSystems(bmc)).length, 3);
  assert.deepEqual(
    stub.log.slice(2).toSorted(),
    [systems, `${systems}/1`, `${systems}/10`, `${systems}/2`].map((path) => `GET ${path}`),
  );
});

test('a BMC that advertises ExpandAll only is read with $expand=*', async () => {
  await using stub = await StubBmc.start({ expand: { ExpandAll: true } });
  await using bmc = openStubClient(stub);
  await readSystems(bmc);
  assert.equal(stub.log.at(-1), `GET ${systems}?$expand=*`);
});

test('a BMC that ignores its advertised $expand is read member by member', async () => {
  await using stub = await StubBmc.start({ expand });
  stub.intercept = ({ path }, response) => {
    if (path.includes('$expand')) json(response, 200, stub.resources.get(systems));
    return path.includes('$expand');
  };
  await using bmc = openStubClient(stub);
  assert.equal((await readSystems(bmc)).length, 1);
});

for (const status of [400, 404, 500, 501]) {
  test(`a BMC that answers ${status} to its advertised $expand is read without it afterwards`, async () => {
    await using stub = await StubBmc.start({ expand });
    stub.intercept = ({ path }, response) => {
      if (path.includes('$expand')) json(response, status, {});
      return path.includes('$expand');
    };
    await using bmc = openStubClient(stub);
    await readSystems(bmc);
    await readSystems(bmc);
    assert.equal(stub.log.filter((line) => line.includes('$expand')).length, 1);
  });
}

test('a missing collection is an error and does not disable $expand', async () => {
  await using stub = await StubBmc.start({ expand });
  stub.resources.delete(systems);
  await using bmc = openStubClient(stub);
  await assert.rejects(readSystems(bmc), { code: 'NotFound' });
  assert.equal(bmc.expands, true);
});

test('all pages of a collection are read', async () => {
  await using stub = await StubBmc.start();
  stub.collection(systems, { '1': { UUID: 'a' }, '2': { UUID: 'b' } });
  const next = { 'Members@odata.nextLink': `http://bmc.internal${systems}/page-2` };
  stub.set(systems, { Members: [{ '@odata.id': `${systems}/1` }], ...next });
  stub.set(`${systems}/page-2`, { Members: [{ '@odata.id': `${systems}/2` }] });
  await using bmc = openStubClient(stub);
  assert.equal((await readSystems(bmc)).length, 2);
});

const blade = (id: string) => ({ '@odata.id': `${systems}/${id}` });

for (const status of [400, 404, 405, 500, 501]) {
  test(`a system that answers ${status} is left out and reported, and the others are read`, async () => {
    await using stub = await StubBmc.start();
    stub.collection(systems, blades);
    stub.intercept = ({ path }, response) => {
      if (path === `${systems}/2`) json(response, status, {});
      return path === `${systems}/2`;
    };
    await using bmc = openStubClient(stub, {
      limits: { breaker: { failures: 1, firstPauseMs: 1_000, maxPauseMs: 1_000 } },
    });
    const unreadable: string[] = [];
    const found = await readSystems(bmc, { onUnreadable: ({ path }) => unreadable.push(path) });
    assert.deepEqual(
      found.map(({ uuid }) => uuid),
      ['a', 'c'],
    );
    assert.deepEqual(unreadable, [`${systems}/2`]);
    assert.equal(bmc.breaker, 'closed', 'no failure of the BMC');
  });
}

for (const status of [401, 403, 429, 502, 503, 504]) {
  test(`a system that answers ${status} fails the list`, async () => {
    await using stub = await StubBmc.start();
    stub.collection(systems, blades);
    stub.intercept = ({ path }, response) => {
      if (path === `${systems}/2`) json(response, status, {});
      return path === `${systems}/2`;
    };
    await using bmc = openStubClient(stub);
    await assert.rejects(readSystems(bmc), { status });
  });
}

test('a BMC that stops answering during the list fails it instead of shortening it', async () => {
  await using stub = await StubBmc.start();
  stub.collection(systems, blades);
  stub.intercept = ({ path }) => path === `${systems}/2`;
  await using bmc = openStubClient(stub);
  await assert.rejects(readSystems(bmc, { deadlineMs: 50 }), { code: 'TimedOut' });
});

test('a list whose systems are all unreadable is an error, not an empty list', async () => {
  await using stub = await StubBmc.start();
  stub.set(systems, { Members: [blade('gone'), blade('lost')] });
  await using bmc = openStubClient(stub);
  const unreadable: unknown[] = [];
  const reading = readSystems(bmc, { onUnreadable: (each) => unreadable.push(each) });
  await assert.rejects(reading, { code: 'NotFound', message: /Systems\/gone/ });
  assert.deepEqual(unreadable, []);
});

test('an entry without a link is reported by its position, and the others are read', async () => {
  await using stub = await StubBmc.start();
  stub.set(`${systems}/1`, { UUID: 'a' });
  stub.set(systems, { Members: [null, blade('1'), {}, { '@odata.id': '' }] });
  await using bmc = openStubClient(stub);
  const messages: string[] = [];
  const found = await readSystems(bmc, { onUnreadable: ({ error }) => messages.push(error.message) });
  assert.equal(found.length, 1);
  assert.equal(messages.length, 3);
  assert.match(
    messages[1] ?? '',
    /^\/redfish\/v1\/Systems#\/Members\[2\] is no usable Redfish resource: property @odata\.id: /,
  );
});

test('an unreadable account fails the list of accounts', async () => {
  await using stub = await StubBmc.start();
  const accountsUri = '/redfish/v1/AccountService/Accounts';
  stub.set(accountsUri, { Members: [{ '@odata.id': `${accountsUri}/1` }, { '@odata.id': `${accountsUri}/gone` }] });
  stub.set(`${accountsUri}/1`, { UserName: 'root' });
  await using bmc = openStubClient(stub);
  await assert.rejects(readAccounts(bmc, { accountsUri }), { code: 'NotFound', message: /Accounts\/gone/ });
});

test('a system with two entries is read once', async () => {
  await using stub = await StubBmc.start();
  stub.set(systems, { Members: [blade('1'), { '@odata.id': `http://bmc.internal${systems}/1` }] });
  await using bmc = openStubClient(stub);
  assert.equal((await readSystems(bmc)).length, 1);
  assert.equal(stub.count(`GET ${systems}/1`), 1);
});

test('a page that was read before ends the collection', async () => {
  await using stub = await StubBmc.start();
  const next = { 'Members@odata.nextLink': `${systems}/page-2` };
  stub.set(systems, { Members: [blade('1')], ...next });
  stub.set(`${systems}/page-2`, { Members: [blade('1')], ...next });
  await using bmc = openStubClient(stub);
  assert.equal((await readSystems(bmc)).length, 1);
  assert.deepEqual([stub.count(`GET ${systems}`), stub.count(`GET ${systems}/page-2`)], [1, 1]);
});

const many = (count: number, path: string) =>
  Array.from({ length: count }, (_, index) => ({ '@odata.id': `${path}/${index}` }));

test('more systems or managers than any chassis has are rejected before one is read', async () => {
  await using stub = await StubBmc.start();
  await using bmc = openStubClient(stub);
  for (const [path, read] of [
    [systems, readSystems],
    ['/redfish/v1/Managers', readManagers],
  ] as const) {
    stub.set(path, { Members: many(1_001, path) });
    await assert.rejects(read(bmc), {
      code: 'BadAnswer',
      message: new RegExp(`^${path}: expected at most 1000 members, found 1001`),
    });
    assert.ok(!stub.log.some((line) => line.startsWith(`GET ${path}/`)));
  }
});

test('more members than the limit are rejected, in any number of pages', async () => {
  await using stub = await StubBmc.start();
  const parts = '/redfish/v1/Systems/1/Processors';
  stub.set(parts, { Members: many(6_000, `${parts}/a`), 'Members@odata.nextLink': `${parts}?$skip=6000` });
  stub.intercept = ({ path }, response) => {
    if (path.includes('$skip')) json(response, 200, { '@odata.id': path, Members: many(6_000, `${parts}/b`) });
    return path.includes('$skip');
  };
  await using bmc = openStubClient(stub);
  await assert.rejects(listMembers(bmc, parts), { message: /Processors: expected at most 10000 members, found 12000/ });
});

test('more pages than the limit are rejected', async () => {
  await using stub = await StubBmc.start();
  stub.intercept = ({ path }, response) => {
    if (!path.startsWith(systems)) return false;
    const page = Number(path.split('=')[1] ?? 0) + 1;
    json(response, 200, { '@odata.id': systems, Members: [], 'Members@odata.nextLink': `${systems}?$skip=${page}` });
    return true;
  };
  await using bmc = openStubClient(stub);
  await assert.rejects(listMembers(bmc, systems), { message: /Systems: expected at most 100 pages, found 101/ });
});

test('more text than the limit is rejected', async () => {
  await using stub = await StubBmc.start();
  const Name = 'x'.repeat(7 * 1024 * 1024);
  const page = (next?: string) => ({ Name, Members: [], ...(next && { 'Members@odata.nextLink': next }) });
  stub.set(systems, page(`${systems}/b`));
  stub.set(`${systems}/b`, page(`${systems}/c`));
  stub.set(`${systems}/c`, page());
  await using bmc = openStubClient(stub);
  await assert.rejects(listMembers(bmc, systems), { message: /Systems: expected at most 16777216 characters, found/ });
});

test('at most eight members are read at a time', async () => {
  const limits = { inFlight: 100 };
  await using stub = await StubBmc.start();
  stub.collection(systems, Object.fromEntries(many(50, '').map((_, index) => [String(index), { UUID: `u${index}` }])));
  await using bmc = openStubClient(stub, { limits });
  assert.equal((await readSystems(bmc)).length, 50);
  assert.ok(stub.peakInFlight <= 8, `${stub.peakInFlight} at a time`);
});

test('a collection with an empty or missing list has no members', async () => {
  await using stub = await StubBmc.start();
  for (const resource of [{ Members: [] }, { Members: null }, {}]) {
    stub.set(systems, resource);
    await using bmc = openStubClient(stub);
    assert.deepEqual(await readSystems(bmc), []);
  }
});
