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

test('a session that is refused with 403 stays forbidden although Basic is answered with 401', async () => {
  await using stub = await StubBmc.start();
  stub.intercept = ({ method, path }, response) => {
    if (path !== '/redfish/v1/') json(response, method === 'POST' ? 403 : 401, {});
    return path !== '/redfish/v1/';
  };
  assert.equal(await tryLogin(loginOptions(stub, 'calvin')), 'forbidden');
});

/** The service root has these links alone. */
function rootOf(stub: StubBmc, links: object): void {
  stub.intercept = ({ path }, response) => {
    if (path === '/redfish/v1/') json(response, 200, { '@odata.id': path, ...links });
    return path === '/redfish/v1/';
  };
}

test('a login without sessions is verified by a resource that needs it, such as the chassis', async () => {
  await using stub = await StubBmc.start({ sessions: false });
  rootOf(stub, { Chassis: { '@odata.id': '/redfish/v1/Chassis' } });
  stub.collection('/redfish/v1/Chassis', {});
  assert.equal(await tryLogin(loginOptions(stub, 'wrong')), 'rejected');
  assert.equal(await tryLogin(loginOptions(stub, 'calvin')), 'accepted');
});

test('a login that no resource can verify is not accepted', async () => {
  await using stub = await StubBmc.start({ sessions: false });
  rootOf(stub, {});
  await assert.rejects(tryLogin(loginOptions(stub, 'wrong')), { code: 'NotSupported', message: /could be verified/ });
});

test('an unreachable BMC rejects the call instead of the password', async () => {
  const stub = await StubBmc.start();
  const options = loginOptions(stub, 'calvin');
  await stub[Symbol.asyncDispose]();
  await assert.rejects(tryLogin(options), { code: 'Unreachable' });
});
