import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Server } from '@metal/api/v1alpha1/server.ts';
import { minutes } from '@metal/kube/runtime/durations.ts';
import { addInlineServer } from '@metal/testenv/inline-server.ts';
import { testenvsOfFile } from '@metal/testenv/testenv.ts';

const startTestenv = testenvsOfFile();

test('an unknown MAC prefix is explained on the Endpoint', async () => {
  await using testenv = await startTestenv({ macPrefixes: () => 'macPrefixes: []' });
  const [node] = await testenv.addNodes({ dell: 1 });
  assert.ok(node);
  await testenv.plugIn(node);
  const endpoint = await testenv.endpoint(node).hasReason('UnknownMACPrefix');
  assert.match(
    endpoint.status?.conditions?.[0]?.message ?? '',
    new RegExp(`${node.bmc.macAddress} matches none of the 0 prefixes`),
  );
  assert.equal(testenv.bmc(node).now, undefined);
});

test('a wrong password is tried once, and works as soon as the BMCSecret is right', async () => {
  await using testenv = await startTestenv({ speed: 300, flags: ['--bmc-call-timeout=30m'] });
  const node = await testenv.fleet.add({ vendor: 'lenovo', password: 'another-one' });
  await testenv.plugIn(node);
  const bmc = await testenv.bmc(node).hasReason('AuthenticationFailed');
  assert.equal(bmc.status?.state, 'Error');
  await testenv.clock.sleep(minutes(20));
  const rejected = node.bmc.requests.filter(({ status }) => status === 401);
  assert.equal(rejected.length, 1, 'the BMC saw one attempt');

  await testenv.patchSecret(node.name, { password: 'another-one' });
  await testenv.bmc(node).reaches('Enabled');
  await testenv.server(node).hasReason('Available');
});

/** With another BMCSecret than before. */
function isRejectedAgain(before: Server['status']) {
  return ({ status }: Pick<Server, 'status'>): boolean => {
    const { bmcSecretVersion } = status?.rejectedLogin ?? {};
    return bmcSecretVersion !== undefined && bmcSecretVersion !== before?.rejectedLogin?.bmcSecretVersion;
  };
}

test('a password that was put right at the BMC is tried once more for each change of the BMCSecret', async () => {
  await using testenv = await startTestenv({ speed: 100 });
  const node = await testenv.fleet.add({ vendor: 'lenovo', password: 'another-one' });
  await testenv.plugIn(node);
  const { status } = await testenv
    .bmc(node)
    .hasMessage(/put right at the BMC, annotate the BMCSecret to have it tried/);
  const retry = (value: string) => testenv.annotateSecret(node.name, value);

  await retry('now');
  await testenv.bmc(node).until('is rejected anew', isRejectedAgain(status));
  assert.equal(node.bmc.access.failedLogins, 2);

  const { data } = await testenv.secret(node.name).exists();
  node.bmc.password = Buffer.from(data?.password ?? '', 'base64').toString();
  await retry('and now');
  await testenv.bmc(node).reaches('Enabled');
  assert.equal(node.bmc.access.failedLogins, 2);
});

test('an account that got the right to log in is tried when its BMCSecret is annotated', async () => {
  await using testenv = await startTestenv({ speed: 100 });
  const [node] = await testenv.addNodes({ generic: 1 });
  assert.ok(node);
  const logins = { path: '/SessionService/Sessions' };
  node.bmc.answer(403, logins);
  await testenv.plugIn(node);
  const bmc = await testenv
    .bmc(node)
    .hasMessage(
      /with 403 .*, or give the user the right to log in.* rights were put right at the BMC, annotate the BMCSecret to have it tried/,
    );
  assert.equal(bmc.status?.rejectedLogin?.address, node.bmc.url);
  const countLoginRequests = () => node.bmc.requests.filter(({ path }) => path.endsWith(logins.path)).length;
  assert.equal(countLoginRequests(), 1);

  await node.bmc.heal();
  await testenv.annotateSecret(node.name, 'now');
  await testenv.bmc(node).reaches('Enabled');
  assert.equal(countLoginRequests(), 2);
});

test('a password that was put right at an inline BMC is tried once more for each change of the BMCSecret', async () => {
  await using testenv = await startTestenv({ speed: 100 });
  const node = await testenv.fleet.add({ vendor: 'lenovo', password: 'another-one' });
  const { metadata } = await addInlineServer(testenv, node);
  const { status } = await testenv
    .server(node)
    .until('is rejected', (server) => server.status?.rejectedLogin !== undefined);
  await testenv.server(node).hasMessage(/put right at the BMC, annotate the BMCSecret to have it tried/);
  const retry = (value: string) => testenv.annotateSecret(metadata.name, value);

  await retry('now');
  await testenv.server(node).until('is rejected anew', isRejectedAgain(status));
  assert.equal(node.bmc.access.failedLogins, 2);

  node.bmc.password = 'fleet-password';
  await retry('and now');
  const server = await testenv.server(node).hasReason('Available');
  assert.equal(server.status?.rejectedLogin, undefined);
  assert.equal(node.bmc.access.failedLogins, 2);
});

test('of an inline BMC that is left alone it is said what failed, in the same words for as long as it does', async () => {
  // A call ends when its connection is cut, on a slow machine as well.
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
  assert.ok(node.bmc.requests.length > requestCount, 'it is tried again');
  const { metadata: later, status: laterStatus } = await testenv.server(node).exists();
  assert.deepEqual([later.resourceVersion, laterStatus], [metadata.resourceVersion, status], 'nothing new is said');

  await node.bmc.heal();
  await testenv.server(node).hasReason('Available');
});

test('a certificate nobody vouches for is refused, and accepted once it is pinned', async () => {
  await using testenv = await startTestenv({ fleet: { https: true }, flags: ['--protocol=https'] });
  const [node] = await testenv.addNodes({ generic: 1 });
  assert.ok(node);
  await testenv.plugIn(node);
  const bmc = await testenv.bmc(node).hasReason('TlsUntrusted');
  const message = bmc.status?.conditions?.find(({ type }) => type === 'Ready')?.message ?? '';
  assert.match(message, /not trusted.*fingerprint/s);
  assert.equal(node.bmc.requests.length, 0, 'nothing was said to a stranger');

  await testenv.patchBmc(node.name, { spec: { protocol: { tls: { fingerprint: node.bmc.fingerprint } } } });
  await testenv.bmc(node).reaches('Enabled');
});

test('a BMC certificate is verified against the CA bundle', async () => {
  await using testenv = await startTestenv({ fleet: { https: true }, flags: ['--protocol=https'], bmcCa: true });
  const [node] = await testenv.addNodes({ generic: 1 });
  assert.ok(node);
  await testenv.plugIn(node);
  await testenv.server(node).hasReason('Available');
});

test('a BMC that is unreachable is waited for, and the server comes up when it is back', async () => {
  await using testenv = await startTestenv();
  const [node] = await testenv.addNodes({ hpe: 1 });
  assert.ok(node);
  await node.bmc.refuse();
  await testenv.plugIn(node);
  const bmc = await testenv.bmc(node).hasReason('Unreachable');
  assert.equal(bmc.status?.state, 'Pending');
  await node.bmc.heal();
  await testenv.server(node).hasReason('Available');
});

test('a BMC that hangs says so within its deadline and delays nobody else', async () => {
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

test('a slow BMC is only slow', async () => {
  await using testenv = await startTestenv();
  const [node] = await testenv.addNodes({ supermicro: 1 });
  assert.ok(node);
  node.bmc.set({ latencyMs: 2_000 });
  await testenv.plugIn(node);
  await testenv.server(node).hasReason('Available');
});

for (const [title, faults, reason] of [
  ['answers with a web page', { answersGarbage: true }, 'BadAnswer'],
  ['breaks off in the middle', { truncates: true }, 'BadAnswer'],
  ['has no session and no answer left', { status: 503 }, 'ConnectionFailed'],
  ['fails inside', { status: 500 }, 'InternalServerError'],
] as const) {
  test(`a BMC that ${title} is named for it, and forgiven when it recovers`, async () => {
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

test('two BMCs that report one system UUID: one Server, and a condition on both', async () => {
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
  await testenv.bmc(first).hasReason('DuplicateSystemUUID');
  assert.equal([...testenv.servers.all()].length, 1);
  assert.deepEqual(second.powerLog, [], 'the surplus machine was not touched');
});

test('a system without anything to tell it by is refused by name', async () => {
  await using testenv = await startTestenv();
  const [node] = await testenv.addNodes({ generic: 1 });
  assert.ok(node);
  node.bmc.set({ anonymous: true });
  await testenv.plugIn(node);
  await testenv.bmc(node).hasReason('SystemWithoutUUID');
  assert.equal(testenv.servers.size, 0);
});

test('a machine that answers with another UUID than its Server is not touched', async () => {
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
  assert.equal(testenv.servers.size, 1, 'it is no second Server, which would be discovered');
  await node.bmc.heal();
  await testenv.bmc(node).hasReason('AllSystemsKnown');
  await testenv.server(node).hasReason('Available');
  assert.equal(node.powerLog.length, ons);
});

for (const [title, status] of [
  ['says 500 to what it did', 500],
  ['loses its answers', 0],
] as const) {
  test(`a BMC that ${title} is asked once for each change of power`, async () => {
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

  test(`a BMC that ${title} resets a machine once per request`, async () => {
    await using testenv = await startTestenv();
    const [node] = await testenv.addNodes({ generic: 1 });
    assert.ok(node);
    await testenv.plugIn(node);
    const { metadata } = await testenv.server(node).hasReason('Available');
    const claim = await testenv.claim({ image: 'registry.test/os:1', on: node });
    await testenv.server(node).hasReason('ClaimServed');
    node.bmc.failWriteResponses(status, { path: 'ComputerSystem.Reset' });
    await testenv.patchServer(metadata.name, {
      metadata: { annotations: { 'metal.ironcore.dev/operation': 'hard-restart-server' } },
    });
    await testenv.hasEvent(metadata.name, 'OperationUncertain');
    await testenv.machine(node).until('runs again', () => node.running?.role === 'os' && node.powerLog.length >= 5);
    await claim.delete();
    await claim.isGone();
    assert.deepEqual(node.powerLog, ['On', 'Off', 'On', 'Off', 'On', 'Off']);
  });
}

test('a machine that never starts ends in Error after some requests, and goes on when a person asks', async () => {
  await using testenv = await startTestenv({ flags: ['--power-polling-timeout=5s', '--power-attempts=3'] });
  const [node] = await testenv.addNodes({ dell: 1 });
  assert.ok(node);
  node.bmc.set({ powerNeverChanges: true });
  await testenv.plugIn(node);
  const server = await testenv.server(node).hasReason('PowerStuck');
  assert.equal(server.status?.state, 'Error');
  assert.match(server.status?.failure?.message ?? '', /was asked for power On 3 times .* still reports Off/);
  await node.bmc.heal();
  await testenv.patchServer(server.metadata.name, {
    metadata: { annotations: { 'metal.ironcore.dev/operation': 'retry' } },
  });
  await testenv.server(node).hasReason('Available');
  assert.equal(testenv.server(node).now?.status?.failure, undefined);
});

test('a power-on that never happens is named and repeated', async () => {
  await using testenv = await startTestenv({ flags: ['--power-polling-timeout=10s', '--power-attempts=100'] });
  const [node] = await testenv.addNodes({ dell: 1 });
  assert.ok(node);
  node.bmc.set({ powerNeverChanges: true });
  await testenv.plugIn(node);
  await testenv.server(node).hasReason('WaitingForPowerOn');
  await testenv.clock.sleep(minutes(1));
  const requestCount = node.bmc.requests.filter(({ path }) => path.endsWith('ComputerSystem.Reset')).length;
  assert.ok(requestCount > 1, 'it is asked for again');
  assert.ok(requestCount < 10, 'but not all the time');
  await node.bmc.heal();
  await testenv.server(node).hasReason('Available');
});

test('a boot override that is ignored ends the attempt, and the next one succeeds', async () => {
  await using testenv = await startTestenv({ flags: ['--discovery-timeout=60s', '--power-polling-timeout=10s'] });
  const [node] = await testenv.addNodes({ generic: 1 });
  assert.ok(node);
  node.bmc.set({ ignoresOverride: true });
  await testenv.plugIn(node);
  await testenv.server(node).until('has begun a second attempt', ({ status }) => (status?.discoveryAttempts ?? 0) >= 2);
  await node.bmc.heal();
  await testenv.server(node).hasReason('Available');
  assert.equal(testenv.server(node).now?.status?.discoveryAttempts, 0);
});

test('a server that never reports ends in Error, off, and comes back when a person asks', async () => {
  await using testenv = await startTestenv({
    flags: ['--discovery-timeout=30s', '--discovery-attempts=2', '--power-polling-timeout=10s'],
  });
  const [node] = await testenv.addNodes({ generic: 1 });
  assert.ok(node);
  node.bmc.set({ ignoresOverride: true });
  await testenv.plugIn(node);
  const server = await testenv.server(node).reaches('Error');
  await node.bmc.heal();
  await testenv.patchServer(server.metadata.name, {
    metadata: { annotations: { 'metal.ironcore.dev/operation': 'retry' } },
  });
  await testenv.server(node).hasReason('Available');
  assert.equal(testenv.server(node).now?.metadata.annotations?.['metal.ironcore.dev/operation'], undefined);
});

test('an ignored shutdown is forced before the server is offered', async () => {
  await using testenv = await startTestenv({ flags: ['--power-polling-timeout=10s'] });
  const [node] = await testenv.addNodes({ generic: 1 });
  assert.ok(node);
  node.bmc.set({ ignoresShutdown: true });
  await testenv.plugIn(node);
  await testenv.server(node).hasReason('Available');
  assert.equal(node.power, 'Off');
});

test('a server that is found running is left alone until that is allowed', async () => {
  await using testenv = await startTestenv({ flags: ['--server-resync-interval=10s'] });
  const [node] = await testenv.addNodes({ generic: 1 });
  assert.ok(node);
  node.machine.turnOn();
  await testenv.machine(node).until('runs', () => node.power === 'On');
  await testenv.plugIn(node);
  const server = await testenv.server(node).hasReason('RunningServerLeftAlone');
  assert.equal(server.status?.manufacturer, 'Contoso', 'what can be read from outside is there');
  assert.deepEqual(node.powerLog, ['On']);

  node.machine.turnOff();
  await testenv.server(node).hasReason('Available');
});

test('a BMC that refuses power to our account is not asked again and again', async () => {
  await using testenv = await startTestenv();
  const [node] = await testenv.addNodes({ generic: 1 });
  assert.ok(node);
  node.bmc.answer(403, { path: '/Actions/ComputerSystem.Reset' });
  await testenv.plugIn(node);
  await testenv.server(node).hasReason('Forbidden');
  const before = node.bmc.traffic.total;
  await testenv.clock.sleep(30_000);
  // Whatever happens to the server meanwhile is a reason to try once more.
  const requestCount = node.bmc.traffic.total - before;
  assert.ok(requestCount <= 8, `${requestCount} requests within half a minute`);
});
