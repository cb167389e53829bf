import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Server } from '@metal/api/v1alpha1/server.ts';
import { minutes } from '@metal/kube/decide.ts';
import { addInlineServer } from '@metal/lab/inline-server.ts';
import { labsOfFile } from '@metal/lab/lab.ts';

const openLab = labsOfFile();

test('an unknown MAC prefix is explained on the Endpoint', async () => {
  await using lab = await openLab({ macPrefixes: () => 'macPrefixes: []' });
  const [node] = await lab.rack({ dell: 1 });
  assert.ok(node);
  await lab.plugIn(node);
  const endpoint = await lab.endpoint(node).says('UnknownMACPrefix');
  assert.match(
    endpoint.status?.conditions?.[0]?.message ?? '',
    new RegExp(`${node.bmc.macAddress} matches none of the 0 prefixes`),
  );
  assert.equal(lab.bmc(node).now, undefined);
});

test('a wrong password is tried once, and works as soon as the BMCSecret is right', async () => {
  await using lab = await openLab({ speed: 300, flags: ['--bmc-call-timeout=30m'] });
  const node = await lab.fleet.add({ vendor: 'lenovo', password: 'another-one' });
  await lab.plugIn(node);
  const bmc = await lab.bmc(node).says('AuthenticationFailed');
  assert.equal(bmc.status?.state, 'Error');
  await lab.clock.sleep(minutes(20));
  const refused = node.bmc.requests.filter(({ status }) => status === 401);
  assert.equal(refused.length, 1, 'the BMC saw one attempt');

  await lab.patchSecret(node.name, { password: 'another-one' });
  await lab.bmc(node).reaches('Enabled');
  await lab.server(node).says('Available');
});

/** With another BMCSecret than before. */
function isRejectedAnew(before: Server['status']) {
  return ({ status }: Pick<Server, 'status'>): boolean => {
    const { bmcSecretVersion } = status?.rejectedLogin ?? {};
    return bmcSecretVersion !== undefined && bmcSecretVersion !== before?.rejectedLogin?.bmcSecretVersion;
  };
}

test('a password that was put right at the BMC is tried once more for each change of the BMCSecret', async () => {
  await using lab = await openLab({ speed: 100 });
  const node = await lab.fleet.add({ vendor: 'lenovo', password: 'another-one' });
  await lab.plugIn(node);
  const { status } = await lab.bmc(node).explains(/put right at the BMC, annotate the BMCSecret to have it tried/);
  const touch = (word: string) => lab.annotateSecret(node.name, word);

  await touch('now');
  await lab.bmc(node).until('is rejected anew', isRejectedAnew(status));
  assert.equal(node.bmc.access.failedLogins, 2);

  const { data } = await lab.secret(node.name).exists();
  node.bmc.password = Buffer.from(data?.password ?? '', 'base64').toString();
  await touch('and now');
  await lab.bmc(node).reaches('Enabled');
  assert.equal(node.bmc.access.failedLogins, 2);
});

test('an account that got the right to log in is tried when its BMCSecret is annotated', async () => {
  await using lab = await openLab({ speed: 100 });
  const [node] = await lab.rack({ generic: 1 });
  assert.ok(node);
  const logins = { path: '/SessionService/Sessions' };
  node.bmc.answer(403, logins);
  await lab.plugIn(node);
  const bmc = await lab
    .bmc(node)
    .explains(
      /with 403 .*, or give the user the right to log in.* rights were put right at the BMC, annotate the BMCSecret to have it tried/,
    );
  assert.equal(bmc.status?.rejectedLogin?.address, node.bmc.url);
  const askedFor = () => node.bmc.requests.filter(({ path }) => path.endsWith(logins.path)).length;
  assert.equal(askedFor(), 1);

  await node.bmc.heal();
  await lab.annotateSecret(node.name, 'now');
  await lab.bmc(node).reaches('Enabled');
  assert.equal(askedFor(), 2);
});

test('a password that was put right at an inline BMC is tried once more for each change of the BMCSecret', async () => {
  await using lab = await openLab({ speed: 100 });
  const node = await lab.fleet.add({ vendor: 'lenovo', password: 'another-one' });
  const { metadata } = await addInlineServer(lab, node);
  const { status } = await lab
    .server(node)
    .until('is rejected', (server) => server.status?.rejectedLogin !== undefined);
  await lab.server(node).explains(/put right at the BMC, annotate the BMCSecret to have it tried/);
  const touch = (word: string) => lab.annotateSecret(metadata.name, word);

  await touch('now');
  await lab.server(node).until('is rejected anew', isRejectedAnew(status));
  assert.equal(node.bmc.access.failedLogins, 2);

  node.bmc.password = 'fleet-password';
  await touch('and now');
  const server = await lab.server(node).says('Available');
  assert.equal(server.status?.rejectedLogin, undefined);
  assert.equal(node.bmc.access.failedLogins, 2);
});

test('of an inline BMC that is left alone it is said what failed, in the same words for as long as it does', async () => {
  // A call ends when its connection is cut, on a slow machine as well.
  await using lab = await openLab({ speed: 100, flags: ['--bmc-call-timeout=30m'] });
  const node = await lab.fleet.add({ vendor: 'lenovo', password: 'fleet-password' });
  await addInlineServer(lab, node);
  await lab.server(node).says('Available');

  node.bmc.cutConnections();
  const { metadata, status } = await lab.server(node).has('Ready', 'False');
  const { reason, message = '' } = lab.server(node).condition('Ready') ?? {};
  assert.equal(reason, 'Unreachable', message);
  assert.match(message, /closed the connection before it had answered/);
  const asked = node.bmc.requests.length;
  await lab.clock.sleep(minutes(5));
  assert.ok(node.bmc.requests.length > asked, 'it is tried again');
  const { metadata: later, status: said } = await lab.server(node).exists();
  assert.deepEqual([later.resourceVersion, said], [metadata.resourceVersion, status], 'nothing new is said');

  await node.bmc.heal();
  await lab.server(node).says('Available');
});

test('a certificate nobody vouches for is refused, and accepted once it is pinned', async () => {
  await using lab = await openLab({ fleet: { https: true }, flags: ['--protocol=https'] });
  const [node] = await lab.rack({ generic: 1 });
  assert.ok(node);
  await lab.plugIn(node);
  const bmc = await lab.bmc(node).says('TlsUntrusted');
  const message = bmc.status?.conditions?.find(({ type }) => type === 'Ready')?.message ?? '';
  assert.match(message, /not trusted.*fingerprint/s);
  assert.equal(node.bmc.requests.length, 0, 'nothing was said to a stranger');

  await lab.patchBmc(node.name, { spec: { protocol: { tls: { fingerprint: node.bmc.fingerprint } } } });
  await lab.bmc(node).reaches('Enabled');
});

test('a BMC certificate is verified against the CA bundle', async () => {
  await using lab = await openLab({ fleet: { https: true }, flags: ['--protocol=https'], bmcCa: true });
  const [node] = await lab.rack({ generic: 1 });
  assert.ok(node);
  await lab.plugIn(node);
  await lab.server(node).says('Available');
});

test('a BMC that is unreachable is waited for, and the server comes up when it is back', async () => {
  await using lab = await openLab();
  const [node] = await lab.rack({ hpe: 1 });
  assert.ok(node);
  await node.bmc.refuse();
  await lab.plugIn(node);
  const bmc = await lab.bmc(node).says('Unreachable');
  assert.equal(bmc.status?.state, 'Pending');
  await node.bmc.heal();
  await lab.server(node).says('Available');
});

test('a BMC that hangs says so within its deadline and delays nobody else', async () => {
  await using lab = await openLab({ flags: ['--bmc-call-timeout=20s'] });
  const [slow, healthy] = await lab.rack({ hpe: 1, generic: 1 });
  assert.ok(slow && healthy);
  slow.bmc.set({ hang: true });
  await lab.plugIn(slow, healthy);
  await lab.server(healthy).says('Available');
  await lab.bmc(slow).says('TimedOut');
  slow.bmc.set({ hang: false });
  await lab.server(slow).says('Available');
});

test('a slow BMC is only slow', async () => {
  await using lab = await openLab();
  const [node] = await lab.rack({ supermicro: 1 });
  assert.ok(node);
  node.bmc.set({ latencyMs: 2_000 });
  await lab.plugIn(node);
  await lab.server(node).says('Available');
});

for (const [what, faults, reason] of [
  ['answers with a web page', { talksRubbish: true }, 'BadAnswer'],
  ['breaks off in the middle', { truncates: true }, 'BadAnswer'],
  ['has no session and no answer left', { status: 503 }, 'ConnectionFailed'],
  ['fails inside', { status: 500 }, 'InternalServerError'],
] as const) {
  test(`a BMC that ${what} is named for it, and forgiven when it recovers`, async () => {
    await using lab = await openLab();
    const [node] = await lab.rack({ generic: 1 });
    assert.ok(node);
    node.bmc.set(faults);
    await lab.plugIn(node);
    await lab.bmc(node).says(reason);
    await node.bmc.heal();
    await lab.server(node).says('Available');
  });
}

test('two BMCs that report one system UUID: one Server, and a condition on both', async () => {
  await using lab = await openLab({ flags: ['--bmc-resync-interval=10s'] });
  const first = await lab.fleet.add({ vendor: 'generic' });
  const second = await lab.fleet.add({ vendor: 'generic', uuid: first.uuid });
  await lab.plugIn(first);
  await lab.server(first).says('Available');
  await lab.plugIn(second);
  const message = (await lab.bmc(second).says('DuplicateSystemUUID')).status?.conditions?.find(
    ({ type }) => type === 'SystemsAccepted',
  )?.message;
  assert.match(message ?? '', new RegExp(`so has BMC ${first.name}`));
  await lab.bmc(first).says('DuplicateSystemUUID');
  assert.equal([...lab.servers.all()].length, 1);
  assert.deepEqual(second.powerLog, [], 'the surplus machine was not touched');
});

test('a system without anything to tell it by is refused by name', async () => {
  await using lab = await openLab();
  const [node] = await lab.rack({ generic: 1 });
  assert.ok(node);
  node.bmc.set({ anonymous: true });
  await lab.plugIn(node);
  await lab.bmc(node).says('SystemWithoutUUID');
  assert.equal(lab.servers.size, 0);
});

test('a machine that answers with another UUID than its Server is not touched', async () => {
  await using lab = await openLab({ flags: ['--server-resync-interval=10s', '--bmc-resync-interval=10s'] });
  const [node] = await lab.rack({ generic: 1 });
  assert.ok(node);
  await lab.plugIn(node);
  await lab.server(node).says('Available');
  const ons = node.powerLog.length;
  node.bmc.set({ uuid: '11111111-2222-4333-8444-555555555555' });
  const server = await lab.server(node).says('StaleDecision');
  assert.match(
    server.status?.conditions?.find(({ type }) => type === 'Ready')?.message ?? '',
    /nothing is done to it until the two agree/,
  );
  await lab.bmc(node).says('SystemIdentityChanged');
  assert.equal(lab.servers.size, 1, 'it is no second Server, which would be discovered');
  await node.bmc.heal();
  await lab.bmc(node).says('AllSystemsKnown');
  await lab.server(node).says('Available');
  assert.equal(node.powerLog.length, ons);
});

for (const [title, status] of [
  ['says 500 to what it did', 500],
  ['loses its answers', 0],
] as const) {
  test(`a BMC that ${title} is asked once for each change of power`, async () => {
    await using lab = await openLab();
    const [node] = await lab.rack({ generic: 1 });
    assert.ok(node);
    node.bmc.spoilWrites(status, { path: 'ComputerSystem.Reset' });
    await lab.plugIn(node);
    await lab.server(node).says('Available');
    const claim = await lab.claim({ image: 'registry.test/os:1', on: node });
    await lab.server(node).says('ClaimServed');
    await claim.delete();
    await claim.isGone();
    await lab.server(node).says('Available');
    assert.deepEqual(node.powerLog, ['On', 'Off', 'On', 'Off']);
    assert.equal(node.bmc.traffic.byRoute.get('POST /redfish/v1/Systems/{id}/Actions/ComputerSystem.Reset'), 4);
  });

  test(`a BMC that ${title} resets a machine once per request`, async () => {
    await using lab = await openLab();
    const [node] = await lab.rack({ generic: 1 });
    assert.ok(node);
    await lab.plugIn(node);
    const { metadata } = await lab.server(node).says('Available');
    const claim = await lab.claim({ image: 'registry.test/os:1', on: node });
    await lab.server(node).says('ClaimServed');
    node.bmc.spoilWrites(status, { path: 'ComputerSystem.Reset' });
    await lab.patchServer(metadata.name, {
      metadata: { annotations: { 'metal.ironcore.dev/operation': 'hard-restart-server' } },
    });
    await lab.tells(metadata.name, 'OperationUncertain');
    await lab.machine(node).until('runs again', () => node.running?.role === 'os' && node.powerLog.length >= 5);
    await claim.delete();
    await claim.isGone();
    assert.deepEqual(node.powerLog, ['On', 'Off', 'On', 'Off', 'On', 'Off']);
  });
}

test('a machine that never starts ends in Error after some requests, and goes on when a person asks', async () => {
  await using lab = await openLab({ flags: ['--power-polling-timeout=5s', '--power-attempts=3'] });
  const [node] = await lab.rack({ dell: 1 });
  assert.ok(node);
  node.bmc.set({ powerNeverChanges: true });
  await lab.plugIn(node);
  const server = await lab.server(node).says('PowerStuck');
  assert.equal(server.status?.state, 'Error');
  assert.match(server.status?.failure?.message ?? '', /was asked for power On 3 times .* still reports Off/);
  await node.bmc.heal();
  await lab.patchServer(server.metadata.name, {
    metadata: { annotations: { 'metal.ironcore.dev/operation': 'retry' } },
  });
  await lab.server(node).says('Available');
  assert.equal(lab.server(node).now?.status?.failure, undefined);
});

test('a power-on that never happens is named and repeated', async () => {
  await using lab = await openLab({ flags: ['--power-polling-timeout=10s', '--power-attempts=100'] });
  const [node] = await lab.rack({ dell: 1 });
  assert.ok(node);
  node.bmc.set({ powerNeverChanges: true });
  await lab.plugIn(node);
  await lab.server(node).says('WaitingForPowerOn');
  await lab.clock.sleep(minutes(1));
  const asked = node.bmc.requests.filter(({ path }) => path.endsWith('ComputerSystem.Reset')).length;
  assert.ok(asked > 1, 'it is asked for again');
  assert.ok(asked < 10, 'but not all the time');
  await node.bmc.heal();
  await lab.server(node).says('Available');
});

test('a boot override that is ignored ends the attempt, and the next one succeeds', async () => {
  await using lab = await openLab({ flags: ['--discovery-timeout=60s', '--power-polling-timeout=10s'] });
  const [node] = await lab.rack({ generic: 1 });
  assert.ok(node);
  node.bmc.set({ ignoresOverride: true });
  await lab.plugIn(node);
  await lab.server(node).until('has begun a second attempt', ({ status }) => (status?.discoveryAttempts ?? 0) >= 2);
  await node.bmc.heal();
  await lab.server(node).says('Available');
  assert.equal(lab.server(node).now?.status?.discoveryAttempts, 0);
});

test('a server that never reports ends in Error, off, and comes back when a person asks', async () => {
  await using lab = await openLab({
    flags: ['--discovery-timeout=30s', '--discovery-attempts=2', '--power-polling-timeout=10s'],
  });
  const [node] = await lab.rack({ generic: 1 });
  assert.ok(node);
  node.bmc.set({ ignoresOverride: true });
  await lab.plugIn(node);
  const server = await lab.server(node).reaches('Error');
  await node.bmc.heal();
  await lab.patchServer(server.metadata.name, {
    metadata: { annotations: { 'metal.ironcore.dev/operation': 'retry' } },
  });
  await lab.server(node).says('Available');
  assert.equal(lab.server(node).now?.metadata.annotations?.['metal.ironcore.dev/operation'], undefined);
});

test('an ignored shutdown is forced before the server is offered', async () => {
  await using lab = await openLab({ flags: ['--power-polling-timeout=10s'] });
  const [node] = await lab.rack({ generic: 1 });
  assert.ok(node);
  node.bmc.set({ ignoresShutdown: true });
  await lab.plugIn(node);
  await lab.server(node).says('Available');
  assert.equal(node.power, 'Off');
});

test('a server that is found running is left alone until that is allowed', async () => {
  await using lab = await openLab({ flags: ['--server-resync-interval=10s'] });
  const [node] = await lab.rack({ generic: 1 });
  assert.ok(node);
  node.machine.turnOn();
  await lab.machine(node).until('runs', () => node.power === 'On');
  await lab.plugIn(node);
  const server = await lab.server(node).says('RunningServerLeftAlone');
  assert.equal(server.status?.manufacturer, 'Contoso', 'what can be read from outside is there');
  assert.deepEqual(node.powerLog, ['On']);

  node.machine.turnOff();
  await lab.server(node).says('Available');
});

test('a BMC that refuses power to our account is not asked again and again', async () => {
  await using lab = await openLab();
  const [node] = await lab.rack({ generic: 1 });
  assert.ok(node);
  node.bmc.answer(403, { path: '/Actions/ComputerSystem.Reset' });
  await lab.plugIn(node);
  await lab.server(node).says('Forbidden');
  const before = node.bmc.traffic.total;
  await lab.clock.sleep(30_000);
  // Whatever happens to the server meanwhile is a reason to try once more.
  const asked = node.bmc.traffic.total - before;
  assert.ok(asked <= 8, `${asked} requests within half a minute`);
});
