import assert from 'node:assert/strict';
import { test } from 'node:test';
import { StubBmc, type StubBmcOptions, json, openStubClient } from '../../test/stub-bmc.ts';
import { deleteAccount, putAccount, readAccounts, readAccountService } from './accounts.ts';
import { Password } from '../http/password.ts';

const service = '/redfish/v1/AccountService';
const accounts = `${service}/Accounts`;
const desired = { userName: 'operator', roleId: 'Operator', password: new Password('Secret-1"quoted') };
const access = { RoleId: 'Operator', Enabled: true, Password: desired.password.reveal() };

async function stubWith(members: Record<string, object>, options: StubBmcOptions = {}): Promise<StubBmc> {
  const stub = await StubBmc.start(options);
  stub.set(service, { MinPasswordLength: 8, MaxPasswordLength: 20, AccountLockoutThreshold: 3 });
  stub.collection(accounts, members);
  return stub;
}

const changes = (stub: StubBmc) =>
  stub.received
    .filter(({ method, path }) => method !== 'GET' && path.startsWith(accounts))
    .map(({ method, path, body }) => [method, path, body]);

/** A BMC with fixed account slots: POST and DELETE are rejected. */
function withSlots(stub: StubBmc): void {
  stub.intercept = ({ method, path }, response) => {
    const isRejected = (method === 'POST' || method === 'DELETE') && path.startsWith(accounts);
    if (isRejected) json(response, 405, {});
    return isRejected;
  };
}

test('the account service is read with its bounds for passwords', async () => {
  await using stub = await stubWith({});
  await using bmc = openStubClient(stub);
  assert.deepEqual(await readAccountService(bmc), {
    accountsUri: accounts,
    passwords: { minLength: 8, maxLength: 20 },
    lockoutThreshold: 3,
  });
});

test('accounts are read without their missing properties', async () => {
  await using stub = await stubWith({
    '1': { UserName: '', Enabled: false },
    '2': { UserName: 'root', RoleId: 'Administrator', PasswordExpiration: '2026-03-01T01:00:00+01:00' },
    '3': { UserName: 'old', Locked: true, PasswordExpiration: '0001-01-01T00:00:00Z' },
  });
  await using bmc = openStubClient(stub);
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

test('role, password and Enabled of an existing account are set in one request', async () => {
  await using stub = await stubWith({ '1': { UserName: 'root' }, '4': { UserName: 'operator', RoleId: 'ReadOnly' } });
  await using bmc = openStubClient(stub);
  await putAccount(bmc, desired);
  assert.deepEqual(changes(stub), [['PATCH', `${accounts}/4`, access]]);
});

test('a missing account is created', async () => {
  await using stub = await stubWith({ '1': { UserName: 'root' } });
  await using bmc = openStubClient(stub);
  await putAccount(bmc, desired);
  assert.deepEqual(changes(stub), [['POST', accounts, { UserName: 'operator', ...access }]]);
});

test('the first empty slot is filled on a BMC with fixed slots, except the reserved slot 1', async () => {
  await using stub = await stubWith({
    '1': { UserName: '' },
    '2': { UserName: 'root' },
    '3': { UserName: '' },
    '4': { UserName: '' },
  });
  withSlots(stub);
  await using bmc = openStubClient(stub);
  await putAccount(bmc, desired);
  assert.deepEqual(changes(stub).at(-1), ['PATCH', `${accounts}/3`, { UserName: 'operator', ...access }]);
});

test('a BMC without an empty slot is NotSupported', async () => {
  await using stub = await stubWith({ '1': { UserName: '' }, '2': { UserName: 'root' } });
  withSlots(stub);
  await using bmc = openStubClient(stub);
  await assert.rejects(putAccount(bmc, desired), {
    code: 'NotSupported',
    retry: 'blocked',
    message: /2 account slots and all of them are taken/,
  });
});

test('an account is deleted by its name and id, and a missing one is no error', async () => {
  await using stub = await stubWith({ '1': { UserName: 'root' }, '4': { UserName: 'operator' } });
  await using bmc = openStubClient(stub);
  assert.equal(await deleteAccount(bmc, { userName: 'operator', id: '5' }), 'missing');
  assert.equal(await deleteAccount(bmc, { userName: 'nobody' }), 'missing');
  assert.deepEqual(changes(stub), []);
  assert.equal(await deleteAccount(bmc, { userName: 'operator', id: '4' }), 'deleted');
  assert.deepEqual(changes(stub), [['DELETE', `${accounts}/4`, undefined]]);
});

test('a slot that cannot be deleted is emptied and disabled', async () => {
  await using stub = await stubWith({ '4': { UserName: 'operator' } });
  withSlots(stub);
  await using bmc = openStubClient(stub);
  assert.equal(await deleteAccount(bmc, { userName: 'operator' }), 'deleted');
  assert.deepEqual(changes(stub).at(-1), ['PATCH', `${accounts}/4`, { UserName: '', Enabled: false }]);
});

test('an account that disappears during the deletion is no error', async () => {
  await using stub = await stubWith({ '4': { UserName: 'operator' } });
  stub.intercept = ({ method }, response) => {
    if (method === 'DELETE') json(response, 404, {});
    return method === 'DELETE';
  };
  await using bmc = openStubClient(stub);
  assert.equal(await deleteAccount(bmc, { userName: 'operator' }), 'missing');
  stub.intercept = () => false;
});

for (const messageFor of [
  (text: string) => `The value ${text} is not in the acceptable format.`,
  (text: string) => `Rejected: ${JSON.stringify({ Password: text })}`,
  (text: string) => `${'x'.repeat(83)} ${text}`,
]) {
  test('the error of a rejected password does not contain it, although the BMC repeats it', async () => {
    await using stub = await stubWith({ '4': { UserName: 'operator' } });
    stub.intercept = ({ method }, response) => {
      const Message = messageFor(desired.password.reveal());
      if (method === 'PATCH') json(response, 400, { error: { '@Message.ExtendedInfo': [{ Message }] } });
      return method === 'PATCH';
    };
    await using bmc = openStubClient(stub);
    await assert.rejects(putAccount(bmc, desired), (error: Error) => {
      assert.match(error.message, /with 400: .*\*\*\*/);
      return !/Secret|quoted/.test(error.message);
    });
  });
}
