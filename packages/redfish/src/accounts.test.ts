import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DeskBmc, type DeskBmcOptions, json, talkTo, wallClock } from '../test/desk-bmc.ts';
import { deleteAccount, putAccount, readAccounts, readAccountService, tryLogin } from './accounts.ts';
import { Password } from './password.ts';

const service = '/redfish/v1/AccountService';
const accounts = `${service}/Accounts`;
const wish = { userName: 'operator', roleId: 'Operator', password: new Password('Secret-1"quoted') };
const access = { RoleId: 'Operator', Enabled: true, Password: wish.password.reveal() };

async function deskWith(members: Record<string, object>, options: DeskBmcOptions = {}): Promise<DeskBmc> {
  const desk = await DeskBmc.start(options);
  desk.set(service, { MinPasswordLength: 8, MaxPasswordLength: 20, AccountLockoutThreshold: 3 });
  desk.collection(accounts, members);
  return desk;
}

const changes = (desk: DeskBmc) =>
  desk.seen
    .filter(({ method, path }) => method !== 'GET' && path.startsWith(accounts))
    .map(({ method, path, body }) => [method, path, body]);

/** Accounts are slots: nothing can be created or deleted. */
function withSlots(desk: DeskBmc): void {
  desk.intercept = ({ method, path }, response) => {
    const refused = (method === 'POST' || method === 'DELETE') && path.startsWith(accounts);
    if (refused) json(response, 405, {});
    return refused;
  };
}

test('the account service tells its bounds', async () => {
  await using desk = await deskWith({});
  await using bmc = talkTo(desk);
  assert.deepEqual(await readAccountService(bmc), {
    accountsUri: accounts,
    passwords: { minLength: 8, maxLength: 20 },
    lockoutThreshold: 3,
  });
});

test('accounts are read with what is missing left out', async () => {
  await using desk = await deskWith({
    '1': { UserName: '', Enabled: false },
    '2': { UserName: 'root', RoleId: 'Administrator', PasswordExpiration: '2026-03-01T01:00:00+01:00' },
    '3': { UserName: 'old', Locked: true, PasswordExpiration: '0001-01-01T00:00:00Z' },
  });
  await using bmc = talkTo(desk);
  const read = await readAccounts(bmc, { accountsUri: accounts });
  assert.deepEqual(
    read.map(({ id, userName, enabled, locked, passwordExpiration }) => [
      id,
      userName,
      enabled,
      locked,
      passwordExpiration,
    ]),
    [
      ['1', undefined, false, false, undefined],
      ['2', 'root', true, false, '2026-03-01T00:00:00Z'],
      ['3', 'old', true, true, undefined],
    ],
  );
});

test('an account that is there gets role, password and switch in one request', async () => {
  await using desk = await deskWith({ '1': { UserName: 'root' }, '4': { UserName: 'operator', RoleId: 'ReadOnly' } });
  await using bmc = talkTo(desk);
  await putAccount(bmc, wish);
  assert.deepEqual(changes(desk), [['PATCH', `${accounts}/4`, access]]);
});

test('an account that is missing is created', async () => {
  await using desk = await deskWith({ '1': { UserName: 'root' } });
  await using bmc = talkTo(desk);
  await putAccount(bmc, wish);
  assert.deepEqual(changes(desk), [['POST', accounts, { UserName: 'operator', ...access }]]);
});

test('where accounts are slots the first empty one is filled, but never the reserved first', async () => {
  await using desk = await deskWith({
    '1': { UserName: '' },
    '2': { UserName: 'root' },
    '3': { UserName: '' },
    '4': { UserName: '' },
  });
  withSlots(desk);
  await using bmc = talkTo(desk);
  await putAccount(bmc, wish);
  assert.deepEqual(changes(desk).at(-1), ['PATCH', `${accounts}/3`, { UserName: 'operator', ...access }]);
});

test('where every slot is taken the error says so', async () => {
  await using desk = await deskWith({ '1': { UserName: '' }, '2': { UserName: 'root' } });
  withSlots(desk);
  await using bmc = talkTo(desk);
  await assert.rejects(putAccount(bmc, wish), {
    code: 'NotSupported',
    retry: 'blocked',
    message: /2 account slots and all of them are taken/,
  });
});

test('an account is deleted by its name and id, and one that is not there is done', async () => {
  await using desk = await deskWith({ '1': { UserName: 'root' }, '4': { UserName: 'operator' } });
  await using bmc = talkTo(desk);
  assert.equal(await deleteAccount(bmc, { userName: 'operator', id: '5' }), 'missing');
  assert.equal(await deleteAccount(bmc, { userName: 'nobody' }), 'missing');
  assert.deepEqual(changes(desk), []);
  assert.equal(await deleteAccount(bmc, { userName: 'operator', id: '4' }), 'deleted');
  assert.deepEqual(changes(desk), [['DELETE', `${accounts}/4`, undefined]]);
});

test('a slot that cannot be deleted is emptied and switched off', async () => {
  await using desk = await deskWith({ '4': { UserName: 'operator' } });
  withSlots(desk);
  await using bmc = talkTo(desk);
  assert.equal(await deleteAccount(bmc, { userName: 'operator' }), 'deleted');
  assert.deepEqual(changes(desk).at(-1), ['PATCH', `${accounts}/4`, { UserName: '', Enabled: false }]);
});

test('an account that vanishes while it is deleted is done', async () => {
  await using desk = await deskWith({ '4': { UserName: 'operator' } });
  desk.intercept = ({ method }, response) => {
    if (method === 'DELETE') json(response, 404, {});
    return method === 'DELETE';
  };
  await using bmc = talkTo(desk);
  assert.equal(await deleteAccount(bmc, { userName: 'operator' }), 'missing');
  desk.intercept = () => false;
});

for (const words of [
  (text: string) => `The value ${text} is not in the acceptable format.`,
  (text: string) => `Rejected: ${JSON.stringify({ Password: text })}`,
  (text: string) => `${'x'.repeat(293)} ${text}`,
]) {
  test('a BMC that repeats the password it refuses does not get it into the error', async () => {
    await using desk = await deskWith({ '4': { UserName: 'operator' } });
    desk.intercept = ({ method }, response) => {
      const Message = words(wish.password.reveal());
      if (method === 'PATCH') json(response, 400, { error: { '@Message.ExtendedInfo': [{ Message }] } });
      return method === 'PATCH';
    };
    await using bmc = talkTo(desk);
    await assert.rejects(putAccount(bmc, wish), (error: Error) => {
      assert.match(error.message, /with 400: .*\*\*\*/);
      return !/Secret|quoted/.test(error.message);
    });
  });
}

const asked = (desk: DeskBmc, password: string) => ({
  endpoint: desk.endpoint,
  credentials: { username: 'root', password: new Password(password) },
  clock: wallClock,
});

for (const sessions of [true, false]) {
  const kind = sessions ? 'a session' : 'Basic';
  test(`a login is tried once by ${kind}, and leaves nothing behind`, async () => {
    await using desk = await DeskBmc.start({ sessions });
    assert.equal(await tryLogin(asked(desk, 'calvin')), 'accepted');
    assert.equal(desk.tokens.size, 0);
    const before = desk.seen.length;
    assert.equal(await tryLogin(asked(desk, 'wrong')), 'rejected');
    assert.equal(desk.seen.length - before, 2, 'the root, and one attempt');
  });
}

test('an account that may log in but read nothing has the right password', async () => {
  await using desk = await DeskBmc.start();
  desk.intercept = ({ path }, response) => {
    if (path === '/redfish/v1/Systems') json(response, 403, {});
    return path === '/redfish/v1/Systems';
  };
  assert.equal(await tryLogin(asked(desk, 'calvin')), 'accepted');
});

test('an account that may not log in is told from a wrong password', async () => {
  await using desk = await DeskBmc.start();
  desk.intercept = ({ method }, response) => {
    if (method === 'POST') json(response, 403, {});
    return method === 'POST';
  };
  assert.equal(await tryLogin(asked(desk, 'calvin')), 'forbidden');
});

test('a BMC that is not there says nothing about the password', async () => {
  const desk = await DeskBmc.start();
  const options = asked(desk, 'calvin');
  await desk[Symbol.asyncDispose]();
  await assert.rejects(tryLogin(options), { code: 'Unreachable' });
});
