import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DeskBmc, json, talkTo } from '../test/desk-bmc.ts';
import { readSystems } from './systems.ts';

const systems = '/redfish/v1/Systems';
const expand = { NoLinks: true, ExpandAll: true, Levels: true, MaxLevels: 3 };
const blades = { '10': { UUID: 'c' }, '2': { UUID: 'b' }, '1': { UUID: 'a' } };

test('members come along in one request where the BMC expands', async () => {
  await using desk = await DeskBmc.start({ expand });
  desk.collection(systems, blades);
  await using bmc = talkTo(desk);
  const found = await readSystems(bmc);
  assert.deepEqual(
    found.map(({ uuid }) => uuid),
    ['a', 'b', 'c'],
    'in the order of their URIs, numbers as numbers',
  );
  assert.deepEqual(desk.log.slice(2), [`GET ${systems}?$expand=.`]);
});

test('members are read one by one where it does not', async () => {
  await using desk = await DeskBmc.start();
  desk.collection(systems, blades);
  await using bmc = talkTo(desk);
  assert.equal((await readSystems(bmc)).length, 3);
  assert.deepEqual(
    desk.log.slice(2).toSorted(),
    [systems, `${systems}/1`, `${systems}/10`, `${systems}/2`].map((path) => `GET ${path}`),
  );
});

test('a BMC that can only expand everything is asked to do that', async () => {
  await using desk = await DeskBmc.start({ expand: { ExpandAll: true } });
  await using bmc = talkTo(desk);
  await readSystems(bmc);
  assert.equal(desk.log.at(-1), `GET ${systems}?$expand=*`);
});

test('a BMC that ignores the expansion it advertises is read member by member', async () => {
  await using desk = await DeskBmc.start({ expand });
  desk.intercept = ({ path }, response) => {
    if (path.includes('$expand')) json(response, 200, desk.resources.get(systems));
    return path.includes('$expand');
  };
  await using bmc = talkTo(desk);
  assert.equal((await readSystems(bmc)).length, 1);
});

for (const status of [400, 404, 500, 501]) {
  test(`a BMC that answers ${status} to the expansion it advertises is not asked for one again`, async () => {
    await using desk = await DeskBmc.start({ expand });
    desk.intercept = ({ path }, response) => {
      if (path.includes('$expand')) json(response, status, {});
      return path.includes('$expand');
    };
    await using bmc = talkTo(desk);
    await readSystems(bmc);
    await readSystems(bmc);
    assert.equal(desk.log.filter((line) => line.includes('$expand')).length, 1);
  });
}

test('a collection that does not exist is an error, and expansion is still trusted', async () => {
  await using desk = await DeskBmc.start({ expand });
  desk.resources.delete(systems);
  await using bmc = talkTo(desk);
  await assert.rejects(readSystems(bmc), { code: 'NotFound' });
  assert.equal(bmc.expands, true);
});

test('pages are followed to the end', async () => {
  await using desk = await DeskBmc.start();
  desk.collection(systems, { '1': { UUID: 'a' }, '2': { UUID: 'b' } });
  const next = { 'Members@odata.nextLink': `http://bmc.internal${systems}/page-2` };
  desk.set(systems, { Members: [{ '@odata.id': `${systems}/1` }], ...next });
  desk.set(`${systems}/page-2`, { Members: [{ '@odata.id': `${systems}/2` }] });
  await using bmc = talkTo(desk);
  assert.equal((await readSystems(bmc)).length, 2);
});

test('a member that cannot be read fails the list: a list without it would be a lie', async () => {
  await using desk = await DeskBmc.start();
  desk.set(systems, { Members: [{ '@odata.id': `${systems}/1` }, { '@odata.id': `${systems}/gone` }] });
  await using bmc = talkTo(desk);
  await assert.rejects(readSystems(bmc), { code: 'NotFound', message: /Systems\/gone/ });
});

test('an empty or missing list of members is no member', async () => {
  await using desk = await DeskBmc.start();
  for (const resource of [{ Members: [] }, { Members: null }, {}]) {
    desk.set(systems, resource);
    await using bmc = talkTo(desk);
    assert.deepEqual(await readSystems(bmc), []);
  }
});
