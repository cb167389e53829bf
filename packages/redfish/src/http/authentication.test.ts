import assert from 'node:assert/strict';
import { test } from 'node:test';
import { StubBmc, FakeClock, json, openStubClient } from '../../test/stub-bmc.ts';
import { Password } from './password.ts';
import { readSystem, readSystems } from '../resources/systems.ts';

const sessions = '/redfish/v1/SessionService/Sessions';
const system = '/redfish/v1/Systems/1';
const login = `POST ${sessions}`;

test('one session serves all requests and is closed with the client', async () => {
  await using stub = await StubBmc.start();
  const counts: number[] = [];
  const observer = { request: () => undefined, breaker: () => undefined, sessions: (n: number) => counts.push(n) };
  {
    await using bmc = openStubClient(stub, { observer });
    await Promise.all([readSystem(bmc, system), readSystem(bmc, system), readSystems(bmc)]);
    await readSystem(bmc, system);
    assert.equal(stub.tokens.size, 1);
  }
  assert.equal(stub.count(login), 1);
  assert.equal(stub.count('GET /redfish/v1/'), 1);
  assert.equal(stub.tokens.size, 0, 'logged out');
  assert.deepEqual(counts, [1, 0]);
});

test('the service root is read without credentials and the rest with the session only', async () => {
  await using stub = await StubBmc.start();
  await using bmc = openStubClient(stub);
  await readSystem(bmc, system);
  const [root, , read] = stub.received;
  assert.equal(root?.headers.authorization ?? root?.headers['x-auth-token'], undefined);
  assert.equal(read?.headers['x-auth-token'], 'token-1');
  assert.equal(read?.headers.authorization, undefined);
});

test('an expired session is renewed once for several concurrent requests', async () => {
  await using stub = await StubBmc.start();
  await using bmc = openStubClient(stub);
  await readSystem(bmc, system);
  stub.tokens.clear();
  const states = await Promise.all([1, 2, 3, 4, 5, 6].map(() => readSystem(bmc, system)));
  assert.equal(states.length, 6);
  assert.equal(stub.count(login), 2);
  assert.equal(stub.tokens.size, 1);
});

test('a wrong password is sent once and never again', async () => {
  await using stub = await StubBmc.start();
  await using bmc = openStubClient(stub, { password: 'hunter2' });
  const rejected = { name: 'RedfishError', code: 'AuthenticationFailed', retry: 'blocked', status: 401 };
  await Promise.all([1, 2, 3, 4, 5, 6].map(() => assert.rejects(readSystem(bmc, system), rejected)));
  const traffic = stub.received.length;
  await assert.rejects(readSystem(bmc, system), rejected);
  assert.equal(stub.count(login), 1);
  assert.equal(stub.received.length, traffic, 'nothing is sent after the rejection');
});

test('a rejected password is not in the error', async () => {
  await using stub = await StubBmc.start();
  stub.intercept = ({ method, body }, response) => {
    if (method !== 'POST') return false;
    json(response, 401, { error: { message: `wrong: ${JSON.stringify(body)}` } });
    return true;
  };
  await using bmc = openStubClient(stub, { password: 'hunter2' });
  await assert.rejects(
    readSystem(bmc, system),
    (error: Error) => !JSON.stringify([error.message, error]).includes('hunter2'),
  );
});

test('replaced credentials are sent after a rejection', async () => {
  await using stub = await StubBmc.start();
  await using bmc = openStubClient(stub, { password: 'hunter2' });
  await assert.rejects(readSystem(bmc, system), { code: 'AuthenticationFailed' });
  await bmc.replaceCredentials({ username: 'root', password: new Password('calvin') });
  assert.equal((await readSystem(bmc, system)).powerState, 'Off');
});

test('a wrong password is recognised by the message identifier of a status 400', async () => {
  await using stub = await StubBmc.start();
  stub.intercept = ({ method }, response) => {
    if (method !== 'POST') return false;
    const MessageId = 'iLO.2.14.UnauthorizedLoginAttempt';
    json(response, 400, { error: { '@Message.ExtendedInfo': [{ MessageId }] } });
    return true;
  };
  await using bmc = openStubClient(stub);
  await assert.rejects(readSystem(bmc, system), {
    code: 'AuthenticationFailed',
    messageIds: ['iLO.2.14.UnauthorizedLoginAttempt'],
  });
  await assert.rejects(readSystem(bmc, system), { code: 'AuthenticationFailed' });
  assert.deepEqual(stub.log, ['GET /redfish/v1/', login]);
});

/** Refuses sessions with this status; a gateway offers Basic, and a BMC names no cause. */
function refuseSessions(stub: StubBmc, status: number, headers: Record<string, string> = {}, body: object = {}): void {
  stub.intercept = ({ method }, response) => {
    if (method !== 'POST') return false;
    for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
    json(response, status, body);
    return true;
  };
}

const offer = { 'www-authenticate': 'Basic realm="bmc"' };

for (const [title, status, headers, body] of [
  ['with 403, as sessions are forbidden to the account', 403, {}, {}],
  ['with 401 and without a cause', 401, {}, {}],
  ['with 401 of a gateway that offers Basic', 401, offer, {}],
] as const) {
  test(`a BMC that refuses sessions ${title} is used with Basic, and no session is tried again`, async () => {
    await using stub = await StubBmc.start();
    refuseSessions(stub, status, headers, body);
    await using bmc = openStubClient(stub);
    await Promise.all([readSystem(bmc, system), readSystem(bmc, system), readSystems(bmc)]);
    await readSystem(bmc, system);
    assert.equal(stub.count(login), 1);
  });

  test(`a BMC that refuses sessions ${title} receives a wrong password twice and never again`, async () => {
    await using stub = await StubBmc.start();
    refuseSessions(stub, status, headers, body);
    await using bmc = openStubClient(stub, { password: 'hunter2' });
    // 403 stays: the account may have no right to log in.
    const rejected = { code: 'AuthenticationFailed', status };
    await Promise.all([1, 2, 3, 4].map(() => assert.rejects(readSystem(bmc, system), rejected)));
    await assert.rejects(readSystem(bmc, system), rejected);
    assert.deepEqual([stub.count(login), requestsWithBasic(stub).length], [1, 1]);
    await bmc.replaceCredentials({ username: 'root', password: new Password('hunter3') });
    await assert.rejects(readSystem(bmc, system), rejected);
    assert.deepEqual([stub.count(login), requestsWithBasic(stub).length], [2, 2], 'once per credentials');
  });
}

for (const MessageId of [
  'Base.1.8.ResourceAtUriUnauthorized',
  'Base.1.8.AccessDenied',
  'iBMC.1.0.LoginFailed',
  'iBMC.1.0.UserLocked',
]) {
  test(`a refused session is final where ${MessageId} names the credentials as the cause, although it offers Basic`, async () => {
    await using stub = await StubBmc.start();
    refuseSessions(stub, 401, offer, { error: { '@Message.ExtendedInfo': [{ MessageId }] } });
    await using bmc = openStubClient(stub);
    await assert.rejects(readSystem(bmc, system), { code: 'AuthenticationFailed', status: 401 });
    assert.equal(requestsWithBasic(stub).length, 0);
  });
}

test('access that is denied to sessions with 403 is no verdict about the password', async () => {
  await using stub = await StubBmc.start();
  const MessageId = 'Base.1.8.AccessDenied';
  refuseSessions(stub, 403, {}, { error: { '@Message.ExtendedInfo': [{ MessageId }] } });
  await using bmc = openStubClient(stub);
  assert.equal((await readSystem(bmc, system)).powerState, 'Off');
});

test('a password that Basic has verified and then rejects is rejected with 401, although sessions are forbidden', async () => {
  await using stub = await StubBmc.start();
  refuseSessions(stub, 403);
  await using bmc = openStubClient(stub);
  await readSystem(bmc, system);
  stub.password = 'changed';
  await assert.rejects(readSystem(bmc, system), { code: 'AuthenticationFailed', status: 401 });
  assert.ok(bmc.takesBasic);
});

test('a refused session is final where Basic must not be tried, as for a guessed password', async () => {
  await using stub = await StubBmc.start();
  refuseSessions(stub, 401, offer);
  await using bmc = openStubClient(stub, { basicFallback: false });
  await assert.rejects(readSystem(bmc, system), { code: 'AuthenticationFailed', status: 401 });
  assert.equal(requestsWithBasic(stub).length, 0);
});

test('an account without the right to log in, by session or Basic, is not tried again', async () => {
  await using stub = await StubBmc.start();
  stub.intercept = ({ path }, response) => {
    if (path !== '/redfish/v1/') json(response, 403, {});
    return path !== '/redfish/v1/';
  };
  await using bmc = openStubClient(stub);
  await assert.rejects(readSystem(bmc, system), { code: 'AuthenticationFailed', status: 403 });
  await assert.rejects(readSystem(bmc, system), { code: 'AuthenticationFailed' });
  assert.deepEqual([stub.count(login), requestsWithBasic(stub).length], [1, 1]);
});

for (const withSessions of [true, false]) {
  const kind = withSessions ? 'sessions that end with the change' : 'Basic';
  test(`no request uses the former password while the client changes its own, with ${kind}`, async () => {
    const account = '/redfish/v1/AccountService/Accounts/2';
    await using stub = await StubBmc.start({ sessions: withSessions });
    stub.set(account, { UserName: 'root' });
    await using bmc = openStubClient(stub);
    await readSystem(bmc, system);
    const former: string[] = [];
    const others: Promise<unknown>[] = [];
    const ofFormer = `Basic ${Buffer.from('root:calvin').toString('base64')}`;
    stub.intercept = ({ method, path, headers, body }, response) => {
      const isFormer = headers.authorization === ofFormer || JSON.stringify(body)?.includes('calvin');
      if (isFormer && stub.password !== 'calvin') former.push(`${method} ${path}`);
      if (method !== 'PATCH') return false;
      // The password changes at once; the response follows after other requests have started.
      stub.password = 'new-one';
      stub.tokens.clear();
      others.push(readSystem(bmc, system), readSystems(bmc));
      setImmediate(() => json(response, 204));
      return true;
    };
    const newCredentials = { username: 'root', password: new Password('new-one') };
    await bmc.patch(account, { Password: 'new-one' }, { newCredentials });
    await Promise.all(others);
    assert.equal((await readSystem(bmc, system)).powerState, 'Off');
    assert.deepEqual(former, []);
  });
}

test('the changed password of another account is not used for requests', async () => {
  const account = '/redfish/v1/AccountService/Accounts/3';
  await using stub = await StubBmc.start();
  stub.set(account, { UserName: 'guest' });
  await using bmc = openStubClient(stub);
  const newCredentials = { username: 'guest', password: new Password('new-one') };
  await bmc.patch(account, { Password: 'new-one' }, { newCredentials });
  stub.tokens.clear();
  assert.equal((await readSystem(bmc, system)).powerState, 'Off');
});

test('requests to a BMC without sessions use Basic', async () => {
  await using stub = await StubBmc.start({ sessions: false });
  await using bmc = openStubClient(stub);
  await readSystem(bmc, system);
  assert.deepEqual(stub.log, ['GET /redfish/v1/', `GET ${system}`]);
  assert.match(stub.received[1]?.headers.authorization ?? '', /^Basic /);
});

test('a wrong password is sent once with Basic and never again', async () => {
  await using stub = await StubBmc.start({ sessions: false });
  await using bmc = openStubClient(stub, { password: 'hunter2' });
  await assert.rejects(readSystem(bmc, system), { code: 'AuthenticationFailed', status: 401 });
  await assert.rejects(readSystem(bmc, system), { code: 'AuthenticationFailed' });
  assert.equal(stub.count(`GET ${system}`), 1);
});

/** Rejects sessions; answers Basic requests when `atOnce` of them are pending. */
function respondTogether(stub: StubBmc): { atOnce: number } {
  const held: (() => void)[] = [];
  const batch = { atOnce: 1 };
  stub.intercept = ({ method, path, headers }, response) => {
    if (method === 'POST') json(response, 503, {});
    if (headers.authorization === undefined) return method === 'POST';
    held.push(() => json(response, 200, stub.resources.get(path)));
    // Leaves time for further requests.
    if (held.length === batch.atOnce) setImmediate(() => held.splice(0).forEach((respond) => respond()));
    return true;
  };
  return batch;
}

for (const [where, usesUpSessions] of [
  ['without sessions', false],
  ['without a free session', true],
] as const) {
  test(`a BMC ${where} receives a wrong password once from concurrent requests`, async () => {
    await using stub = await StubBmc.start({ sessions: usesUpSessions });
    stub.intercept = ({ method }, response) => {
      if (method === 'POST') json(response, 503, {});
      return method === 'POST';
    };
    await using bmc = openStubClient(stub, { password: 'hunter2' });
    const reads = [readSystem(bmc, system), readSystems(bmc), readSystem(bmc, system)];
    await Promise.all(reads.map((read) => assert.rejects(read, { code: 'AuthenticationFailed', status: 401 })));
    assert.equal(requestsWithBasic(stub).length, 1);
  });

  test(`a BMC ${where} receives the other requests after the first one succeeds`, async () => {
    await using stub = await StubBmc.start({ sessions: usesUpSessions });
    const batch = respondTogether(stub);
    await using bmc = openStubClient(stub);
    const first = readSystem(bmc, system).then(() => {
      assert.equal(requestsWithBasic(stub).length, 1);
      batch.atOnce = 2;
    });
    await Promise.all([first, readSystem(bmc, system), readSystem(bmc, system)]);
    assert.equal(requestsWithBasic(stub).length, 3);
  });
}

test('the next Basic request is sent alone when the first one fails', async () => {
  await using stub = await StubBmc.start({ sessions: false });
  let failures = 0;
  stub.intercept = ({ path }, response) => {
    if (path !== system || failures > 0) return false;
    failures += 1;
    json(response, 500, {});
    return true;
  };
  await using bmc = openStubClient(stub, { password: 'hunter2' });
  const codes = await Promise.all(
    [1, 2, 3, 4].map(() => readSystem(bmc, system).then(String, ({ code }: { code: string }) => code)),
  );
  assert.deepEqual(codes.toSorted(), [
    'AuthenticationFailed',
    'AuthenticationFailed',
    'AuthenticationFailed',
    'HttpError',
  ]);
  assert.equal(requestsWithBasic(stub).length, 2);
});

test('an aborted caller does not abort the first Basic request of another caller', async () => {
  await using stub = await StubBmc.start({ sessions: false });
  const abortController = new AbortController();
  const reason = new Error('no longer interested');
  stub.intercept = ({ path }) => {
    if (path === system) abortController.abort(reason);
    return false;
  };
  await using bmc = openStubClient(stub);
  const first = readSystem(bmc, system);
  await assert.rejects(readSystem(bmc, system, { signal: abortController.signal }), reason);
  assert.equal((await first).powerState, 'Off');
});

test('a wrong password is sent once with Basic, also when the caller gives up before the response', async () => {
  await using stub = await StubBmc.start({ sessions: false });
  const received = Promise.withResolvers<void>();
  const answered = Promise.withResolvers<void>();
  stub.intercept = ({ path }, response) => {
    if (path !== system) return false;
    received.resolve();
    void answered.promise.then(() => json(response, 401, {}));
    return true;
  };
  await using bmc = openStubClient(stub, { password: 'hunter2' });
  const abortController = new AbortController();
  const reason = new Error('no longer interested');
  const first = assert.rejects(readSystem(bmc, system, { signal: abortController.signal }), reason);
  await received.promise;
  abortController.abort(reason);
  await first;
  const second = assert.rejects(readSystem(bmc, system), { code: 'AuthenticationFailed' });
  answered.resolve();
  await second;
  assert.equal(requestsWithBasic(stub).length, 1);
});

test('a changed password that the BMC stored differently is sent once with Basic from concurrent requests', async () => {
  const account = '/redfish/v1/AccountService/Accounts/2';
  await using stub = await StubBmc.start({ sessions: false });
  stub.set(account, { UserName: 'root' });
  await using bmc = openStubClient(stub);
  await readSystem(bmc, system);
  stub.intercept = ({ method }, response) => {
    if (method !== 'PATCH') return false;
    stub.password = 'new-on';
    json(response, 204);
    return true;
  };
  const newCredentials = { username: 'root', password: new Password('new-one') };
  await bmc.patch(account, { Password: 'new-one' }, { newCredentials });
  const before = requestsWithBasic(stub).length;
  const reads = [1, 2, 3, 4].map(() => readSystem(bmc, system));
  await Promise.all(reads.map((read) => assert.rejects(read, { code: 'AuthenticationFailed' })));
  assert.equal(requestsWithBasic(stub).length - before, 1);
});

for (const status of [400, 500, 503]) {
  test(`requests to a BMC without a free session (${status}) use Basic`, async () => {
    await using stub = await StubBmc.start();
    stub.intercept = ({ method }, response) => {
      if (method === 'POST')
        json(response, status, { error: { message: 'RAC0218: The maximum number of user sessions is reached.' } });
      return method === 'POST';
    };
    await using bmc = openStubClient(stub);
    assert.equal((await readSystem(bmc, system)).powerState, 'Off');
    await readSystem(bmc, system);
    assert.equal(stub.count(login), 1);
  });
}

test('a resource that answers 401 in a fresh session is Forbidden, and no session stays open', async () => {
  await using stub = await StubBmc.start();
  stub.intercept = ({ path }, response) => {
    if (path === system) json(response, 401, {});
    return path === system;
  };
  await using bmc = openStubClient(stub);
  await assert.rejects(readSystem(bmc, system), { code: 'Forbidden', status: 401 });
  assert.equal(stub.tokens.size, 1);
  assert.equal((await readSystems(bmc).catch(() => [])).length, 0);
  assert.equal(stub.tokens.size, 1);
});

test('dispose waits for a running login, so that no session stays open', async () => {
  await using stub = await StubBmc.start();
  const requested = Promise.withResolvers<() => void>();
  let held = false;
  stub.intercept = ({ method }, response) => {
    if (method !== 'POST' || held) return false;
    held = true;
    requested.resolve(() => {
      stub.tokens.add('late');
      json(response, 201, {}, { 'x-auth-token': 'late', location: `${sessions}/late` });
    });
    return true;
  };
  const bmc = openStubClient(stub);
  const read = readSystem(bmc, system).catch(() => undefined);
  const respond = await requested.promise;
  const closing = bmc[Symbol.asyncDispose]();
  respond();
  await Promise.all([read, closing]);
  assert.equal(stub.tokens.size, 0);
});

test('an aborted request does not abort the login that others share', async () => {
  await using stub = await StubBmc.start();
  const abortController = new AbortController();
  const reason = new Error('no longer interested');
  stub.intercept = ({ method }) => {
    if (method === 'POST') abortController.abort(reason);
    return false;
  };
  await using bmc = openStubClient(stub);
  const first = assert.rejects(readSystem(bmc, system, { signal: abortController.signal }), reason);
  assert.equal((await readSystem(bmc, system)).powerState, 'Off');
  await first;
  assert.equal(stub.count(login), 1);
});

test('a disposed client rejects with Closed', async () => {
  await using stub = await StubBmc.start();
  const bmc = openStubClient(stub);
  const requested = Promise.withResolvers<void>();
  stub.intercept = ({ path }) => {
    if (path === system) requested.resolve();
    return path === system;
  };
  const hanging = assert.rejects(readSystem(bmc, system), { code: 'Closed' });
  await requested.promise;
  await bmc[Symbol.asyncDispose]();
  await hanging;
  await assert.rejects(readSystem(bmc, system), { code: 'Closed' });
});

test('a request without ownership is not sent and fails with HandedOver', async () => {
  await using stub = await StubBmc.start();
  let maySend = true;
  await using bmc = openStubClient(stub, { maySend: () => maySend });
  await readSystem(bmc, system);
  maySend = false;
  const traffic = stub.received.length;
  await assert.rejects(readSystem(bmc, system), { code: 'HandedOver', retry: 'later' });
  await assert.rejects(bmc.post(system, {}), { code: 'HandedOver' });
  assert.equal(stub.received.length, traffic);
  assert.equal(bmc.breaker, 'closed', 'no failure of the BMC');
  maySend = true;
});

test('a connection that is established after ownership was lost is closed before the request is written', async () => {
  await using stub = await StubBmc.start();
  let requested = 0;
  // Checked for the request, and again for its connection.
  await using bmc = openStubClient(stub, { maySend: () => (requested += 1) === 1 });
  await assert.rejects(readSystem(bmc, system), { code: 'HandedOver' });
  assert.equal(requested, 2);
  assert.equal(stub.received.length, 0);
});

test('a service root that requires a login does not prevent the login', async () => {
  await using stub = await StubBmc.start();
  stub.intercept = ({ path }, response) => {
    if (path === '/redfish/v1/') json(response, 401, {});
    return path === '/redfish/v1/';
  };
  await using bmc = openStubClient(stub);
  assert.equal((await readSystems(bmc)).length, 1);
});

test('a session is requested again half an hour after the BMC had none free', async () => {
  await using stub = await StubBmc.start();
  const clock = new FakeClock();
  stub.intercept = ({ method }, response) => {
    if (method === 'POST') json(response, 503, {});
    return method === 'POST';
  };
  await using bmc = openStubClient(stub, { clock });
  await readSystem(bmc, system);
  stub.intercept = () => false;
  clock.advance(29 * 60_000);
  await readSystem(bmc, system);
  assert.equal(stub.tokens.size, 0);
  clock.advance(60_000);
  await readSystem(bmc, system);
  assert.equal(stub.tokens.size, 1);
});

test('a password that was verified with Basic needs no second verification when sessions are rejected again', async () => {
  await using stub = await StubBmc.start();
  const clock = new FakeClock();
  const batch = respondTogether(stub);
  await using bmc = openStubClient(stub, { clock });
  await readSystem(bmc, system);
  clock.advance(31 * 60_000);
  batch.atOnce = 2;
  await Promise.all([readSystem(bmc, system), readSystem(bmc, system)]);
});

test('a BMC that hangs does not block dispose', async () => {
  await using stub = await StubBmc.start();
  const clock = new FakeClock();
  const bmc = openStubClient(stub, { clock });
  await readSystem(bmc, system);
  const requested = Promise.withResolvers<void>();
  stub.intercept = () => {
    requested.resolve();
    return true;
  };
  const closing = bmc[Symbol.asyncDispose]();
  await requested.promise;
  clock.advance(2_000);
  await closing;
});

/** Requests with user name and password in the header. */
const requestsWithBasic = ({ received }: StubBmc) =>
  received.filter(({ headers }) => headers.authorization !== undefined);
