import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Server } from '@metal/api/v1alpha1/server.ts';
import { minutes } from '@metal/kube/runtime/durations.ts';
import { addInlineServer } from '@metal/testenv/fleet/inline-server.ts';
import type { Fleet } from '@metal/simulator/fleet.ts';
import { testenvsOfFile } from '@metal/testenv/testenv.ts';

const startTestenv = testenvsOfFile();

test('an unknown MAC prefix is reported on the Endpoint', async () => {
  await using testenv = await startTestenv({ macPrefixes: () => 'macPrefixes: []' });
  const [node] = await testenv.addNodes({ dell: 1 });
  assert.ok(node);
  await testenv.plugIn(node);
  const endpoint = await testenv.endpoint(node).hasReason('UnknownMACPrefix');
  assert.match(
    endpoint.status?.conditions?.[0]?.message ?? '',
    new RegExp(`${node.bmc.macAddress} matches none of 0 MAC prefixes`),
  );
  assert.equal(testenv.bmc(node).now, undefined);
});

test('a wrong password is tried once, and a corrected BMCSecret is used at once', async () => {
  await using testenv = await startTestenv({ speed: 300, flags: ['--bmc-call-timeout=30m'] });
  const node = await testenv.fleet.add({ vendor: 'lenovo', password: 'another-one' });
  await testenv.plugIn(node);
  const bmc = await testenv.bmc(node).hasReason('AuthenticationFailed');
  assert.equal(bmc.status?.state, 'Error');
  await testenv.clock.sleep(minutes(20));
  const rejected = node.bmc.requests.filter(({ status }) => status === 401);
  assert.equal(rejected.length, 1, 'the BMC saw one attempt');

  await testenv.secrets.setTexts(node.name, { password: 'another-one' });
  await testenv.bmc(node).reaches('Enabled');
  await testenv.server(node).hasReason('Available');
});

/** Changes the BMCSecret. */
function isRejectedAgain(before: Server['status']) {
  return ({ status }: Pick<Server, 'status'>): boolean => {
    const { bmcSecretVersion } = status?.rejectedLogin ?? {};
    return bmcSecretVersion !== undefined && bmcSecretVersion !== before?.rejectedLogin?.bmcSecretVersion;
  };
}

test('a password corrected on the BMC is tried once for each change of the BMCSecret', async () => {
  await using testenv = await startTestenv({ speed: 100 });
  const node = await testenv.fleet.add({ vendor: 'lenovo', password: 'another-one' });
  await testenv.plugIn(node);
  const { status } = await testenv.bmc(node).hasMessage(/and annotate it \(tried-again=<time>\)/);
  const retry = (value: string) => testenv.secrets.annotate(node.name, value);

  await retry('now');
  await testenv.bmc(node).until('is rejected again', isRejectedAgain(status));
  assert.equal(node.bmc.access.failedLogins, 2);

  const { data } = await testenv.secrets.named(node.name).exists();
  node.bmc.password = Buffer.from(data?.password ?? '', 'base64').toString();
  await retry('and now');
  await testenv.bmc(node).reaches('Enabled');
  assert.equal(node.bmc.access.failedLogins, 2);
});

test('an account that gains the login privilege is tried when its BMCSecret is annotated', async () => {
  await using testenv = await startTestenv({ speed: 100 });
  const [node] = await testenv.addNodes({ generic: 1 });
  assert.ok(node);
  node.bmc.answer(403);
  await testenv.plugIn(node);
  const bmc = await testenv
    .bmc(node)
    .hasMessage(/\(403.*, no right to log in\); correct its BMCSecret, or the account/);
  assert.equal(bmc.status?.rejectedLogin?.address, node.bmc.url);
  const countLoginRequests = () =>
    node.bmc.requests.filter(({ path }) => path.endsWith('/SessionService/Sessions')).length;
  assert.equal(countLoginRequests(), 1);

  await node.bmc.heal();
  await testenv.secrets.annotate(node.name, 'now');
  await testenv.bmc(node).reaches('Enabled');
  assert.equal(countLoginRequests(), 2);
});

for (const status of [401, 403])
  test(`a BMC that refuses sessions with ${status} is used with Basic, and a wrong password locks no account`, async () => {
    // A request that timed out on a slow machine would be sent again.
    await using testenv = await startTestenv({ speed: 300, flags: ['--bmc-call-timeout=30m'] });
    const quirks = { lockAfterFailures: 3 };
    const node = await testenv.fleet.add({ vendor: 'generic', password: 'another-one', quirks });
    node.bmc.answer(status, { path: '/SessionService/Sessions' });
    await testenv.plugIn(node);
    const { status: rejected } = await testenv.bmc(node).hasReason('AuthenticationFailed');
    assert.equal(rejected?.rejectedLogin?.address, node.bmc.url);
    await testenv.clock.sleep(minutes(20));
    const countSessions = () => node.bmc.requests.filter(({ path }) => path.endsWith('/Sessions')).length;
    assert.deepEqual([countSessions(), node.bmc.access.failedLogins], [1, 1], 'one session, one request with Basic');

    await testenv.secrets.setTexts(node.name, { password: 'another-one' });
    await testenv.bmc(node).reaches('Enabled');
    await testenv.server(node).hasReason('Available');
    assert.deepEqual(
      [countSessions(), node.bmc.access.failedLogins],
      [2, 1],
      'one session per version of the BMCSecret',
    );
    assert.equal(node.bmc.access.isLocked, false);
  });

test('a password corrected on an inline BMC is tried once for each change of the BMCSecret', async () => {
  await using testenv = await startTestenv({ speed: 100 });
  const node = await testenv.fleet.add({ vendor: 'lenovo', password: 'another-one' });
  const { metadata } = await addInlineServer(testenv, node);
  const { status } = await testenv
    .server(node)
    .until('is rejected', (server) => server.status?.rejectedLogin !== undefined);
  await testenv.server(node).hasMessage(/and annotate it \(tried-again=<time>\)/);
  const retry = (value: string) => testenv.secrets.annotate(metadata.name, value);

  await retry('now');
  await testenv.server(node).until('is rejected again', isRejectedAgain(status));
  assert.equal(node.bmc.access.failedLogins, 2);

  node.bmc.password = 'fleet-password';
  await retry('and now');
  const server = await testenv.server(node).hasReason('Available');
  assert.equal(server.status?.rejectedLogin, undefined);
  assert.equal(node.bmc.access.failedLogins, 2);
});

test('an inline BMC with an open breaker keeps one stable error message', async () => {
  // On a slow machine as well, a call ends because its connection is cut, not by its timeout.
  await using testenv = await startTestenv({ speed: 100, flags: ['--bmc-call-timeout=30m'] });
  const node = await testenv.fleet.add({ vendor: 'lenovo', password: 'fleet-password' });
  await addInlineServer(testenv, node);
  await testenv.server(node).hasReason('Available');

  node.bmc.cutConnections();
  const { metadata, status } = await testenv.server(node).hasCondition('Ready', 'False');
  const { reason, message = '' } = testenv.server(node).condition('Ready') ?? {};
  assert.equal(reason, 'Unreachable', message);
  assert.match(message, /closed the connection before it had answered/);
  const requestCount = node.bmc.requests.length;
  await testenv.clock.sleep(minutes(5));
  assert.ok(node.bmc.requests.length > requestCount, 'the BMC is retried');
  const { metadata: later, status: laterStatus } = await testenv.server(node).exists();
  assert.deepEqual([later.resourceVersion, laterStatus], [metadata.resourceVersion, status], 'nothing new is reported');

  await node.bmc.heal();
  await testenv.server(node).hasReason('Available');
});

test('an untrusted BMC certificate is rejected, and accepted once it is pinned', async () => {
  await using testenv = await startTestenv({ fleet: { https: true }, flags: ['--protocol=https'] });
  const [node] = await testenv.addNodes({ generic: 1 });
  assert.ok(node);
  await testenv.plugIn(node);
  const bmc = await testenv.bmc(node).hasReason('TlsUntrusted');
  const message = bmc.status?.conditions?.find(({ type }) => type === 'Ready')?.message ?? '';
  assert.match(message, /not trusted.*fingerprint/s);
  assert.equal(node.bmc.requests.length, 0, 'nothing was sent to an untrusted BMC');

  await testenv.bmcs.patch(node.name, { spec: { protocol: { tls: { fingerprint: node.bmc.fingerprint } } } });
  await testenv.bmc(node).reaches('Enabled');
});

test('a BMC certificate is verified against the CA bundle', async () => {
  await using testenv = await startTestenv({ fleet: { https: true }, flags: ['--protocol=https'], bmcCa: true });
  const [node] = await testenv.addNodes({ generic: 1 });
  assert.ok(node);
  await testenv.plugIn(node);
  await testenv.server(node).hasReason('Available');
});

/** The MAC prefix database of the fleet, with the authority of the fleet, and a wrong password before the right one. */
const withAuthority = (fleet: Fleet): string =>
  fleet
    .macPrefixFile()
    .replaceAll('    defaultCredentials:\n', '    defaultCredentials:\n      - { username: admin, password: wrong }\n')
    .replaceAll('    type: bmc\n', `    type: bmc\n    tls: { caBundle: ${JSON.stringify(fleet.caPem)} }\n`);

test('a BMC certificate is verified against the CA bundle of its MAC prefix, from the first login on', async () => {
  await using testenv = await startTestenv({
    fleet: { https: true },
    flags: ['--protocol=https', '--bmc-call-timeout=30m'],
    macPrefixes: withAuthority,
    speed: 100,
  });
  const [node] = await testenv.addNodes({ generic: 1 });
  assert.ok(node);
  await testenv.plugIn(node);
  const bmc = await testenv.bmc(node).reaches('Enabled');
  assert.equal(bmc.spec?.protocol.tls?.caBundle, testenv.fleet.caPem);
  assert.equal(node.bmc.access.failedLogins, 1);
});

test('an unreachable BMC is retried, and its server comes up after the BMC recovers', async () => {
  await using testenv = await startTestenv();
  const [node] = await testenv.addNodes({ hpe: 1 });
  assert.ok(node);
  await node.bmc.refuse();
  await testenv.plugIn(node);
  const bmc = await testenv.bmc(node).hasReason('Unreachable');
  assert.equal(bmc.status?.state, 'Pending');
  const { type } = await testenv.hasEvent(node.name, 'Unreachable');
  assert.equal(type, 'Warning');
  await node.bmc.heal();
  await testenv.server(node).hasReason('Available');
});

test('a hanging BMC is reported as TimedOut within its deadline and does not delay other BMCs', async () => {
  await using testenv = await startTestenv({ flags: ['--bmc-call-timeout=20s'] });
  const [slow, healthy] = await testenv.addNodes({ hpe: 1, generic: 1 });
  assert.ok(slow && healthy);
  slow.bmc.set({ hang: true });
  await testenv.plugIn(slow, healthy);
  await testenv.server(healthy).hasReason('Available');
  await testenv.bmc(slow).hasReason('TimedOut');
  slow.bmc.set({ hang: false });
  await testenv.server(slow).hasReason('Available');
});

test('a slow BMC is discovered without an error', async () => {
  await using testenv = await startTestenv();
  const [node] = await testenv.addNodes({ supermicro: 1 });
  assert.ok(node);
  node.bmc.set({ latencyMs: 2_000 });
  await testenv.plugIn(node);
  await testenv.server(node).hasReason('Available');
});

for (const [title, faults, reason] of [
  ['answers with a web page', { answersGarbage: true }, 'BadAnswer'],
  ['truncates its responses', { truncates: true }, 'BadAnswer'],
  ['answers 503 to everything', { status: 503 }, 'ConnectionFailed'],
  ['answers 500 to everything', { status: 500 }, 'InternalServerError'],
] as const) {
  test(`a BMC that ${title} is reported with the matching reason, and recovers`, async () => {
    await using testenv = await startTestenv();
    const [node] = await testenv.addNodes({ generic: 1 });
    assert.ok(node);
    node.bmc.set(faults);
    await testenv.plugIn(node);
    await testenv.bmc(node).hasReason(reason);
    await node.bmc.heal();
    await testenv.server(node).hasReason('Available');
  });
}

test('two BMCs with the same system UUID get one Server, and both report DuplicateSystemUUID', async () => {
  await using testenv = await startTestenv({ flags: ['--bmc-resync-interval=10s'] });
  const first = await testenv.fleet.add({ vendor: 'generic' });
  const second = await testenv.fleet.add({ vendor: 'generic', uuid: first.uuid });
  await testenv.plugIn(first);
  await testenv.server(first).hasReason('Available');
  await testenv.plugIn(second);
  const message = (await testenv.bmc(second).hasReason('DuplicateSystemUUID')).status?.conditions?.find(
    ({ type }) => type === 'SystemsAccepted',
  )?.message;
  assert.match(message ?? '', new RegExp(`so has BMC ${first.name}`));
  await testenv
    .bmc(second)
    .hasMessage(/BMC is connected; a system has no Server \(DuplicateSystemUUID\): see condition/);
  await testenv.hasEvent(await testenv.bmc(second).exists(), 'DuplicateSystemUUID');
  await testenv.bmc(first).hasReason('DuplicateSystemUUID');
  assert.equal([...testenv.servers.all()].length, 1);
  assert.deepEqual(second.powerLog, [], 'the second machine was not touched');
});

test('a system without UUID and serial number is reported as SystemWithoutUUID', async () => {
  await using testenv = await startTestenv();
  const [node] = await testenv.addNodes({ generic: 1 });
  assert.ok(node);
  node.bmc.set({ anonymous: true });
  await testenv.plugIn(node);
  await testenv.bmc(node).hasReason('SystemWithoutUUID');
  assert.equal(testenv.servers.size, 0);
});

test('a machine with a different UUID than its Server is not touched', async () => {
  await using testenv = await startTestenv({ flags: ['--server-resync-interval=10s', '--bmc-resync-interval=10s'] });
  const [node] = await testenv.addNodes({ generic: 1 });
  assert.ok(node);
  await testenv.plugIn(node);
  await testenv.server(node).hasReason('Available');
  const ons = node.powerLog.length;
  node.bmc.set({ uuid: '11111111-2222-4333-8444-555555555555' });
  const server = await testenv.server(node).hasReason('StaleDecision');
  assert.match(
    server.status?.conditions?.find(({ type }) => type === 'Ready')?.message ?? '',
    /nothing is done to it until the two agree/,
  );
  await testenv.bmc(node).hasReason('SystemIdentityChanged');
  assert.equal(testenv.servers.size, 1, 'no second Server was created, which would be discovered');
  await node.bmc.heal();
  await testenv.bmc(node).hasReason('AllSystemsKnown');
  await testenv.server(node).hasReason('Available');
  assert.equal(node.powerLog.length, ons);
});

for (const [title, status] of [
  ['performs a reset but answers 500', 500],
  ['performs a reset but drops the connection', 0],
] as const) {
  test(`a BMC that ${title} gets one request for each power change`, async () => {
    await using testenv = await startTestenv();
    const [node] = await testenv.addNodes({ generic: 1 });
    assert.ok(node);
    node.bmc.failWriteResponses(status, { path: 'ComputerSystem.Reset' });
    await testenv.plugIn(node);
    await testenv.server(node).hasReason('Available');
    const claim = await testenv.claim({ image: 'registry.test/os:1', on: node });
    await testenv.server(node).hasReason('ClaimServed');
    await claim.delete();
    await claim.isGone();
    await testenv.server(node).hasReason('Available');
    assert.deepEqual(node.powerLog, ['On', 'Off', 'On', 'Off']);
    assert.equal(node.bmc.traffic.byRoute.get('POST /redfish/v1/Systems/{id}/Actions/ComputerSystem.Reset'), 4);
  });

  test(`a BMC that ${title} resets a machine once per operation`, async () => {
    await using testenv = await startTestenv();
    const [node] = await testenv.addNodes({ generic: 1 });
    assert.ok(node);
    await testenv.plugIn(node);
    const { metadata } = await testenv.server(node).hasReason('Available');
    const claim = await testenv.claim({ image: 'registry.test/os:1', on: node });
    await testenv.server(node).hasReason('ClaimServed');
    node.bmc.failWriteResponses(status, { path: 'ComputerSystem.Reset' });
    await testenv.servers.patch(metadata.name, {
      metadata: { annotations: { 'metal.ironcore.dev/operation': 'hard-restart-server' } },
    });
    await testenv.hasEvent(metadata.name, 'OperationUncertain');
    await testenv.machine(node).until('runs again', () => node.running?.role === 'os' && node.powerLog.length >= 5);
    await claim.delete();
    await claim.isGone();
    assert.deepEqual(node.powerLog, ['On', 'Off', 'On', 'Off', 'On', 'Off']);
  });
}

test('a machine that never starts ends in Error after a limited number of requests, and recovers on retry', async () => {
  await using testenv = await startTestenv({ flags: ['--power-polling-timeout=5s', '--power-attempts=3'] });
  const [node] = await testenv.addNodes({ dell: 1 });
  assert.ok(node);
  node.bmc.set({ powerNeverChanges: true });
  await testenv.plugIn(node);
  const server = await testenv.server(node).hasReason('PowerStuck');
  assert.equal(server.status?.state, 'Error');
  assert.match(server.status?.failure?.message ?? '', /was asked for power On 3 times .* still reports Off/);
  await node.bmc.heal();
  await testenv.servers.patch(server.metadata.name, {
    metadata: { annotations: { 'metal.ironcore.dev/operation': 'retry' } },
  });
  await testenv.server(node).hasReason('Available');
  assert.equal(testenv.server(node).now?.status?.failure, undefined);
});

test('a power-on without effect is reported and repeated', async () => {
  await using testenv = await startTestenv({ flags: ['--power-polling-timeout=10s', '--power-attempts=100'] });
  const [node] = await testenv.addNodes({ dell: 1 });
  assert.ok(node);
  node.bmc.set({ powerNeverChanges: true });
  await testenv.plugIn(node);
  await testenv.server(node).hasReason('WaitingForPowerOn');
  await testenv.clock.sleep(minutes(1));
  const requestCount = node.bmc.requests.filter(({ path }) => path.endsWith('ComputerSystem.Reset')).length;
  assert.ok(requestCount > 1, 'the power-on is repeated');
  assert.ok(requestCount < 10, 'but with a pause');
  await node.bmc.heal();
  await testenv.server(node).hasReason('Available');
});

test('an ignored boot override ends the discovery attempt, and the next attempt succeeds', async () => {
  // With many attempts: on a slow machine the first one after the repair may time out as well.
  await using testenv = await startTestenv({
    flags: ['--discovery-timeout=60s', '--discovery-attempts=20', '--power-polling-timeout=10s'],
  });
  const [node] = await testenv.addNodes({ generic: 1 });
  assert.ok(node);
  node.bmc.set({ ignoresOverride: true });
  await testenv.plugIn(node);
  await testenv
    .server(node)
    .until('has started a second attempt', ({ status }) => (status?.discoveryAttempts ?? 0) >= 2);
  await node.bmc.heal();
  await testenv.server(node).hasReason('Available');
  assert.equal(testenv.server(node).now?.status?.discoveryAttempts, 0);
});

test('a server without a report ends in Error and off, and recovers on retry', async () => {
  await using testenv = await startTestenv({
    // Long enough for the discovery after the retry on a slow machine.
    flags: ['--discovery-timeout=4m', '--discovery-attempts=1', '--power-polling-timeout=10s'],
  });
  const [node] = await testenv.addNodes({ generic: 1 });
  assert.ok(node);
  node.bmc.set({ ignoresOverride: true });
  await testenv.plugIn(node);
  const server = await testenv.server(node).reaches('Error');
  await node.bmc.heal();
  await testenv.servers.patch(server.metadata.name, {
    metadata: { annotations: { 'metal.ironcore.dev/operation': 'retry' } },
  });
  await testenv.server(node).hasReason('Available');
  assert.equal(testenv.server(node).now?.metadata.annotations?.['metal.ironcore.dev/operation'], undefined);
});

test('an ignored shutdown is forced before the server becomes Available', async () => {
  await using testenv = await startTestenv({ flags: ['--power-polling-timeout=10s'] });
  const [node] = await testenv.addNodes({ generic: 1 });
  assert.ok(node);
  node.bmc.set({ ignoresShutdown: true });
  await testenv.plugIn(node);
  await testenv.server(node).hasReason('Available');
  assert.equal(node.power, 'Off');
});

test('a running server is left alone until interrupting it is allowed', async () => {
  await using testenv = await startTestenv({ flags: ['--server-resync-interval=10s'] });
  const [node] = await testenv.addNodes({ generic: 1 });
  assert.ok(node);
  node.machine.turnOn();
  await testenv.machine(node).until('runs', () => node.power === 'On');
  await testenv.plugIn(node);
  const server = await testenv.server(node).hasReason('RunningServerLeftAlone');
  assert.equal(server.status?.manufacturer, 'Contoso', 'the inventory readable over Redfish is there');
  assert.deepEqual(node.powerLog, ['On']);

  node.machine.turnOff();
  await testenv.server(node).hasReason('Available');
});

test('a BMC that denies power control to the account is retried at a low rate', async () => {
  await using testenv = await startTestenv();
  const [node] = await testenv.addNodes({ generic: 1 });
  assert.ok(node);
  node.bmc.answer(403, { path: '/Actions/ComputerSystem.Reset' });
  await testenv.plugIn(node);
  await testenv.server(node).hasReason('Forbidden');
  const before = node.bmc.traffic.total;
  await testenv.clock.sleep(30_000);
  // Every change of the server meanwhile triggers one more attempt.
  const requestCount = node.bmc.traffic.total - before;
  assert.ok(requestCount <= 8, `${requestCount} requests within half a minute`);
});
