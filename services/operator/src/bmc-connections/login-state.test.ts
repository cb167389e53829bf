import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { BMC } from '@metal/api/v1alpha1/bmc.ts';
import type { BMCSecret } from '@metal/api/v1alpha1/bmc-secret.ts';
import type { Server } from '@metal/api/v1alpha1/server.ts';
import { systemClock } from '@metal/kube/runtime/clock.ts';
import { Store } from '@metal/kube/cache/store.ts';
import { Password } from '@metal/redfish/http/bmc.ts';
import { RedfishError } from '@metal/redfish/errors.ts';
import { BmcConnectionPool } from './connection-pool.ts';
import type { Connection } from './connection.ts';
import type { OperatorCaches } from '../caches.ts';
import type { ObservedBmc } from './observed-bmc.ts';
import { loginOf, observedBmcOf, observedInlineBmcOf } from './login-state.ts';

const apiVersion = 'metal.ironcore.dev/v1alpha1';
const rejection = new RedfishError({ code: 'AuthenticationFailed', message: 'rejected user "root"', status: 401 });
const base64 = (text: string) => Buffer.from(text).toString('base64');

const secretOf = (resourceVersion: string, password: string): BMCSecret => ({
  apiVersion,
  kind: 'BMCSecret',
  metadata: { name: 'a', uid: 'secret', resourceVersion },
  data: { username: base64('root'), password: base64(password) },
});

const at = (host: string, password: string): Connection => ({
  endpoint: { scheme: 'https', host, port: 443, tls: {} },
  username: 'root',
  password: new Password(password),
});

/** One process with a BMCSecret in its cache. */
function operator(secret: BMCSecret, convertsBmcSecrets = true) {
  const bmcSecrets = new Store<BMCSecret>();
  bmcSecrets.upsertIfNewer(secret);
  const bmcConnections = new BmcConnectionPool({ clock: systemClock, random: () => 0, callDeadlineMs: 1_000 });
  // The code under test reads only these.
  const caches = { bmcSecrets } as unknown as OperatorCaches;
  return { bmcConnections, caches, config: { convertsBmcSecrets }, bmcSecrets };
}

const bmcOf = (generation: number, status?: BMC['status']): BMC => ({
  apiVersion,
  kind: 'BMC',
  metadata: { name: 'a', uid: 'bmc', generation },
  spec: { bmcSecretRef: { name: 'a' }, protocol: { name: 'Redfish', port: 443 } },
  ...(status === undefined ? {} : { status }),
});

const secret = secretOf('1', 'wrong');
const connection = at('192.0.2.1', 'wrong');

/** The state of a process after a rejected login over that connection. */
function rejectedOn(connectionName: string, observedIn: (process: ReturnType<typeof operator>) => ObservedBmc) {
  const process = operator(secret);
  observedIn(process);
  process.bmcConnections.recordFailure(connectionName, connection, rejection);
  return { process, rejectedLogin: observedIn(process).rejectedLogin };
}

const rejected = {
  bmcSecretVersion: 'secret/1',
  address: 'https://192.0.2.1:443',
  message: 'rejected user "root"',
};

/** The status that a process records after a rejected login. */
function recorded(): NonNullable<BMC['status']> {
  const { rejectedLogin } = rejectedOn('a', (process) => observedBmcOf(bmcOf(1), connection, process));
  assert.deepEqual(rejectedLogin, { ...rejected, generation: 1 });
  return { rejectedLogin };
}

test('a recorded rejection keeps the next process from connecting', () => {
  const next = operator(secret);
  const { failure, rejectedLogin } = observedBmcOf(bmcOf(1, recorded()), connection, next);
  assert.equal(failure?.error.code, 'AuthenticationFailed');
  assert.equal(failure.error.message, rejection.message);
  assert.deepEqual(rejectedLogin, recorded().rejectedLogin);
  assert.throws(() => next.bmcConnections.getBmc('a', connection), { code: 'AuthenticationFailed' });
});

for (const [what, now, generation, connected] of [
  ['another password', secretOf('2', 'right'), 1, at('192.0.2.1', 'right')],
  ['another version of the BMCSecret', secretOf('2', 'wrong'), 1, connection],
  ['another address', secret, 1, at('192.0.2.2', 'wrong')],
  ['another spec of the BMC', secret, 2, connection],
] as const) {
  test(`${what} is tried by the process that received the rejection`, () => {
    const process = operator(secret);
    process.bmcConnections.getBmc('a', connection);
    process.bmcConnections.recordFailure('a', connection, rejection);
    assert.ok(observedBmcOf(bmcOf(1), connection, process).failure);
    if (now !== secret) process.bmcSecrets.upsertIfNewer(now);
    const observed = observedBmcOf(bmcOf(generation), connected, process);
    assert.equal(observed.failure, undefined);
    assert.equal(observed.rejectedLogin, undefined);
    assert.ok(process.bmcConnections.getBmc('a', connected));
  });

  test(`${what} is tried by the next process`, () => {
    const next = operator(now);
    assert.equal(observedBmcOf(bmcOf(generation, recorded()), connected, next).failure, undefined);
    assert.ok(next.bmcConnections.getBmc('a', connected));
  });
}

test('an observation of this process wins over a recorded rejection', () => {
  const process = operator(secret);
  process.bmcConnections.observedBmc('a', connection);
  process.bmcConnections.recordObservation('a', connection, { at: 1, manager: undefined, systems: [] });
  assert.equal(observedBmcOf(bmcOf(1, recorded()), connection, process).failure, undefined);
});

test('the conversion of a BMCSecret does not change the login', () => {
  const process = operator({ ...secret, data: {}, stringData: { username: 'root', password: 'wrong' } });
  process.bmcConnections.observedBmc('a', connection);
  process.bmcConnections.recordFailure('a', connection, rejection);
  assert.equal(observedBmcOf(bmcOf(1), connection, process).rejectedLogin, undefined);
  process.bmcSecrets.upsertIfNewer(secretOf('2', 'wrong'));
  const { failure, rejectedLogin } = observedBmcOf(bmcOf(1), connection, process);
  assert.equal(failure?.error.code, 'AuthenticationFailed');
  assert.equal(rejectedLogin?.bmcSecretVersion, 'secret/2');
});

test('the login of an unconverted BMCSecret is identified by its version', () => {
  const written = { ...secret, data: {}, stringData: { username: 'root', password: 'wrong' } };
  assert.equal(loginOf({ bmcSecretName: 'a' }, connection, operator(written)), undefined);
  assert.ok(loginOf({ bmcSecretName: 'a' }, connection, operator(written, false)));
  assert.ok(loginOf({ bmcSecretName: 'a' }, connection, operator({ ...written, immutable: true })));
});

const inlineServer = (generation: number, status?: Server['status']): Server => ({
  apiVersion,
  kind: 'Server',
  metadata: { name: 'a', uid: 'server', generation },
  spec: {
    systemUUID: '00000000-0000-0000-0000-000000000001',
    bmc: { protocol: { name: 'Redfish', port: 443 }, address: '192.0.2.1', bmcSecretRef: { name: 'a' } },
  },
  ...(status === undefined ? {} : { status }),
});

const rejectedInline = () =>
  rejectedOn('server/a', (process) => observedInlineBmcOf(inlineServer(1), connection, process));

/** The status of a server whose inline BMC rejected the login. */
function recordedInline(): NonNullable<Server['status']> {
  const { rejectedLogin } = rejectedInline();
  assert.deepEqual(rejectedLogin, rejected);
  return { rejectedLogin };
}

test('a login that an inline BMC rejected is not tried by the next process after other changes of the server', () => {
  const next = operator(secret);
  assert.ok(observedInlineBmcOf(inlineServer(7, recordedInline()), connection, next).failure);
  assert.throws(() => next.bmcConnections.getBmc('server/a', connection), { code: 'AuthenticationFailed' });
});

test('a rejected login stays rejected while the BMC is unreachable', () => {
  const { process, rejectedLogin } = rejectedInline();
  process.bmcConnections.recordFailure(
    'server/a',
    connection,
    new RedfishError({ code: 'Unreachable', message: 'it is away' }),
  );
  assert.deepEqual(observedInlineBmcOf(inlineServer(1), connection, process).rejectedLogin, rejectedLogin);
  process.bmcSecrets.upsertIfNewer(secretOf('2', 'wrong'));
  assert.equal(observedInlineBmcOf(inlineServer(1), connection, process).failure, undefined);
});

for (const [what, now, connected] of [
  ['another version of the BMCSecret', secretOf('2', 'wrong'), connection],
  ['another address', secret, at('192.0.2.2', 'wrong')],
] as const) {
  test(`${what} is tried at an inline BMC, by the process that received the rejection and by the next one`, () => {
    const process = operator(secret);
    observedInlineBmcOf(inlineServer(1), connection, process);
    process.bmcConnections.getBmc('server/a', connection);
    process.bmcConnections.recordFailure('server/a', connection, rejection);
    assert.ok(observedInlineBmcOf(inlineServer(1), connection, process).failure);
    if (now !== secret) process.bmcSecrets.upsertIfNewer(now);
    for (const each of [process, operator(now)]) {
      const { failure, rejectedLogin } = observedInlineBmcOf(inlineServer(1, recordedInline()), connected, each);
      assert.deepEqual([failure, rejectedLogin], [undefined, undefined]);
      assert.ok(each.bmcConnections.getBmc('server/a', connected));
    }
  });
}
