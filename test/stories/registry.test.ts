import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { ErasureReport, erasureReportName } from '@metal/api/v1alpha1/erasure-report.ts';
import { Server } from '@metal/api/v1alpha1/server.ts';
import { ServerBootConfiguration } from '@metal/api/v1alpha1/server-boot-configuration.ts';
import { ServerInventory } from '@metal/api/v1alpha1/server-inventory.ts';
import { fetchTrusting } from '@metal/probe/fetch-trusting.ts';
import { runProbe } from '@metal/probe/run-probe.ts';
import { probeReport } from '@metal/api/wire/probe-report.ts';
import { createAuthority } from '@metal/controlplane/certificates.ts';
import { createKubeClient } from '@metal/kube/client/client.ts';
import { keyOf } from '@metal/kube/kinds/kind.ts';
import { clientWith } from '@metal/testenv/cluster/client-with.ts';
import { type RegistryOptions, type RunningRegistry, startRegistry } from '@metal/registry/registry.ts';
import {
  rejectUnreachable,
  type BootingServer,
  directoryWith,
  namespace,
  openServiceFixture,
  rejectPages,
  type ServiceFixture,
  sha256,
} from '@metal/testenv/cluster/service-fixture.ts';

let fixture: ServiceFixture;
let registry: RunningRegistry;

before(async () => {
  fixture = await openServiceFixture();
  registry = await startRegistry(optionsFor());
});
after(async () => {
  await registry[Symbol.asyncDispose]();
  await fixture[Symbol.asyncDispose]();
});

function optionsFor(more: Partial<RegistryOptions> = {}): RegistryOptions {
  const { client, servers, bootConfigurations, inventories, erasures, bootTokenKey, clock, log } = fixture;
  return {
    listen: { host: '127.0.0.1', port: 0 },
    auth: 'token',
    client,
    servers,
    bootConfigurations,
    inventories,
    erasures,
    bootTokenKey,
    clock,
    log,
    ...more,
  };
}

interface HttpResponse {
  status: number;
  code: string | undefined;
  message: string;
  retryAfter: string | null;
}

async function send(
  method: string,
  path: string,
  options: { token?: string | undefined; body?: string; at?: RunningRegistry } = {},
): Promise<HttpResponse> {
  const { token, body, at = registry } = options;
  const headers: Record<string, string> = token === undefined ? {} : { authorization: `Bearer ${token}` };
  const response = await fetch(`${at.url}${path}`, { method, headers, ...(body === undefined ? {} : { body }) });
  const text = await response.text();
  const { code, message } = text.startsWith('{') ? (JSON.parse(text) as { code?: string; message?: string }) : {}; // error bodies have these two
  return { status: response.status, code, message: message ?? text, retryAfter: response.headers.get('retry-after') };
}

const bodyOf = ({ uuid }: Pick<BootingServer, 'uuid'>, more: object = {}): string =>
  JSON.stringify({
    systemUUID: uuid,
    data: {
      timestamp: '2026-01-01T00:00:00Z',
      networkInterfaces: [{ name: 'eth0', macAddress: '52:54:00:00:00:01', ipAddresses: null }],
      ...more,
    },
  });

const report = (
  server: BootingServer,
  options: { token?: string | undefined; body?: string; at?: RunningRegistry } = {},
): Promise<HttpResponse> => send('POST', '/register', { token: server.token, body: bodyOf(server), ...options });

const stored = (name: string): Promise<ServerInventory | undefined> => fixture.client.find(ServerInventory, { name });

test('a report with the token of its boot is stored as a ServerInventory', async () => {
  const server = await fixture.discovering('reports');
  const body = bodyOf(server, { cpu: [{ id: 0, totalCores: 64, vendor: 'AMD' }], unknownSection: 1 });
  const startedAt = Date.now();
  assert.equal((await report(server, { body })).status, 201);
  const inventory = await stored('reports');
  assert.equal(inventory?.spec.bootConfigurationUID, server.boot.metadata.uid);
  assert.equal(inventory?.spec.systemUUID, server.uuid);
  assert.equal(inventory?.spec.reportDigest, sha256(body));
  assert.equal(inventory?.spec.report.cpu[0]?.totalCores, 64);
  assert.deepEqual(inventory?.spec.report.networkInterfaces[0]?.ipAddresses, []);
  assert.ok(
    Date.parse(inventory?.spec.receivedTime ?? '') >= startedAt,
    'the registry sets the arrival time by its own clock',
  );
  const [owner] = inventory?.metadata.ownerReferences ?? [];
  assert.deepEqual([owner?.kind, owner?.name], ['Server', 'reports']);
});

test('the probe and the registry use the same protocol', async () => {
  const server = await fixture.discovering('probed');
  const options = {
    registryUrl: registry.url,
    systemUUID: server.uuid.toUpperCase(),
    token: server.token,
    report: probeReport.parse({}),
    clock: fixture.clock,
    signal: new AbortController().signal,
  };
  assert.deepEqual(await runProbe(options), { status: 201, attempts: 1 });
  assert.deepEqual(await runProbe(options), { status: 200, attempts: 1 });
  await assert.rejects(runProbe({ ...options, token: 'x'.repeat(44) }), { code: 'TokenRefused' });
});

const rejectedTokens: [string, string | undefined, number, string][] = [
  ['no token', undefined, 401, 'TokenMissing'],
  ['an empty token', '', 401, 'TokenMissing'],
  ['a guessed token', 'A'.repeat(44), 403, 'TokenUnknown'],
  ['a very long token', 'A'.repeat(4_000), 403, 'TokenUnknown'],
];
for (const [index, [title, token, status, code]] of rejectedTokens.entries()) {
  test(`a report with ${title} is rejected and leaves nothing behind`, async () => {
    const server = await fixture.discovering(`rejected-${index}`);
    const reply = await report(server, { token });
    assert.deepEqual([reply.status, reply.code], [status, code]);
    assert.equal(await stored(server.name), undefined);
  });
}

test('a repeated report is acknowledged without a write, and a different one is rejected', async () => {
  const server = await fixture.discovering('repeats');
  assert.equal((await report(server)).status, 201);
  const first = await stored('repeats');
  assert.equal((await report(server)).status, 200);
  const other = await report(server, { body: bodyOf(server, { cpu: [{ id: 1 }] }) });
  assert.deepEqual([other.status, other.code], [409, 'ReportedDifferently']);
  assert.equal((await stored('repeats'))?.metadata.resourceVersion, first?.metadata.resourceVersion);
});

test('one of two different reports sent to two replicas at once is stored, and the other is rejected', async () => {
  await using replica = await startRegistry(
    optionsFor({
      inventories: {
        ...fixture.inventories,
        get: () => undefined,
        all: () => [],
        by: () => [],
        size: 0,
        onChange: (listener) => fixture.inventories.onChange(listener),
      },
    }),
  );
  const server = await fixture.discovering('raced');
  const responses = await Promise.all([
    report(server, { body: bodyOf(server, { cpu: [{ id: 0 }] }) }),
    report(server, { body: bodyOf(server, { cpu: [{ id: 1 }] }), at: replica }),
  ]);
  assert.deepEqual(
    responses.map(({ status }) => status).toSorted((a, b) => a - b),
    [201, 409],
  );
});

test('an expired token is rejected', async () => {
  const annotations = { 'metal.ironcore.dev/boot-token-expires': new Date(Date.now() - 1_000).toISOString() };
  const reply = await report(await fixture.discovering('late', { annotations }));
  assert.deepEqual([reply.status, reply.code], [403, 'TokenExpired']);
});

test('the token of another server is rejected, and neither server gets the report', async () => {
  const target = await fixture.discovering('victim');
  const impersonator = await fixture.discovering('thief');
  const reply = await report(target, { token: impersonator.token });
  assert.deepEqual([reply.status, reply.code], [403, 'TokenOfAnotherServer']);
  assert.deepEqual([await stored('victim'), await stored('thief')], [undefined, undefined]);
});

test('the token of an installed system permits no hardware report', async () => {
  const reply = await report(await fixture.booting('installed'));
  assert.deepEqual([reply.status, reply.code], [403, 'TokenNotForReports']);
});

test('the token of an earlier boot is rejected as soon as the server boots something else', async () => {
  const earlier = await fixture.discovering('moved');
  await fixture.bootAgain('moved', earlier.uuid, 'moved-on', {
    annotations: { 'metal.ironcore.dev/type': 'Internal' },
  });
  const reply = await report(earlier);
  assert.deepEqual([reply.status, reply.code], [403, 'BootNotCurrent']);
});

test('the token of a deleted boot configuration is rejected', async () => {
  const server = await fixture.discovering('gone');
  await fixture.client.delete(ServerBootConfiguration, { name: 'gone', namespace });
  const { promise: isGone, resolve } = Promise.withResolvers<void>();
  using _listening = fixture.bootConfigurations.onChange(
    ({ key, after: left }) => key === `${namespace}/gone` && left === undefined && resolve(),
  );
  if (fixture.bootConfigurations.get(`${namespace}/gone`) !== undefined) await isGone;
  assert.equal((await report(server)).code, 'TokenUnknown');
});

test('a report for an unknown UUID is rejected', async () => {
  const server = await fixture.discovering('known');
  const reply = await report(server, { body: bodyOf({ uuid: '00000000-0000-0000-0000-00000000dead' }) });
  assert.deepEqual([reply.status, reply.code], [404, 'ServerUnknown']);
});

test('an oversized body is rejected before it is read', async () => {
  const server = await fixture.discovering('big');
  const reply = await report(server, {
    body: JSON.stringify({ systemUUID: server.uuid, data: { padding: 'x'.repeat(1_100_000) } }),
  });
  assert.deepEqual([reply.status, reply.code], [413, 'BodyTooBig']);
});

test('a report of a large machine is accepted', async () => {
  const server = await fixture.discovering('huge');
  const pciDevices = Array.from({ length: 600 }, (_, index) => ({
    address: `0000:${index}:00.0`,
    vendor: 'A vendor with a long name, Inc.',
    vendorID: '8086',
    product: 'A product with an even longer name, third generation',
    productID: '1234',
  }));
  const cpu = Array.from({ length: 8 }, (_, id) => ({
    id,
    totalCores: 128,
    capabilities: Array.from({ length: 200 }, (_unused, flag) => `flag${flag}`),
  }));
  assert.equal((await report(server, { body: bodyOf(server, { pciDevices, cpu }) })).status, 201);
});

const malformed: [string, string, string, RegExp][] = [
  ['of brackets only', `{"systemUUID":"x","data":${'['.repeat(100_000)}${']'.repeat(100_000)}}`, 'BodyMalformed', /./],
  ['that is not JSON', '{"systemUUID": "hunter2', 'BodyMalformed', /not JSON \(23 bytes\)/],
  ['without anything', '', 'BodyMalformed', /0 bytes/],
  ['that is a list', '[]', 'ReportInvalid', /expected object/],
  ['without a UUID', '{"data":{}}', 'ReportInvalid', /systemUUID/],
  ['without data', '{"systemUUID":"x"}', 'ReportInvalid', /data/],
  [
    'with a number for a list',
    '{"systemUUID":"x","data":{"networkInterfaces":7}}',
    'ReportInvalid',
    /data\.networkInterfaces/,
  ],
];
for (const [index, [title, body, code, message]] of malformed.entries()) {
  test(`a body ${title} is rejected with the field named`, async () => {
    const reply = await report(await fixture.discovering(`malformed-${index}`), { body });
    assert.deepEqual([reply.status, reply.code], [400, code]);
    assert.match(reply.message, message);
    assert.doesNotMatch(reply.message, /hunter2/);
  });
}

test('a small body that exceeds the limit when defaults are filled in is rejected', async () => {
  const server = await fixture.discovering('grows');
  const pciDevices = Array.from({ length: 100_000 }, () => ({}));
  const reply = await report(server, { body: bodyOf(server, { pciDevices }) });
  assert.deepEqual([reply.status, reply.code], [413, 'BodyTooBig']);
});

test('a report that the API server rejects gets a permanent error', async () => {
  const server = await fixture.discovering('unacceptable');
  const reply = await report(server, { body: bodyOf(server, { cpu: [{ id: 2 ** 40 }] }) });
  assert.deepEqual([reply.status, reply.code], [400, 'ReportInvalid']);
});

test('the next discovery boot replaces the report of the previous one', async () => {
  const first = await fixture.discovering('again');
  await report(first, { body: bodyOf(first, { cpu: [{ id: 7, vendor: 'old' }], storage: [{ name: 'sda' }] }) });
  const second = await fixture.bootAgain('again', first.uuid, 'again-2', {
    annotations: { 'metal.ironcore.dev/type': 'Internal' },
  });
  assert.equal((await report(second)).status, 201);
  const inventory = await stored('again');
  assert.equal(inventory?.spec.bootConfigurationUID, second.boot.metadata.uid);
  assert.deepEqual(
    [inventory?.spec.report.cpu, inventory?.spec.report.storage],
    [[], []],
    'nothing of the first report is left',
  );
});

test('the inventory of a deleted server is not used for a new one of the same name', async () => {
  const first = await fixture.discovering('phoenix');
  await report(first);
  const inventory = await stored('phoenix');
  await fixture.client.delete(Server, { name: 'phoenix' });
  await fixture.client.delete(ServerBootConfiguration, { name: 'phoenix', namespace });
  const second = await fixture.discovering('phoenix');
  assert.equal((await report(second)).status, 201);
  const renewed = await stored('phoenix');
  assert.notEqual(renewed?.metadata.uid, inventory?.metadata.uid);
  assert.equal(
    renewed?.metadata.ownerReferences?.[0]?.uid,
    (await fixture.client.get(Server, { name: 'phoenix' })).metadata.uid,
  );
});

test('a boot report of an installed system is recorded once', async () => {
  const server = await fixture.booting('home');
  const call = (booted: boolean) =>
    send('POST', '/bootstate', {
      token: server.token,
      body: JSON.stringify({ systemUUID: server.uuid.toUpperCase(), booted }),
    });
  assert.equal((await call(false)).status, 200);
  using writes = fixture.writesTo(fixture.bootConfigurations, server.boot);
  assert.equal((await call(true)).status, 200);
  assert.equal((await call(true)).status, 200);
  const boot = await fixture.client.get(ServerBootConfiguration, { name: 'home', namespace });
  const [condition, ...others] = boot.status?.conditions ?? [];
  assert.deepEqual(
    [condition?.type, condition?.status, condition?.reason, condition?.message, condition?.observedGeneration],
    ['BootStateReceived', 'True', 'BootStateReceived', 'Server successfully posted boot state', 1],
  );
  assert.deepEqual([others.length, writes.count], [0, 1]);
});

test('a boot report without the token of its boot is rejected', async () => {
  const server = await fixture.booting('quiet');
  const other = await fixture.booting('loud');
  const body = JSON.stringify({ systemUUID: server.uuid, booted: true });
  const responses = await Promise.all([
    send('POST', '/bootstate', { body }),
    send('POST', '/bootstate', { body, token: other.token }),
  ]);
  assert.deepEqual(
    responses.map(({ status }) => status),
    [401, 403],
  );
  assert.equal(
    (await fixture.client.get(ServerBootConfiguration, { name: 'quiet', namespace })).status?.conditions,
    undefined,
  );
});

test('reports are not read or deleted over HTTP where tokens are required', async () => {
  const server = await fixture.discovering('closed');
  await report(server);
  const responses = await Promise.all([
    send('GET', `/systems/${server.uuid}`),
    send('DELETE', `/delete/${server.uuid}`),
    send('GET', '/register'),
    send('GET', '/etc/passwd'),
  ]);
  assert.deepEqual(
    responses.map(({ status }) => status),
    [403, 403, 405, 404],
  );
  assert.equal(responses[2]?.message, 'Only POST method is allowed');
});

test('a client above the rate limit gets 429, and others are served', async () => {
  await using limited = await startRegistry(optionsFor({ rateLimit: { burst: 30, perSecond: 1 } }));
  const responses = await Promise.all(
    Array.from({ length: 40 }, () => send('POST', '/register', { at: limited, body: '{}' })),
  );
  assert.ok(responses.some(({ status }) => status === 401));
  const rejected = responses.find(({ status }) => status === 429);
  assert.ok(Number(rejected?.retryAfter) >= 1);
});

test('a registry without the API server asks for a retry', async () => {
  const server = await fixture.discovering('cut-off');
  await using files = await directoryWith({ kubeconfig: unreachableKubeconfig });
  await using client = createKubeClient({ kubeconfigPath: join(files.path, 'kubeconfig') });
  await using cutOff = await startRegistry(optionsFor({ client }));
  const reply = await report(server, { at: cutOff });
  assert.deepEqual([reply.status, reply.code, reply.retryAfter], [503, 'NotReady', '5']);
});

const unreachableKubeconfig = `apiVersion: v1
kind: Config
current-context: x
clusters: [{name: x, cluster: {server: 'http://127.0.0.1:9'}}]
users: [{name: x, user: {}}]
contexts: [{name: x, context: {cluster: x, user: x}}]
`;

test('a registry with a certificate is accepted only by probes that trust its CA', async () => {
  const authority = await createAuthority('story');
  const tls = await authority.issue({ commonName: 'registry', ipAddresses: ['127.0.0.1'] });
  await using secure = await startRegistry(optionsFor({ tls }));
  const server = await fixture.discovering('secure');
  const options = {
    registryUrl: secure.url,
    systemUUID: server.uuid,
    token: server.token,
    report: probeReport.parse({}),
    clock: fixture.clock,
    signal: new AbortController().signal,
  };
  assert.match(secure.url, /^https:/);
  await assert.rejects(runProbe({ ...options, timeoutMs: 0 }), { code: 'DeadlinePassed' });
  assert.equal((await runProbe({ ...options, fetch: fetchTrusting(authority.certificatePem) })).status, 201);
});

const erasureOf = (
  { uuid, token }: BootingServer,
  more: object,
  options: { token?: string | undefined; at?: RunningRegistry } = {},
): Promise<HttpResponse> => {
  const disk = { serial: 'A', sizeBytes: 100, result: 'Running' };
  const body = JSON.stringify({ systemUUID: uuid, attempt: 1, state: 'Running', disks: [disk], ...more });
  return send('POST', '/erasures', { token, body, ...options });
};
const succeeded = { state: 'Succeeded', disks: [{ serial: 'A', sizeBytes: 100, result: 'Erased', verified: true }] };

/** No operator runs here, so the test writes the state of the server. */
async function erasing(name: string, state = 'Cleanup', mode = 'Purge'): Promise<BootingServer> {
  const annotations = { 'metal.ironcore.dev/cleanup-attempt': '1', 'metal.ironcore.dev/cleanup-mode': mode };
  const server = await fixture.discovering(name, { annotations });
  const formerClaim = { namespace: 'team', name: 'one', uid: 'claim-uid' };
  const status = { state, serialNumber: 'S1', cleanup: { neededSince: '2026-01-01T00:00:00Z', formerClaim } };
  const patched = await fixture.client.mergePatch(Server, { name }, { status }, { subresource: 'status' });
  const isCached = ({ metadata }: Server) => metadata.resourceVersion === patched.metadata.resourceVersion;
  await fixture.until(fixture.servers, name, isCached);
  return server;
}

const erasure = ({ name, boot }: BootingServer): Promise<ErasureReport | undefined> =>
  fixture.client.find(ErasureReport, { name: erasureReportName(name, boot.metadata.uid ?? '') });

test('reports of a cleanup boot are one ErasureReport without owner, whose final state is immutable', async () => {
  const server = await erasing('erased');
  assert.equal((await erasureOf(server, {})).status, 201);
  const first = await erasure(server);
  assert.deepEqual(
    [
      first?.spec.state,
      first?.spec.mode,
      first?.spec.formerClaim?.uid,
      first?.spec.serialNumber,
      first?.metadata.ownerReferences,
    ],
    ['Running', 'Purge', 'claim-uid', 'S1', undefined],
  );
  assert.equal((await erasureOf(server, { message: 'half' })).status, 200, 'too soon to be written');
  assert.equal((await erasure(server))?.metadata.resourceVersion, first?.metadata.resourceVersion);
  assert.equal((await erasureOf(server, succeeded)).status, 201);
  assert.equal((await erasureOf(server, succeeded)).status, 200);
  for (const other of [{}, { state: 'Failed' }, { ...succeeded, message: 'really' }])
    assert.equal((await erasureOf(server, other)).code, 'ReportedDifferently');
  assert.equal((await erasure(server))?.spec.state, 'Succeeded');
});

test('one of two different results of an attempt sent to two replicas at once is stored, and the other is rejected', async () => {
  const server = await erasing('erased-twice');
  assert.equal((await erasureOf(server, {})).status, 201);
  await using second = await startRegistry(optionsFor());
  const responses = await Promise.all([
    erasureOf(server, succeeded),
    erasureOf(server, { state: 'Failed', disks: [] }, { at: second }),
  ]);
  assert.deepEqual(new Set(responses.map(({ status }) => status)), new Set([201, 409]));
});

const rejectedErasures: [string, (name: string) => Promise<HttpResponse>, string][] = [
  ['without a token', async (name) => erasureOf(await erasing(name), succeeded, { token: undefined }), 'TokenMissing'],
  ['of a discovery boot', async (name) => erasureOf(await fixture.discovering(name), succeeded), 'TokenNotForReports'],
  [
    'of another attempt',
    async (name) => erasureOf(await erasing(name), { ...succeeded, attempt: 2 }),
    'ErasureNotOrdered',
  ],
  ['in state Available', async (name) => erasureOf(await erasing(name, 'Available'), succeeded), 'ErasureNotOrdered'],
  [
    'of success with a failed disk',
    async (name) => erasureOf(await erasing(name), { state: 'Succeeded' }),
    'ReportInvalid',
  ],
  [
    'of another server',
    async (name) => erasureOf({ ...(await erasing(name)), uuid: (await erasing(`${name}-other`)).uuid }, succeeded),
    'TokenOfAnotherServer',
  ],
];
for (const [index, [title, act, code]] of rejectedErasures.entries()) {
  test(`an erasure report ${title} is rejected and leaves nothing behind`, async () => {
    const reply = await act(`unordered-${index}`);
    assert.equal(reply.code, code);
    const left = (await fixture.client.list(ErasureReport)).items.filter(
      ({ spec }) => spec.serverRef.name === `unordered-${index}`,
    );
    assert.deepEqual(left, []);
  });
}

test('an erasure can succeed only after it began, unless nothing was to be erased', async () => {
  const server = await erasing('never-began');
  const reply = await erasureOf(server, succeeded);
  assert.deepEqual([reply.status, reply.code], [403, 'ErasureNotBegun']);
  assert.equal(await erasure(server), undefined);
  await using staleReplica = await startRegistry(optionsFor(fixture.withDeadWatches()));
  assert.equal((await erasureOf(server, {})).status, 201);
  assert.equal(
    (await erasureOf(server, succeeded, { at: staleReplica })).status,
    201,
    'another replica received the start',
  );

  const started = await erasing('only-starts', 'Cleanup', 'None');
  assert.equal((await erasureOf(started, { state: 'Succeeded', disks: [] })).status, 201);
});

test('a registry without tokens rejects an erasure result without a token', async () => {
  await using open = await startRegistry(optionsFor({ auth: 'none' }));
  const server = await erasing('erased-openly');
  assert.equal((await erasureOf(server, succeeded, { token: undefined, at: open })).status, 401);
  assert.equal(await erasure(server), undefined);
});

/** Changes of a cleanup while the watches of a registry are dead. */
const stopped: [string, (server: BootingServer) => Promise<unknown>, string][] = [
  [
    'was stopped by a maintenance',
    ({ name }) => fixture.setStatus(name, { state: 'Maintenance' }),
    'ErasureNotOrdered',
  ],
  [
    'is for a Server that is being deleted',
    async ({ name }) => {
      await fixture.client.mergePatch(Server, { name }, { metadata: { finalizers: ['example.com/stays'] } });
      await fixture.client.delete(Server, { name });
    },
    'ErasureNotOrdered',
  ],
  ['is for a deleted Server', ({ name }) => fixture.client.delete(Server, { name }), 'ServerUnknown'],
  ['was replaced by another boot', ({ name, uuid }) => fixture.bootAgain(name, uuid, `${name}-next`), 'BootNotCurrent'],
  [
    'belongs to a boot configuration recreated under the same name',
    async ({ name, uuid, boot }) => {
      await fixture.client.delete(ServerBootConfiguration, boot.metadata);
      await fixture.bootAgain(name, uuid, name, { annotations: boot.metadata.annotations ?? {} });
    },
    'BootNotCurrent',
  ],
];
for (const [index, [title, stop, code]] of stopped.entries()) {
  test(`a registry with dead watches permits no erasure whose cleanup ${title}`, async () => {
    const server = await erasing(`stopped-${index}`);
    await fixture.until(fixture.bootConfigurations, keyOf(server.boot), () => true);
    await using staleReplica = await startRegistry(optionsFor(fixture.withDeadWatches()));
    await stop(server);
    const reply = await erasureOf(server, {}, { at: staleReplica });
    assert.deepEqual([reply.status >= 400 && reply.status < 500, reply.code], [true, code]);
    assert.equal(await erasure(server), undefined);
  });
}

test('a running erasure costs two API requests every 20 s and is stopped by them; each start is checked', async () => {
  const server = await erasing('erases-for-long');
  let ahead = 0;
  const requested: string[] = [];
  const { client: own } = fixture;
  const client = clientWith(
    own,
    {
      find: (kind, ...request) => {
        if (kind.kind !== 'ErasureReport') requested.push(kind.kind);
        return own.find(kind, ...request);
      },
    },
    ['create', 'jsonPatch'],
  );
  const clock: typeof fixture.clock = Object.create(fixture.clock, { now: { value: () => Date.now() + ahead } });
  const deadWatches = { ...fixture.withDeadWatches(), erasures: fixture.erasures };
  await using staleReplica = await startRegistry(optionsFor({ ...deadWatches, client, clock }));
  const reportResult = async (result: string) =>
    (await erasureOf(server, { disks: [{ serial: 'A', sizeBytes: 100, result }] }, { at: staleReplica })).status;
  const both = ['Server', 'ServerBootConfiguration'];
  assert.equal(await reportResult('Pending'), 201);
  assert.deepEqual(requested.splice(0), both);
  assert.equal(await reportResult('Pending'), 200, 'the response was lost, or the agent restarted');
  assert.deepEqual(requested.splice(0), both);
  ahead = 19_000;
  assert.equal(await reportResult('Running'), 201);
  assert.deepEqual(requested.splice(0), []);
  ahead = 21_000;
  assert.equal(await reportResult('Running'), 200);
  assert.deepEqual(requested.splice(0), both);
  await fixture.setStatus(server.name, { state: 'Maintenance' });
  ahead = 40_000;
  assert.equal(await reportResult('Running'), 200);
  assert.equal(await reportResult('Pending'), 403);
  ahead = 42_000;
  assert.equal(await reportResult('Running'), 403);
});

test('a registry with dead watches reads from the API server before it rejects an erasure report', async () => {
  const server = await erasing('not-seen-yet', 'Reserved');
  await using staleReplica = await startRegistry(optionsFor(fixture.withDeadWatches()));
  await fixture.setStatus(server.name, { state: 'Cleanup' });
  const failed = { state: 'Failed', message: 'an unexpected disk', disks: [] };
  assert.equal((await erasureOf(server, failed, { at: staleReplica })).status, 201);
});

test('a hardware report of a cleanup boot is rejected', async () => {
  const server = await erasing('erased-and-seen');
  assert.equal((await report(server)).code, 'TokenNotForReports');
});

test('a boot report of an earlier attempt does not count later', async () => {
  const first = await fixture.discovering('attempts');
  const call = ({ token, uuid }: BootingServer) =>
    send('POST', '/bootstate', { token, body: JSON.stringify({ systemUUID: uuid, booted: true }) });
  assert.equal((await call(first)).status, 200);
  const second = await fixture.bootAgain('attempts', first.uuid, 'attempts-2');
  assert.equal((await call(first)).code, 'BootNotCurrent');
  const stateOf = async ({ boot }: BootingServer) =>
    (await fixture.client.get(ServerBootConfiguration, boot.metadata)).status?.conditions?.[0];
  assert.equal(await stateOf(second), undefined);
  assert.equal((await call(second)).status, 200);
  assert.equal((await stateOf(second))?.observedGeneration, 1);

  await fixture.client.mergePatch(ServerBootConfiguration, second.boot.metadata, { spec: { image: 'another' } });
  assert.equal((await call(second)).status, 200);
  assert.equal((await stateOf(second))?.observedGeneration, 2, 'a changed image needs a new boot report');
});

test('a registry with dead watches accepts the report of a new boot, and answers 503 when it cannot check it', async () => {
  const deadWatches = fixture.withDeadWatches();
  await using staleReplica = await startRegistry(optionsFor(deadWatches));
  const server = await fixture.discovering('prepared-elsewhere');
  const client = clientWith(fixture.client, { pages: rejectPages, find: rejectUnreachable });
  for (const caches of [deadWatches, { ...deadWatches, bootConfigurations: fixture.bootConfigurations }]) {
    await using cutOff = await startRegistry(optionsFor({ ...caches, client }));
    const reply = await report(server, { at: cutOff });
    assert.deepEqual([reply.status, reply.code, reply.retryAfter], [503, 'NotReady', '5']);
  }
  assert.equal((await report(server, { at: staleReplica })).status, 201);
});

test('a late boot report is not recorded on a boot configuration recreated under the same name', async () => {
  const earlier = await fixture.booting('remade');
  await fixture.until(fixture.servers, 'remade', ({ spec }) => spec.bootConfigurationRef !== undefined);
  await fixture.until(fixture.bootConfigurations, keyOf(earlier.boot), () => true);
  await using staleReplica = await startRegistry(optionsFor(fixture.withDeadWatches()));
  await fixture.client.delete(ServerBootConfiguration, earlier.boot.metadata);
  const later = await fixture.bootAgain('remade', earlier.uuid, 'remade');
  const call = (token: string, at: RunningRegistry) =>
    send('POST', '/bootstate', { at, token, body: JSON.stringify({ systemUUID: earlier.uuid, booted: true }) });
  const conditions = async () =>
    (await fixture.client.get(ServerBootConfiguration, later.boot.metadata)).status?.conditions;

  const rejected = await call(earlier.token, staleReplica);
  assert.deepEqual([rejected.status, rejected.retryAfter, await conditions()], [503, '5', undefined]);
  assert.equal((await call(later.token, registry)).status, 200);
  const observed = await conditions();
  assert.equal((await call(earlier.token, staleReplica)).status, 503, 'the report of another system does not count');
  assert.deepEqual(await conditions(), observed);
});

test('error messages of a registry without tokens are those of v0.7.0', async () => {
  await using open = await startRegistry(optionsFor({ auth: 'none' }));
  const server = await fixture.booting('old-words');
  const unbooted = await fixture.booting('never-booted', { current: false });
  const uuid = '00000000-0000-0000-0000-00000000DEAD';
  const states = (systemUUID: string, booted = true) => JSON.stringify({ systemUUID, booted });
  const rows: [string, string, string | undefined, number, string | undefined][] = [
    ['GET', '/register', undefined, 405, 'Only POST method is allowed'],
    ['PUT', '/register', '{}', 405, 'Only POST method is allowed'],
    ['DELETE', '/bootstate', undefined, 405, 'Only POST method is allowed'],
    ['POST', `/systems/${server.uuid}`, '{}', 405, 'Only GET method is allowed'],
    ['GET', `/delete/${server.uuid}`, undefined, 405, 'Only DELETE method is allowed'],
    ['POST', '/register', 'no json', 400, undefined],
    ['POST', '/bootstate', 'no json', 400, undefined],
    ['POST', '/bootstate', states(uuid), 404, `No servers found for system UUID ${uuid}`],
    ['POST', '/bootstate', states(unbooted.uuid), 404, undefined],
    ['POST', '/bootstate', states(uuid, false), 200, ''],
    ['GET', `/systems/${server.uuid}`, undefined, 404, undefined],
    ['GET', '/systems/a/b', undefined, 404, undefined],
    ['DELETE', `/delete/${server.uuid}`, undefined, 404, undefined],
    ['DELETE', `/delete/${uuid}`, undefined, 404, undefined],
  ];
  for (const [method, path, body, status, text] of rows) {
    const response = await fetch(`${open.url}${path}`, { method, ...(body === undefined ? {} : { body }) });
    const reply = await response.text();
    assert.equal(response.status, status, `${method} ${path}: ${reply}`);
    if (status !== 200) assert.equal(response.headers.get('content-type'), 'text/plain; charset=utf-8');
    if (text !== undefined) assert.equal(reply, text);
  }
});

test('a UUID of two Servers is unknown to a registry without tokens', async () => {
  await using open = await startRegistry(optionsFor({ auth: 'none' }));
  const { uuid } = await fixture.booting('twin');
  await fixture.client.create(Server, { metadata: { name: 'twin-2' }, spec: { systemUUID: uuid } });
  const body = JSON.stringify({ systemUUID: uuid.toUpperCase(), booted: true });
  const { status, message } = await send('POST', '/bootstate', { at: open, body });
  assert.deepEqual([status, message], [404, `No servers found for system UUID ${uuid.toUpperCase()}`]);
});

test('probes of v0.7.0 are served when no token is required', async () => {
  await using open = await startRegistry(optionsFor({ auth: 'none' }));
  const server = await fixture.discovering('open');
  assert.equal((await report(server, { at: open, token: undefined })).status, 201);
  await fixture.until(fixture.inventories, 'open', () => true);
  const first = await stored('open');
  assert.equal(first?.spec.bootConfigurationUID, server.boot.metadata.uid);

  const later = bodyOf(server, { timestamp: '2026-01-01T00:00:30Z' });
  assert.equal((await report(server, { at: open, token: undefined, body: later })).status, 201);
  assert.equal(
    (await stored('open'))?.metadata.resourceVersion,
    first?.metadata.resourceVersion,
    'a report with only a newer timestamp is not written',
  );

  const changed = bodyOf(server, { cpu: [{ id: 3 }] });
  assert.equal((await report(server, { at: open, token: undefined, body: changed })).status, 201);
  assert.equal((await stored('open'))?.spec.report.cpu[0]?.id, 3);

  const systems = await fetch(`${open.url}/systems/${server.uuid.toUpperCase()}`);
  assert.match(systems.headers.get('content-type') ?? '', /^application\/json/);
  assert.equal(((await systems.json()) as { cpu: { id: number }[] }).cpu[0]?.id, 3); // the report stored above
  assert.equal((await send('DELETE', `/delete/${server.uuid}`, { at: open })).status, 200);
  assert.equal(await stored('open'), undefined);
  assert.equal(
    (await send('POST', '/bootstate', { at: open, body: JSON.stringify({ systemUUID: server.uuid, booted: true }) }))
      .status,
    200,
  );
});
