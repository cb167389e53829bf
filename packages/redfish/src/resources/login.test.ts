import assert from 'node:assert/strict';
import { test } from 'node:test';
import { json, StubBmc, wallClock } from '../../test/stub-bmc.ts';
import { Password } from '../http/password.ts';
import { tryLogin } from './login.ts';

const loginOptions = (stub: StubBmc, password: string) => ({
  endpoint: stub.endpoint,
  credentials: { username: 'root', password: new Password(password) },
  clock: wallClock,
});

for (const sessions of [true, false]) {
  const kind = sessions ? 'a session' : 'Basic';
  test(`a login is tried once with ${kind}, and leaves no session open`, async () => {
    await using stub = await StubBmc.start({ sessions });
    assert.equal(await tryLogin(loginOptions(stub, 'calvin')), 'accepted');
    assert.equal(stub.tokens.size, 0);
    const before = stub.received.length;
    assert.equal(await tryLogin(loginOptions(stub, 'wrong')), 'rejected');
    assert.equal(stub.received.length - before, 2, 'the root, and one attempt');
  });
}

test('an account with the right to log in but not to read has the right password', async () => {
  await using stub = await StubBmc.start();
  stub.intercept = ({ path }, response) => {
    if (path === '/redfish/v1/Systems') json(response, 403, {});
    return path === '/redfish/v1/Systems';
  };
  assert.equal(await tryLogin(loginOptions(stub, 'calvin')), 'accepted');
});

test('an account without the right to log in is distinguished from a wrong password', async () => {
  await using stub = await StubBmc.start();
  stub.intercept = ({ path }, response) => {
    if (path !== '/redfish/v1/') json(response, 403, {});
    return path !== '/redfish/v1/';
  };
  assert.equal(await tryLogin(loginOptions(stub, 'calvin')), 'forbidden');
  assert.equal(stub.received.length, 3, 'one session, and one request with Basic');
});

test('an unreachable BMC rejects the call instead of the password', async () => {
  const stub = await StubBmc.start();
  const options = loginOptions(stub, 'calvin');
  await stub[Symbol.asyncDispose]();
  await assert.rejects(tryLogin(options), { code: 'Unreachable' });
});
