import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { type IncomingHttpHeaders, request } from 'node:http';
import { after, before, test } from 'node:test';
import { ServerBootConfiguration } from '@metal/api/v1alpha1/server-boot-configuration.ts';
import { ServerClaim } from '@metal/api/v1alpha1/server-claim.ts';
import type { Server } from '@metal/api/v1alpha1/server.ts';
import { mintBootToken } from '@metal/api/wire/boot-token.ts';
import { Namespace, Secret } from '@metal/kube/kinds/builtin.ts';
import { eventAbout } from '@metal/testenv/cluster/event-about.ts';
import { type Testenv, startTestenv } from '@metal/testenv/testenv.ts';
import { allowUserData, metadataKubeconfig } from '@metal/testenv/cluster/roles.ts';
import {
  type MetadataOptions,
  type RunningMetadata,
  startMetadata,
  watchMetadataKinds,
} from '@metal/metadata/metadata.ts';
import { addressesOf } from '@metal/metadata/addresses.ts';
import { startOperatorProcess } from '@metal/project/operator-process.ts';
import type { Node } from '@metal/simulator/fleet.ts';
import { pino } from 'pino';

/** Every loopback address belongs to this host, so each simulated machine can have its own source address. */
const addresses = {
  one: '127.0.0.11',
  other: '127.0.0.12',
  free: '127.0.0.13',
  shared: '127.0.0.14',
  unknownClient: '127.0.0.99',
};

let testenv: Testenv;
/** A client whose writes are in the caches when they return. */
let service: RunningMetadata;
let nodes: { one: Node; other: Node; free: Node };

before(async () => {
  testenv = await startTestenv({
    flags: ['--components=controllers,registry,boot,metadata', '--static-metadata=zone=of-the-process'],
  });
  const [one, other, free] = await testenv.addNodes({ generic: 3 });
  assert.ok(one && other && free);
  nodes = { one, other, free };
  await testenv.plugIn(one, other, free);
  for (const [name, node] of Object.entries(nodes)) {
    const server = await testenv.server(node).hasReason('Available');
    await annotate(server, {
      'metal.ironcore.dev/metadata-addresses': Object.entries(addresses).find(([key]) => key === name)?.[1] ?? '',
    });
  }
  for (const name of ['tenant-one', 'tenant-other']) await testenv.client.create(Namespace, { metadata: { name } });
  await userData('tenant-one', 'settings', {
    hostname: 'db-1',
    password: 'correct horse',
    binary: Buffer.from([0, 255, 10]),
  });
  await userData('tenant-other', 'settings', { hostname: 'web-1', password: 'battery staple' });
  await claimFor('tenant-one', 'database', one);
  await claimFor('tenant-other', 'web', other);
  service = await startMetadata(optionsFor());
});
after(async () => {
  await service[Symbol.asyncDispose]();
  await testenv[Symbol.asyncDispose]();
});

const staticMetadata = { zone: 'static', 'nested/key': 'deep', 'user-data-like': 'x' };

function optionsFor(more: Partial<MetadataOptions> = {}): MetadataOptions {
  return {
    listen: { port: 0 },
    auth: 'address',
    client: testenv.client,
    caches: watchMetadataKinds(testenv.caches),
    bootTokenKey: bootKey,
    staticMetadata,
    clock: testenv.clock,
    log: pino({ level: process.env.LAB_LOG ?? 'silent' }, process.stderr),
    ...more,
  };
}

const annotate = ({ metadata }: Server, annotations: Record<string, string | null>): Promise<Server> =>
  testenv.servers.patch(metadata.name, { metadata: { annotations } });

async function userData(
  namespace: string,
  name: string,
  values: Record<string, string | Buffer>,
  type = 'metal.ironcore.dev/user-data',
): Promise<void> {
  const data = Object.fromEntries(
    Object.entries(values).map(([key, value]) => [key, Buffer.from(value).toString('base64')]),
  );
  await testenv.client.create(Secret, { metadata: { namespace, name }, type, data });
}

/** A claim for that machine, served. */
async function claimFor(namespace: string, name: string, node: Node, secret = 'settings'): Promise<ServerClaim> {
  const server = await testenv.server(node).exists();
  const claim = await testenv.client.create(ServerClaim, {
    metadata: { namespace, name },
    spec: {
      power: 'On',
      image: 'registry.test/os:1',
      serverRef: { name: server.metadata.name },
      userDataRef: { name: secret },
    },
  });
  await testenv.server(node).until('is held by the claim', isHeldBy(claim));
  return claim;
}

const isHeldBy =
  ({ metadata }: ServerClaim) =>
  ({ spec, status }: Server): boolean =>
    spec.serverClaimRef?.uid === metadata.uid && status?.state === 'Reserved';

interface HttpResponse {
  status: number;
  type: string | undefined;
  headers: IncomingHttpHeaders;
  bytes: Buffer;
  text: string;
}

interface RequestOptions {
  method?: string;
  headers?: Record<string, string>;
  token?: string;
  at?: string;
}

const flavor = { 'Metadata-Flavor': 'IronCore Metal' };

/** Sends a request to the metadata service from that address. */
async function fetchAs(from: string, path: string, options: RequestOptions = {}): Promise<HttpResponse> {
  const { method = 'GET', headers = flavor, token, at = service.url } = options;
  const bearer = token === undefined ? {} : { authorization: `Bearer ${token}` };
  const sent = request(`${at}${path}`, {
    method,
    localAddress: from,
    agent: false,
    headers: { ...headers, ...bearer },
  });
  sent.end();
  const [response] = await once(sent, 'response');
  const bytes = Buffer.concat(await response.toArray());
  return {
    status: response.statusCode,
    type: response.headers['content-type'],
    headers: response.headers,
    bytes,
    text: bytes.toString(),
  };
}

async function fetchJsonAs(from: string, path: string, options: RequestOptions = {}): Promise<unknown> {
  const { status, type, text } = await fetchAs(from, path, options);
  assert.deepEqual([status, type], [200, 'application/json'], text);
  return JSON.parse(text);
}

test('a claimed machine reads its metadata and the user data of its claim', async () => {
  const { metadata } = await testenv.server(nodes.one).exists();
  const all = {
    zone: 'static',
    'nested/key': 'deep',
    'user-data-like': 'x',
    'server-name': metadata.name,
    'user-data': { hostname: 'db-1', password: 'correct horse', binary: Buffer.from([0, 255, 10]).toString('utf8') },
  };
  assert.deepEqual(await fetchJsonAs(addresses.one, '/v1/'), all);
  assert.deepEqual(await fetchJsonAs(addresses.one, '/v1/user-data'), all['user-data']);
  const name = await fetchAs(addresses.one, '/v1/server-name');
  assert.deepEqual([name.status, name.type, name.text], [200, 'text/plain; charset=utf-8', metadata.name]);
  assert.equal(
    (await fetchAs(addresses.one, '/v1/nested/key')).text,
    'deep',
    'a key with a slash is read like any other',
  );
  const binary = await fetchAs(addresses.one, '/v1/user-data/binary');
  assert.deepEqual([binary.type, [...binary.bytes]], ['text/plain; charset=utf-8', [0, 255, 10]], 'byte for byte');
});

test('a label has priority over an annotation, that over the name, and that over the flag', async () => {
  const key = 'metadata.metal.ironcore.dev/zone';
  const server = await testenv.server(nodes.free).exists();
  const zone = async () => (await fetchAs(addresses.free, '/v1/zone')).text;
  assert.equal(await zone(), 'static');
  await annotate(server, { [key]: 'annotation' });
  assert.equal(await zone(), 'annotation');
  await testenv.servers.patch(server.metadata.name, { metadata: { labels: { [key]: 'label' } } });
  assert.equal(await zone(), 'label');
});

test('a metadata field named user-data does not hide the user data of the claim', async () => {
  const server = await testenv.server(nodes.one).exists();
  await annotate(server, { 'metadata.metal.ironcore.dev/user-data': 'from the annotation' });
  assert.deepEqual(Object.keys((await fetchJsonAs(addresses.one, '/v1/user-data')) as object), [
    'binary',
    'hostname',
    'password',
  ]); // an object of strings
  const free = await testenv.server(nodes.free).exists();
  await annotate(free, { 'metadata.metal.ironcore.dev/user-data': 'from the annotation' });
  assert.equal((await fetchAs(addresses.free, '/v1/user-data')).status, 404);
  assert.equal(
    ((await fetchJsonAs(addresses.free, '/v1/')) as Record<string, unknown>)['user-data'],
    'from the annotation',
  ); // an object
  for (const each of [server, free]) await annotate(each, { 'metadata.metal.ironcore.dev/user-data': null });
});

const wrongHeaders: [string, Record<string, string>][] = [
  ['no header', {}],
  ['another flavor', { 'Metadata-Flavor': 'Google' }],
  ['the right flavor in lower case', { 'Metadata-Flavor': 'ironcore metal' }],
];
for (const [title, headers] of wrongHeaders) {
  test(`a request with ${title} is rejected before it is routed`, async () => {
    for (const [method, path] of [
      ['GET', '/v1/'],
      ['GET', '/v1/user-data'],
      ['POST', '/v1/'],
      ['GET', '/elsewhere'],
    ] as const) {
      const { status, text } = await fetchAs(addresses.unknownClient, path, { method, headers });
      assert.deepEqual([status, text], [403, 'missing required header: Metadata-Flavor: IronCore Metal']);
    }
  });
}

test('the route is checked before the machine, with the status codes of earlier releases', async () => {
  const responses = [
    ['GET', '/v1/', 404],
    ['GET', '/v1', 301],
    ['POST', '/v1/', 405],
    ['DELETE', '/v1/server-name', 405],
    ['PUT', '/v1/user-data/password', 405],
    ['GET', '/v2/', 404],
    ['GET', '/', 404],
  ] as const;
  for (const [method, path, status] of responses)
    assert.equal((await fetchAs(addresses.unknownClient, path, { method })).status, status, `${method} ${path}`);
  assert.equal((await fetchAs(addresses.unknownClient, '/v1')).headers.location, '/v1/');
  assert.equal((await fetchAs(addresses.unknownClient, '/v1/', { method: 'POST' })).headers.allow, 'GET, HEAD');
  for (const path of ['/v1/nothing', '/v1/user-data/nothing', '/v1/user-data/', '/v1/__proto__', '/v1/constructor'])
    assert.equal((await fetchAs(addresses.one, path)).status, 404, path);
});

test('HEAD returns the headers of GET without the body', async () => {
  for (const path of ['/v1/', '/v1/server-name', '/v1/user-data', '/v1/user-data/password']) {
    const [head, get] = [await fetchAs(addresses.one, path, { method: 'HEAD' }), await fetchAs(addresses.one, path)];
    assert.deepEqual(
      [head.status, head.type, head.headers['content-length'], head.text],
      [200, get.type, String(get.bytes.length), ''],
      path,
    );
  }
  assert.equal((await fetchAs(addresses.unknownClient, '/v1/', { method: 'HEAD' })).status, 404);
});

test('a machine reads the user data of its own tenant only, and an unknown client gets 404', async () => {
  assert.deepEqual(await fetchJsonAs(addresses.other, '/v1/user-data'), {
    hostname: 'web-1',
    password: 'battery staple',
  });
  const unknownClient = await fetchAs(addresses.unknownClient, '/v1/user-data');
  assert.deepEqual(
    [unknownClient.status, unknownClient.text],
    [404, 'no server is known by the address of the client'],
  );
  const free = await fetchAs(addresses.free, '/v1/user-data');
  assert.deepEqual([free.status, free.text], [404, 'no user data: no claim holds this server']);
});

test('an address of two servers serves neither, and both servers get a Warning event', async () => {
  const [free, other] = [await testenv.server(nodes.free).exists(), await testenv.server(nodes.other).exists()];
  const key = 'metal.ironcore.dev/metadata-addresses';
  await annotate(free, { [key]: `${addresses.free},${addresses.shared}` });
  assert.equal((await fetchAs(addresses.shared, '/v1/server-name')).text, free.metadata.name);
  await annotate(other, { [key]: `${addresses.other},::ffff:${addresses.shared}` });
  for (const path of ['/v1/', '/v1/server-name', '/v1/user-data', '/v1/server-name']) {
    const { status, text } = await fetchAs(addresses.shared, path);
    assert.deepEqual([status, text.includes(free.metadata.name)], [409, false], 'every time, and without names');
  }
  const event = await eventAbout(testenv.client, other, 'MetadataAddressAmbiguous');
  assert.ok(event.note.startsWith(`${addresses.shared} also belongs to ${free.metadata.name}: `), event.note);
  assert.equal((await eventAbout(testenv.client, free, 'MetadataAddressAmbiguous')).type, 'Warning');
  assert.equal(
    (await fetchAs(addresses.other, '/v1/server-name')).text,
    other.metadata.name,
    'its own address is still served',
  );

  await annotate(free, { [key]: addresses.free });
  assert.equal(
    (await fetchAs(addresses.shared, '/v1/server-name')).text,
    other.metadata.name,
    'the remaining owner is served',
  );
  await annotate(other, { [key]: addresses.other });
  assert.equal((await fetchAs(addresses.shared, '/v1/server-name')).status, 404);
});

test('an invalid address in the annotation is reported by an event on its server', async () => {
  const free = await testenv.server(nodes.free).exists();
  const key = 'metal.ironcore.dev/metadata-addresses';
  await annotate(free, { [key]: `${addresses.free}, node-7.example, fe80::7` });
  const { note: record } = await eventAbout(testenv.client, free, 'MetadataAddressesUnusable');
  assert.match(record, /names node-7\.example, fe80::7: expected IP addresses/);
  assert.equal(
    (await fetchAs(addresses.free, '/v1/server-name')).text,
    free.metadata.name,
    'the valid addresses count',
  );
  await annotate(free, { [key]: addresses.free });
});

test('the addresses reported by the probe count unless an annotation sets others', async () => {
  const { status, metadata } = await testenv.server(nodes.free).exists();
  const seen = (status?.networkInterfaces ?? []).flatMap(({ ips }) => ips ?? []);
  assert.equal(seen.length > 0, true, 'discovery found addresses');
  const server = await testenv.server(nodes.free).exists();
  assert.deepEqual(addressesOf(server), [addresses.free]);
  assert.deepEqual(addressesOf({ ...server, metadata: { name: metadata.name } }), seen);
});

async function tokenOf(node: Node): Promise<string> {
  const { spec } = await testenv.server(node).exists();
  const boot = await testenv.client.get(ServerBootConfiguration, {
    name: spec.bootConfigurationRef?.name ?? '',
    namespace: spec.bootConfigurationRef?.namespace,
  });
  return mintBootToken(await bootKey(), boot.metadata.uid ?? '');
}

async function bootKey(): Promise<Uint8Array> {
  const { data } = await testenv.client.get(Secret, { namespace: 'default', name: 'metal-operator-boot-key' });
  return Buffer.from(data?.key ?? '', 'base64');
}

test('a boot token identifies a machine at any source address', async () => {
  const token = await tokenOf(nodes.one);
  const { metadata } = await testenv.server(nodes.one).exists();
  assert.equal((await fetchAs(addresses.unknownClient, '/v1/server-name', { token })).text, metadata.name);
  assert.equal(
    (await fetchAs(addresses.other, '/v1/user-data/hostname', { token })).text,
    'db-1',
    'the token has priority over the address',
  );
  const guessed = await fetchAs(addresses.one, '/v1/', { token: randomBytes(24).toString('base64url') });
  assert.deepEqual(
    [guessed.status, guessed.text],
    [403, 'the token belongs to no boot configuration, or to one that is gone'],
  );
});

test('an address alone is rejected where tokens are required', async () => {
  await using strict = await startMetadata(optionsFor({ auth: 'token' }));
  const rejected = await fetchAs(addresses.one, '/v1/', { at: strict.url });
  assert.deepEqual(
    [rejected.status, rejected.text],
    [401, 'expected the header "Authorization: Bearer <token of this boot>"'],
  );
  const token = await tokenOf(nodes.one);
  assert.equal((await fetchAs(addresses.one, '/v1/user-data/hostname', { at: strict.url, token })).text, 'db-1');
});

test('a client above the rate limit gets 429 with Retry-After', async () => {
  await using limited = await startMetadata(optionsFor({ rateLimit: { burst: 30, perSecond: 0.01 } }));
  const responses: HttpResponse[] = [];
  for (let count = 0; count < 6; count += 1)
    responses.push(await fetchAs(addresses.one, '/v1/', { at: limited.url, headers: {} }));
  assert.deepEqual(
    responses.map(({ status }) => status),
    [403, 403, 403, 429, 429, 429],
    'a rejected request costs ten tokens',
  );
  assert.ok(Number(responses.at(-1)?.headers['retry-after']) >= 1);
});

test('user data of the wrong Secret type is rejected with a reason, and reported on the claim', async () => {
  const server = await testenv.server(nodes.free).exists();
  await userData('tenant-one', 'plain', { key: 'value' }, 'Opaque');
  const claim = await claimFor('tenant-one', 'mistyped', nodes.free, 'plain');
  for (const path of ['/v1/', '/v1/user-data', '/v1/user-data/key']) {
    const { status, text } = await fetchAs(addresses.free, path);
    assert.deepEqual([status, text], [500, "wrong secret type for user-data 'Opaque'"], path);
  }
  assert.equal((await fetchAs(addresses.free, '/v1/server-name')).text, server.metadata.name, 'the rest is served');
  const { note: record } = await eventAbout(testenv.client, claim, 'UserDataOfWrongType');
  assert.match(record, /^Secret plain is of type Opaque; expected metal\.ironcore\.dev\/user-data/);

  await testenv.client.delete(Secret, { namespace: 'tenant-one', name: 'plain' });
  const gone = await fetchAs(addresses.free, '/v1/user-data');
  assert.deepEqual([gone.status, gone.text], [404, 'no user data: the Secret that the claim refers to does not exist']);
});

test('the user data of a claim recreated under the same name is served only after that claim is bound', async () => {
  const server = await testenv.server(nodes.free).exists();
  const ref = { namespace: 'tenant-one', name: 'mistyped' };
  // An administrator pauses the server and deletes the claim with its finalizer.
  await annotate(server, { 'metal.ironcore.dev/operation': 'ignore' });
  await testenv.client.delete(ServerClaim, ref);
  await testenv.client.mergePatch(ServerClaim, ref, { metadata: { finalizers: null } });
  const gone = await fetchAs(addresses.free, '/v1/user-data');
  assert.deepEqual([gone.status, gone.text], [404, 'no user data: the claim of this server is gone']);
  const again = await testenv.client.create(ServerClaim, {
    metadata: ref,
    spec: {
      power: 'On',
      image: 'registry.test/os:1',
      serverRef: { name: server.metadata.name },
      userDataRef: { name: 'settings' },
    },
  });
  const early = await fetchAs(addresses.free, '/v1/user-data');
  assert.deepEqual(
    [early.status, early.text],
    [404, 'no user data: this server is held by an earlier claim of the same name; it is given back first'],
  );
  await annotate(server, { 'metal.ironcore.dev/operation': null });
  await testenv.server(nodes.free).until('is held by the new claim', isHeldBy(again));
  assert.equal((await fetchAs(addresses.free, '/v1/user-data/hostname')).text, 'db-1');
});

test('a standalone metadata service reads user data only where the namespace owner has granted it', async () => {
  const kubeconfig = await metadataKubeconfig(testenv.cluster, testenv.client);
  await allowUserData(testenv.client, 'tenant-one');
  await using metadataService = await startOperatorProcess({
    flags: [
      '--components=metadata',
      `--kubeconfig=${kubeconfig}`,
      '--metaldata-port=0',
      '--metrics-bind-address=0',
      '--health-probe-bind-address=0',
    ],
  });
  const at = metadataService.metadataUrl;
  const { metadata } = await testenv.server(nodes.one).exists();
  assert.equal((await fetchAs(addresses.one, '/v1/server-name', { at })).text, metadata.name);
  assert.equal((await fetchAs(addresses.one, '/v1/user-data/password', { at })).text, 'correct horse');
  const rejected = await fetchAs(addresses.other, '/v1/user-data', { at });
  assert.deepEqual(
    [rejected.status, rejected.text],
    [500, 'user data cannot be read now; try again'],
    "the response contains nothing of the API server's error",
  );
  const claim = await testenv.client.get(ServerClaim, { namespace: 'tenant-other', name: 'web' });
  const { note: record } = await eventAbout(testenv.client, claim, 'UserDataUnreadable');
  assert.match(record, /bind the ClusterRole metal-operator-user-data-reader/);
  assert.equal(await metadataService.stop(), 0);
  assert.deepEqual(
    metadataService.log.filter((line) => line.includes('correct horse')),
    [],
  );
});

test('the metadata service runs in a process with that component', async () => {
  const at = testenv.system.metadataUrl ?? '';
  assert.equal((await fetchAs(addresses.other, '/v1/zone', { at })).text, 'of-the-process');
  assert.equal((await fetchAs(addresses.other, '/v1/user-data/hostname', { at })).text, 'web-1');
  const metrics = await testenv.system.metrics.metrics();
  assert.match(metrics, /metal_metadata_requests_total\{route="\/v1\/\*",status="200"\} 2/);
});
