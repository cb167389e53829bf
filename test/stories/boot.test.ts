import assert from 'node:assert/strict';
import { randomBytes, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, get, type Server as HttpServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { Server } from '@metal/api/v1alpha1/server.ts';
import { ServerBootConfiguration } from '@metal/api/v1alpha1/server-boot-configuration.ts';
import { type BootOptions, type RunningBoot, startBoot } from '@metal/boot/boot.ts';
import { startRegistry } from '@metal/registry/registry.ts';
import { createClock } from '@metal/kube/runtime/clock.ts';
import { keyOf } from '@metal/kube/kinds/kind.ts';
import { Store, type Cache } from '@metal/kube/cache/store.ts';
import { eventAbout } from '@metal/testenv/cluster/event-about.ts';
import { clientWith } from '@metal/testenv/cluster/client-with.ts';
import {
  rejectUnreachable,
  type BootingServer,
  directoryWith,
  namespace,
  openServiceFixture,
  rejectPages,
  type ServiceFixture,
} from '@metal/testenv/cluster/service-fixture.ts';

const kernel = randomBytes(300_000);
const initrd = randomBytes(700_000);
const internal = { 'metal.ironcore.dev/type': 'Internal' };
const ignition = '{"ignition": {"version": "3.2.0"}}';
const butane =
  'variant: fcos\nversion: 1.3.0\nstorage: {files: [{path: /etc/motd, mode: 0644, contents: {inline: hello}}]}\n';

let fixture: ServiceFixture;
let files: Awaited<ReturnType<typeof directoryWith>>;
let boot: RunningBoot;

before(async () => {
  fixture = await openServiceFixture();
  files = await directoryWith({
    vmlinuz: kernel,
    initrd,
    'os.efi': initrd,
    images: 'probe-os: {kernel: vmlinuz, initrd: initrd, cmdline: quiet}\nuki-os: {uki: os.efi}',
  });
  boot = await startBoot(optionsFor());
});
after(async () => {
  await boot[Symbol.asyncDispose]();
  await files[Symbol.asyncDispose]();
  await fixture[Symbol.asyncDispose]();
});

/** Origins are appended by each test that starts a web server. */
const allowedOrigins: string[] = [];

const optionsFor = (more: Partial<BootOptions> = {}): BootOptions =>
  fixture.bootOptions({
    imagesFile: join(files.path, 'images'),
    fileRoots: [tmpdir()],
    butane: '/nowhere/butane',
    imageSources: { allowedOrigins, isRefusedAddress: () => false },
    ...more,
  });

const current = (name: string): Promise<ServerBootConfiguration> =>
  fixture.client.get(ServerBootConfiguration, { name, namespace });
const conditionOf = ({ status }: ServerBootConfiguration, type: string) =>
  status?.conditions?.find((condition) => condition.type === type);
const becomes = (name: string, state: string): Promise<ServerBootConfiguration> =>
  fixture.until(fixture.bootConfigurations, `${namespace}/${name}`, ({ status }) => status?.state === state);
const progressArrives = (name: string, type: string): Promise<ServerBootConfiguration> =>
  fixture.until(
    fixture.bootConfigurations,
    `${namespace}/${name}`,
    (object) => conditionOf(object, type)?.status === 'True',
  );

async function preparedBoot(
  name: string,
  options: Parameters<ServiceFixture['booting']>[1] = {},
): Promise<BootingServer> {
  const server = await fixture.booting(name, { image: 'probe-os', ...options });
  await becomes(name, 'Ready');
  return server;
}

const scriptOf = async ({ uuid }: BootingServer, { url } = boot): Promise<string> =>
  (await fetch(`${url}/ipxe/${uuid}`)).text();

test('a machine boots kernel, initrd and ignition, and the boot is recorded with two writes', async () => {
  const server = await preparedBoot('boots', { ignition });
  using writes = fixture.writesTo(fixture.bootConfigurations, server.boot);
  const script = await (await fetch(`${boot.url}/ipxe/${server.uuid.toUpperCase()}`)).text();
  assert.match(script, /^#!ipxe\n/);
  const [, kernelUrl = '', commandLine = ''] = /^kernel (\S+) (.*) \|\|/m.exec(script) ?? [];
  const [, initrdUrl = ''] = /^initrd (\S+) \|\|/m.exec(script) ?? [];
  const parameters = new Map(
    commandLine
      .split(' ')
      .map((parameter): [string, string] => [
        parameter.split('=', 1)[0] ?? '',
        parameter.slice(parameter.indexOf('=') + 1),
      ]),
  );
  assert.ok(parameters.has('quiet'), 'the command line of the image is kept');

  const kernelResponse = await fetch(kernelUrl);
  assert.equal(kernelResponse.headers.get('content-length'), String(kernel.length));
  assert.deepEqual(Buffer.from(await kernelResponse.arrayBuffer()), kernel);
  assert.deepEqual(Buffer.from(await (await fetch(initrdUrl)).arrayBuffer()), initrd);
  assert.equal(await (await fetch(parameters.get('ignition.config.url') ?? '')).text(), ignition);
  await progressArrives('boots', 'IgnitionDataFetched');
  assert.equal((await fetch(parameters.get('metal.boot.evidence') ?? '', { method: 'POST' })).status, 200);
  await progressArrives('boots', 'BootStateReceived');

  const reported = (await current('boots')).status?.conditions
    ?.map(({ type, status, reason }) => [type, status, reason])
    .toSorted();
  assert.deepEqual(reported, [
    ['BootStateReceived', 'True', 'BootStateReceived'],
    ['IPXEScriptFetched', 'True', 'IPXEScriptDelivered'],
    ['IgnitionDataFetched', 'True', 'IgnitionDataDelivered'],
  ]);
  assert.equal(
    conditionOf(await current('boots'), 'BootStateReceived')?.message,
    'Server successfully posted boot state',
  );
  assert.equal(writes.count, 2);
  const { boot: trace } = (await current('boots')).status ?? {};
  assert.deepEqual([trace?.image, trace?.method, trace?.digest], ['probe-os', 'iPXE', undefined]);
  assert.deepEqual(
    trace?.steps?.map(({ name, count, detail }) => [name, count, detail]),
    [
      ['script', 1, 'by 127.0.0.1'],
      ['kernel', 1, 'by 127.0.0.1'],
      ['initrd', 1, 'by 127.0.0.1'],
      ['ignition', 1, 'by 127.0.0.1'],
      ['booted', 1, undefined],
    ],
  );

  assert.equal(
    (await fetch(parameters.get('ignition.config.url') ?? '')).status,
    403,
    'a booted system gets no ignition again',
  );
  assert.match(await scriptOf(server), /installed already\nexit 1/);
});

/**
 * Events after which firmware goes to its disk instead of the UKI that DHCP names, and the message that it gets then.
 */
const firmwareRejections: [string, (server: BootingServer) => Promise<unknown>, RegExp][] = [
  [
    'has reported its boot',
    ({ token }) => fetch(`${boot.url}/boot/${token}/booted`, { method: 'POST' }),
    /installed already/,
  ],
  [
    'was installed for its claim',
    async ({ name }) => {
      const serverClaimRef = { namespace, name, uid: 'claim' };
      await fixture.client.mergePatch(Server, { name }, { spec: { serverClaimRef } });
      await fixture.setStatus(name, { state: 'Reserved', provisionedClaimUID: 'claim' });
      await fixture.until(fixture.servers, name, ({ status }) => status?.provisionedClaimUID === 'claim');
    },
    /installed already/,
  ],
  [
    'is no longer claimed',
    async ({ name }) => {
      await fixture.setStatus(name, { state: 'Available' });
      await fixture.until(fixture.servers, name, ({ status }) => status?.state === 'Available');
    },
    /boots nothing from the network/,
  ],
];
for (const [index, [title, arrange, expectedText]] of firmwareRejections.entries()) {
  test(`firmware loads its UKI directly, and is rejected once its system ${title}`, async () => {
    const server = await preparedBoot(`firmware-${index}`, { image: 'uki-os' });
    const load = () => fetch(`${boot.url}/boot/${server.token}/uki.efi`);
    assert.deepEqual(Buffer.from(await (await load()).arrayBuffer()), initrd);
    await arrange(server);
    const rejected = await load();
    assert.equal(rejected.status, 403);
    assert.match(await rejected.text(), expectedText);
  });
}

test('firmware of a machine to be reinstalled gets its UKI, also from a replica with stale caches', async () => {
  const server = await preparedBoot('firmware-reinstalled', { image: 'uki-os' });
  const { name } = server;
  const serverClaimRef = { namespace, name, uid: 'claim' };
  await fixture.client.mergePatch(Server, { name }, { spec: { serverClaimRef } });
  await fixture.setStatus(name, { state: 'Reserved', provisionedClaimUID: 'claim' });
  await fixture.until(fixture.servers, name, ({ status }) => status?.provisionedClaimUID === 'claim');
  await using staleReplica = await startBoot(optionsFor(fixture.withDeadWatches()));
  const statusFrom = async ({ url }: RunningBoot) => (await fetch(`${url}/boot/${server.token}/uki.efi`)).status;
  assert.equal(await statusFrom(staleReplica), 403);
  await fixture.setStatus(name, { provisionedClaimUID: null } as unknown as NonNullable<Server['status']>);
  assert.equal(await statusFrom(staleReplica), 200);
});

test('firmware that boots over HTTP without a boot URL of its own loads iPXE, and no other file of that directory', async () => {
  await using programs = await directoryWith({ 'ipxe.efi': 'MZ program', 'secret.txt': 'secret' });
  await using served = await startBoot(optionsFor({ ipxeDirectory: programs.path }));
  const head = await fetch(`${served.url}/ipxe.efi`, { method: 'HEAD' });
  assert.deepEqual(
    [head.status, head.headers.get('content-type'), head.headers.get('content-length')],
    [200, 'application/efi', '10'],
  );
  const etag = head.headers.get('etag') ?? '';
  const part = await fetch(`${served.url}/ipxe.efi`, { headers: { range: 'bytes=3-', 'if-range': etag } });
  assert.deepEqual([part.status, await part.text()], [206, 'program']);
  assert.equal((await fetch(`${served.url}/ipxe.efi`, { headers: { 'if-none-match': etag } })).status, 304);
  for (const path of ['secret.txt', 'ipxe-arm64.efi', '%2e%2e%2fipxe.efi'])
    assert.equal((await fetch(`${served.url}/${path}`)).status, 404, path);
  assert.equal((await fetch(`${boot.url}/ipxe.efi`)).status, 404, 'no directory is configured');
});

test('a boot configuration becomes Ready with a single write', async () => {
  const server = await fixture.booting('single', { image: 'probe-os' });
  const ready = await becomes('single', 'Ready');
  assert.equal(conditionOf(ready, 'ImageValidation'), undefined);
  // Cached objects have none.
  const { metadata } = await fixture.client.get(ServerBootConfiguration, ready.metadata);
  assert.deepEqual(
    metadata.managedFields?.filter(({ subresource }) => subresource === 'status').map(({ manager }) => manager),
    ['metal-operator/boot'],
  );
  assert.equal(server.boot.metadata.uid, ready.metadata.uid);
});

test('an internal boot is validated when its server has left Initial and reports its boot targets', async () => {
  const secretReads: string[] = [];
  const { promise: secretRead, resolve } = Promise.withResolvers<void>();
  const client = finding((kind, ref, options) => {
    if (kind.kind === 'Secret') secretReads.push(`${ref.name} ${fixture.servers.get(ref.name)?.status?.state}`);
    if (ref.name === 'usual') resolve();
    return fixture.client.find(kind, ref, options);
  });
  await using _other = await startBoot(optionsFor({ client }));
  const uuid = randomUUID();
  await fixture.client.create(Server, { metadata: { name: 'young' }, spec: { systemUUID: uuid } });
  await fixture.bootAgain('young', uuid, 'young', { image: 'probe-os', ignition, annotations: internal });
  await fixture.until(fixture.servers, 'young', ({ spec }) => spec.bootConfigurationRef !== undefined);
  await fixture.booting('usual', { image: 'probe-os', ignition });
  await secretRead;
  await fixture.setStatus('young', { state: 'Discovery', bootTargets: ['None', 'Pxe', 'Hdd'] });
  assert.equal((await becomes('young', 'Ready')).status?.boot?.method, 'iPXE');
  assert.ok(!secretReads.includes('young undefined'), secretReads.join(', '));
});

test('a boot without ignition reports the fetched script immediately', async () => {
  const server = await preparedBoot('bare');
  assert.doesNotMatch(await scriptOf(server), /ignition/);
  await progressArrives('bare', 'IPXEScriptFetched');
  assert.equal((await fetch(`${boot.url}/boot/${server.token}/ignition`)).status, 404);
});

test('a machine that stops after fetching its script has IPXEScriptFetched and no later condition', async () => {
  await using fastBoot = await startBoot(optionsFor({ clock: createClock(20) }));
  const server = await preparedBoot('stuck', { ignition });
  await (await fetch(`${fastBoot.url}/ipxe/${server.uuid}`)).text();
  const stuck = await progressArrives('stuck', 'IPXEScriptFetched');
  assert.equal(conditionOf(stuck, 'IgnitionDataFetched'), undefined);
});

test('boot progress is written before the service stops', async () => {
  const ending = await startBoot(optionsFor());
  const server = await preparedBoot('ending', { ignition });
  await (await fetch(`${ending.url}/ipxe/${server.uuid}`)).text();
  await ending[Symbol.asyncDispose]();
  assert.equal(conditionOf(await current('ending'), 'IPXEScriptFetched')?.status, 'True');
});

test('boot progress is accepted by the registry and by the boot service', async () => {
  const server = await preparedBoot('both');
  const { client, servers, bootConfigurations, inventories, erasures, bootTokenKey, clock, log } = fixture;
  await using registry = await startRegistry({
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
  });
  assert.match(await scriptOf(server), /^kernel /m);
  const reported = await Promise.all([
    fetch(`${registry.url}/bootstate`, {
      method: 'POST',
      headers: { authorization: `Bearer ${server.token}` },
      body: JSON.stringify({ systemUUID: server.uuid, booted: true }),
    }),
    fetch(`${boot.url}/boot/${server.token}/booted`, { method: 'POST' }),
  ]);
  assert.deepEqual([reported[0].status, reported[1].status], [200, 200]);
  await progressArrives('both', 'BootStateReceived');
  const both = await progressArrives('both', 'IPXEScriptFetched');
  assert.equal(both.status?.conditions?.length, 2);
});

test('an unknown machine gets 404 with a message', async () => {
  const response = await fetch(`${boot.url}/ipxe/00000000-0000-0000-0000-00000000dead`);
  assert.equal(response.status, 404);
  assert.match(await response.text(), /no Server has the system UUID/);
});

test('the generic script chains to the script of the machine', async () => {
  for (const path of ['/ipxe', '/ipxe/'])
    assert.match(await (await fetch(`${boot.url}${path}`)).text(), /^chain .*\/ipxe\/\$\{uuid\}/m);
});

test('a known machine without a boot configuration goes to its next boot device and leaves no record', async () => {
  const server = await fixture.booting('unexpected', { image: 'probe-os', current: false });
  await becomes('unexpected', 'Ready');
  assert.match(
    await scriptOf(server),
    /^#!ipxe\necho unexpected boots from its next device: it has no boot configuration\nexit 1\n$/,
  );
  assert.equal(conditionOf(await current('unexpected'), 'IPXEScriptFetched'), undefined);
});

test('a boot service with a lagging watch reads from the API server before it sends a machine to its disk', async () => {
  const server = await preparedBoot('lagging');
  const earlier = fixture.servers.get('lagging');
  assert.ok(earlier);
  const { bootConfigurationRef: _ref, ...spec } = earlier.spec;
  const stale = { ...staleCacheOf(earlier), by: () => [{ ...earlier, spec }] };
  await using staleReplica = await startBoot(optionsFor({ servers: stale }));
  for (const time of ['once', 'and immediately again'])
    assert.match(await scriptOf(server, staleReplica), /^kernel /m, time);
});

test('a boot service with a lagging watch reads from the API server before it rejects a boot token', async () => {
  const server = await preparedBoot('lagging-token');
  const earlier = fixture.servers.get('lagging-token');
  assert.ok(earlier);
  const { bootConfigurationRef: _ref, ...spec } = earlier.spec;
  const stale = staleCacheOf({ ...earlier, spec });
  await using staleReplica = await startBoot(optionsFor({ servers: stale }));
  const response = await fetch(`${staleReplica.url}/boot/${server.token}/kernel`);
  assert.equal(response.status, 200);
  assert.equal((await response.arrayBuffer()).byteLength, kernel.length);
});

/** A cache with one server in an earlier state. */
const staleCacheOf = (server: Server): Cache<Server> => ({
  size: 1,
  get: () => server,
  all: () => [server],
  by: () => [server],
  onChange: (listener) => fixture.servers.onChange(listener),
});

/** Changes of a server while the watches of a replica were dead, and the response that its machine gets. */
const staleCases: [string, Record<string, string>, (server: BootingServer) => Promise<unknown>, RegExp][] = [
  [
    'whose claim was released',
    {},
    ({ name }) => fixture.client.mergePatch(Server, { name }, { spec: { bootConfigurationRef: null } }),
    /it has no boot configuration\nexit 1/,
  ],
  [
    'that was installed by way of another replica',
    {},
    ({ token }) => fetch(`${boot.url}/boot/${token}/booted`, { method: 'POST' }),
    /installed already\nexit 1/,
  ],
  [
    'whose boot configuration becomes invalid',
    {},
    async ({ boot: { metadata } }) => {
      await fixture.client.mergePatch(ServerBootConfiguration, metadata, { spec: { image: 'absent' } });
      await becomes(metadata.name, 'Error');
    },
    /configuration is Error\nexit 1/,
  ],
  [
    'that was claimed after its discovery',
    internal,
    async ({ name, uuid }) => {
      await fixture.bootAgain(name, uuid, `${name}-claimed`, { image: 'absent' });
      await becomes(`${name}-claimed`, 'Error');
    },
    /configuration is Error\nexit 1/,
  ],
  [
    'replaced by another one',
    {},
    ({ name }) => fixture.client.mergePatch(Server, { name }, { spec: { systemUUID: randomUUID() } }),
    /Server is gone\nexit 1/,
  ],
];
for (const [index, [title, annotations, change, expected]] of staleCases.entries()) {
  test(`a boot service with a lagging watch reads from the API server before it serves a boot to a machine ${title}`, async () => {
    const server = await preparedBoot(`overtaken-${index}`, { annotations });
    await fixture.until(fixture.servers, server.name, ({ spec }) => spec.bootConfigurationRef !== undefined);
    await using staleReplica = await startBoot(optionsFor(fixture.withDeadWatches()));
    assert.match(await scriptOf(server, staleReplica), /^kernel /m);
    await change(server);
    assert.match(await scriptOf(server, staleReplica), expected);
  });
}

test('a boot service whose watch died before another replica prepared a boot serves that boot', async () => {
  await using staleReplica = await startBoot(optionsFor(fixture.withDeadWatches()));
  const server = await preparedBoot('prepared-elsewhere', { ignition });
  for (const path of ['kernel', 'initrd', 'ignition'])
    assert.equal((await fetch(`${staleReplica.url}/boot/${server.token}/${path}`)).status, 200, path);
  assert.equal((await fetch(`${staleReplica.url}/boot/${server.token}/booted`, { method: 'POST' })).status, 200);
  assert.equal(conditionOf(await current(server.name), 'BootStateReceived')?.status, 'True');
});

test('an unknown signed token is looked up until its deletion is known, and a forged one is never looked up', async () => {
  const server = await preparedBoot('soon-gone', { ignition });
  await fixture.client.delete(ServerBootConfiguration, server.boot.metadata);
  let lists = 0;
  const client = clientWith(fixture.client, {
    pages: (...request) => {
      lists += 1;
      return fixture.client.pages(...request);
    },
  });
  const bootConfigurations = new Store<ServerBootConfiguration>();
  await using otherBoot = await startBoot(optionsFor({ client, bootConfigurations }));
  const statusOf = async (token: string) => (await fetch(`${otherBoot.url}/boot/${token}/kernel`)).status;
  const forged = `${server.token.slice(0, -1)}${server.token.endsWith('A') ? 'B' : 'A'}`;
  assert.deepEqual([await statusOf('A'.repeat(44)), await statusOf(forged), lists], [403, 403, 0]);
  const responses = await Promise.all(Array.from({ length: 50 }, () => statusOf(server.token)));
  assert.deepEqual(new Set(responses), new Set([403]));
  const before = lists;
  assert.ok(before === 1 || before === 2, `${before} lists: one, and another for requests that came while it was read`);
  assert.deepEqual([await statusOf(server.token), lists], [403, before], 'a deleted boot does not come back');
});

test('an unknown signed token gets 503 while the API server is unreachable', async () => {
  const server = await preparedBoot('known-elsewhere');
  const client = clientWith(fixture.client, { pages: rejectPages });
  const bootConfigurations = new Store<ServerBootConfiguration>();
  await using cutOff = await startBoot(optionsFor({ client, bootConfigurations }));
  const response = await fetch(`${cutOff.url}/boot/${server.token}/kernel`);
  assert.deepEqual([response.status, response.headers.get('retry-after')], [503, '5']);
});

test('a boot service with a lagging watch serves a machine nothing of the previous tenant', async () => {
  const before = await preparedBoot('tenants', { ignition });
  await fixture.until(fixture.servers, 'tenants', ({ spec }) => spec.bootConfigurationRef !== undefined);
  await using staleReplica = await startBoot(optionsFor(fixture.withDeadWatches()));
  const later = await fixture.bootAgain('tenants', before.uuid, 'tenants-later', { image: 'probe-os' });
  await becomes('tenants-later', 'Ready');
  const script = await scriptOf(before, staleReplica);
  assert.ok(script.includes(later.token) && !script.includes(before.token));
  assert.equal((await fetch(`${staleReplica.url}/boot/${before.token}/ignition`)).status, 403);
  await progressArrives('tenants-later', 'IPXEScriptFetched');
});

const cleanup = { ...internal, 'metal.ironcore.dev/cleanup-attempt': '1', 'metal.ironcore.dev/cleanup-mode': 'Purge' };
test('an erasure order is served only while its server is in Cleanup, also by a boot service with a lagging watch', async () => {
  const server = await preparedBoot('to-be-erased', { ignition, annotations: cleanup });
  await fixture.setStatus(server.name, { state: 'Cleanup' });
  await fixture.until(fixture.servers, server.name, ({ status }) => status?.state === 'Cleanup');
  await using staleReplica = await startBoot(optionsFor(fixture.withDeadWatches()));
  const fetchIgnition = () => fetch(`${staleReplica.url}/boot/${server.token}/ignition`);
  assert.equal((await fetchIgnition()).status, 200);
  await fixture.setStatus(server.name, { state: 'Maintenance' });
  const response = await fetchIgnition();
  assert.equal(response.status, 403);
  assert.match(await response.text(), /state Maintenance is not cleaned up/);
  assert.match(await scriptOf(server, staleReplica), /state Maintenance is not cleaned up\nexit 1/);
});

test('a boot service with a lagging watch serves no ignition to a booted system', async () => {
  const server = await preparedBoot('up-elsewhere', { ignition });
  await fixture.until(fixture.servers, server.name, ({ spec }) => spec.bootConfigurationRef !== undefined);
  await using staleReplica = await startBoot(optionsFor(fixture.withDeadWatches()));
  assert.equal((await fetch(`${boot.url}/boot/${server.token}/booted`, { method: 'POST' })).status, 200);
  assert.equal((await fetch(`${staleReplica.url}/boot/${server.token}/ignition`)).status, 403);
});

test('a boot service with a lagging watch records boot progress', async () => {
  const server = await preparedBoot('seen-late', { ignition });
  await fixture.until(fixture.servers, server.name, ({ spec }) => spec.bootConfigurationRef !== undefined);
  await using staleReplica = await startBoot(optionsFor(fixture.withDeadWatches()));
  await fixture.client.mergePatch(ServerBootConfiguration, server.boot.metadata, { metadata: { labels: { a: 'b' } } });
  assert.equal((await fetch(`${staleReplica.url}/boot/${server.token}/ignition`)).status, 200);
  await progressArrives('seen-late', 'IgnitionDataFetched');
});

test('a boot service with a lagging watch writes nothing to a boot configuration recreated under the same name', async () => {
  const before = await fixture.booting('remade', { image: 'nowhere' });
  await becomes('remade', 'Error');
  const deadWatches = fixture.withDeadWatches();
  const unvalidated = new Store<ServerBootConfiguration>();
  unvalidated.upsertIfNewer({ ...before.boot, status: {} });
  await fixture.client.delete(ServerBootConfiguration, before.boot.metadata);
  await fixture.bootAgain('remade', before.uuid, 'remade', { image: 'probe-os' });
  await becomes('remade', 'Ready');
  const { promise: tried, resolve } = Promise.withResolvers<void>();
  const client = clientWith(
    fixture.client,
    {
      apply: (...request) => fixture.client.apply(...request).finally(resolve),
    },
    ['find'],
  );
  await using _staleReplica = await startBoot(optionsFor({ ...deadWatches, bootConfigurations: unvalidated, client }));
  await tried;
  assert.equal((await current('remade')).status?.state, 'Ready');
});

test('a script costs two requests to the API server, a kernel none', async () => {
  const server = await preparedBoot('frugal');
  await fixture.until(fixture.servers, server.name, ({ spec }) => spec.bootConfigurationRef !== undefined);
  const requested: string[] = [];
  const client = finding((kind, ref, options) => {
    // Secrets are read while boots are prepared.
    if (kind.kind !== 'Secret') requested.push(`${kind.kind} ${keyOf(ref)}`);
    return fixture.client.find(kind, ref, options);
  });
  await using otherBoot = await startBoot(optionsFor({ client }));
  assert.match(await scriptOf(server, otherBoot), /^kernel /m);
  assert.equal((await fetch(`${otherBoot.url}/boot/${server.token}/kernel`, { method: 'HEAD' })).status, 200);
  assert.deepEqual(requested, ['Server frugal', 'ServerBootConfiguration default/frugal']);
});

test('requests for one machine cause one API request at a time and one per second', async () => {
  const server = await preparedBoot('in-demand', { ignition });
  await fixture.until(fixture.servers, server.name, ({ spec }) => spec.bootConfigurationRef !== undefined);
  let now = 0;
  let atOnce = { now: 0, most: 0, all: 0 };
  const client = finding(async (kind, ref, options) => {
    if (kind.kind !== 'Server') return fixture.client.find(kind, ref, options);
    atOnce = { now: atOnce.now + 1, most: Math.max(atOnce.most, atOnce.now + 1), all: atOnce.all + 1 };
    try {
      return await fixture.client.find(kind, ref, options);
    } finally {
      atOnce.now -= 1;
    }
  });
  // Time advances only in `sleep`.
  const clock: BootOptions['clock'] = {
    ...fixture.clock,
    now: () => now,
    sleep: (delayMs) => Promise.resolve(void (now += delayMs)),
  };
  await using otherBoot = await startBoot(optionsFor({ client, clock }));
  const requested = Array.from({ length: 300 }, (_, index) =>
    fetch(index % 3 === 0 ? `${otherBoot.url}/boot/${server.token}/ignition` : `${otherBoot.url}/ipxe/${server.uuid}`),
  );
  const statuses = new Set((await Promise.all(requested)).map(({ status }) => status));
  assert.deepEqual(statuses, new Set([200]), 'no request is rejected');
  assert.equal(atOnce.most, 1);
  assert.ok(atOnce.all <= 5 + now / 1_000, `${atOnce.all} times within ${now} ms`);
});

test('a client above the rate limit gets 503 with Retry-After, and file downloads are not counted', async () => {
  const server = await preparedBoot('greedy');
  const [one, other] = ['127.0.0.1', '127.0.0.2'];
  await using limited = await startBoot(optionsFor({ bindsTokens: false, rateLimit: { burst: 3, perSecond: 0.1 } }));
  const fetchFrom = async (path: string, localAddress = one) => {
    const request = get({ host: '127.0.0.1', port: limited.port, path, localAddress, agent: false });
    const [response] = (await once(request, 'response')) as [import('node:http').IncomingMessage]; // what the event carries
    response.resume();
    return [response.statusCode, response.headers['retry-after']];
  };
  const script = `/ipxe/${server.uuid}`;
  for (const path of [script, '/ipxe/unknown', '/nowhere']) assert.notEqual((await fetchFrom(path))[0], 503, path);
  for (const path of [script, '/httpboot', `/boot/${server.token}/ignition`, '/nowhere'])
    assert.deepEqual(await fetchFrom(path), [503, '10'], path);
  for (const path of ['/ipxe/', `/boot/${server.token}/kernel`])
    assert.deepEqual(await fetchFrom(path), [200, undefined]);
  assert.deepEqual(await fetchFrom(script, other), [200, undefined], 'another client is not limited');
});

test('a machine without the API server waits for script and ignition, and loads its kernel', async () => {
  const server = await preparedBoot('waits', { ignition });
  const idle = await fixture.booting('idles', { image: 'probe-os', current: false });
  await fixture.until(fixture.servers, server.name, ({ spec }) => spec.bootConfigurationRef !== undefined);
  const client = finding(rejectUnreachable);
  await using cutOff = await startBoot(optionsFor({ client, auth: 'none' }));
  const rows: [string, number, string | null][] = [
    [`/ipxe/${server.uuid}`, 503, '5'],
    [`/boot/${server.token}/ignition`, 503, '5'],
    [`/ignition/${server.uuid}`, 503, '5'],
    [`/boot/${server.token}/kernel`, 200, null],
    // Firmware that gets no script boots from its disk after some attempts.
    [`/ipxe/${idle.uuid}`, 503, null],
  ];
  for (const [path, status, retryAfter] of rows) {
    const response = await fetch(`${cutOff.url}${path}`);
    assert.deepEqual([response.status, response.headers.get('retry-after')], [status, retryAfter], path);
    assert.doesNotMatch(await response.text(), /away/);
  }
});

/** A client with its own `find`. */
const finding = (find: ServiceFixture['client']['find']): ServiceFixture['client'] =>
  clientWith(fixture.client, { find });

test('a boot report is acknowledged after it is written, and gets 503 when it cannot be written', async () => {
  const server = await preparedBoot('reports-boot', { ignition });
  assert.equal((await fetch(`${boot.url}/boot/${server.token}/booted`, { method: 'POST' })).status, 200);
  assert.ok(conditionOf(await current(server.name), 'BootStateReceived'), 'it was written before the response');

  const other = await preparedBoot('cannot-report', { ignition });
  const client = clientWith(fixture.client, { apply: rejectUnreachable });
  await using cutOff = await startBoot(optionsFor({ client, clock: createClock(100) }));
  assert.equal((await fetch(`${cutOff.url}/boot/${other.token}/booted`, { method: 'POST' })).status, 503);
});

const rejectedTokens: [string, (server: BootingServer) => string][] = [
  ['a guessed token', () => 'A'.repeat(44)],
  ['a token with one letter too many', ({ token }) => `${token}A`],
  ['an empty token', () => '%20'],
];
for (const [index, [title, token]] of rejectedTokens.entries()) {
  test(`nothing is served for ${title}`, async () => {
    const server = await preparedBoot(`rejected-${index}`, { ignition });
    for (const path of ['kernel', 'initrd', 'ignition']) {
      assert.equal((await fetch(`${boot.url}/boot/${token(server)}/${path}`)).status, 403, path);
    }
    assert.equal((await fetch(`${boot.url}/boot/${token(server)}/booted`, { method: 'POST' })).status, 403);
    assert.equal(conditionOf(await current(server.name), 'BootStateReceived'), undefined);
  });
}

test('the token of an earlier boot is rejected as soon as the server boots something else', async () => {
  const earlier = await preparedBoot('earlier', { ignition });
  const later = await fixture.bootAgain('earlier', earlier.uuid, 'later', { image: 'probe-os', ignition });
  await becomes('later', 'Ready');
  assert.equal((await fetch(`${boot.url}/boot/${earlier.token}/ignition`)).status, 403);
  assert.equal((await fetch(`${boot.url}/boot/${later.token}/ignition`)).status, 200);
});

test('an expired discovery boot serves nothing', async () => {
  const annotations = {
    ...internal,
    'metal.ironcore.dev/boot-token-expires': new Date(Date.now() - 1_000).toISOString(),
  };
  const server = await preparedBoot('expired', { ignition, annotations });
  assert.equal((await fetch(`${boot.url}/boot/${server.token}/ignition`)).status, 403);
  assert.match(await scriptOf(server), /expired at/);
});

test('a path outside of the boot is rejected', async () => {
  const server = await preparedBoot('paths');
  const paths = [
    `/boot/${server.token}/../../etc/passwd`,
    `/boot/${server.token}/..%2f..%2fetc%2fpasswd`,
    `/boot/${server.token}/kernel/../../x`,
    `/boot/${server.token}/images`,
    '/ipxe/..%2f..%2fetc%2fpasswd',
  ];
  for (const path of paths) {
    const { status, text } = await raw(path);
    assert.ok(status === 404 || status === 403, `${path}: ${status}`);
    assert.doesNotMatch(text, /root:/);
  }
});

const malformedPaths: [string, string, readonly number[]][] = [
  ['a UUID that is not text', '/ipxe/%ff%fe', [400, 404]],
  ['an incomplete escape', '/ipxe/%zz', [400]],
  ['an escaped NUL character', '/ipxe/%00', [404]],
  ['a UUID with line breaks', '/ipxe/a%0d%0aset-cookie:%20x', [404]],
  ['a UUID without an end', `/ipxe/${'a'.repeat(5_000)}`, [414]],
  ['a token of escapes', `/boot/${'%2e%2e%2f'.repeat(15)}/kernel`, [403, 404]],
  ['a token that is not text', '/boot/%c3%28/ignition', [400, 403]],
  ['the name of an Object.prototype member', '/boot/__proto__/constructor', [404]],
  ['invalid addresses', '/httpboot/%2e%2e/%2e%2e/sha256-00.efi', [404]],
];
for (const [title, path, expected] of malformedPaths) {
  test(`${title} in an address is rejected with a short message`, async () => {
    const { status, text } = await raw(path);
    assert.ok(expected.includes(status), `${status}: ${text}`);
    assert.ok(text.length < 300 && !/\r|    at |node_modules/.test(text), text);
  });
}

/** fetch would normalize the path before sending it. */
async function raw(path: string): Promise<{ status: number; text: string }> {
  const request = get({ host: '127.0.0.1', port: boot.port, path });
  const [response] = (await once(request, 'response')) as [import('node:http').IncomingMessage]; // what the event carries
  const chunks: Buffer[] = [];
  for await (const chunk of response) chunks.push(chunk);
  return { status: response.statusCode ?? 0, text: Buffer.concat(chunks).toString() };
}

test('HEAD and Range requests of firmware are served', async () => {
  const { token } = await preparedBoot('ranges');
  const url = `${boot.url}/boot/${token}/initrd`;
  const head = await fetch(url, { method: 'HEAD' });
  assert.deepEqual([head.status, head.headers.get('content-length')], [200, String(initrd.length)]);
  const rest = await fetch(url, { headers: { range: 'bytes=600000-' } });
  assert.equal(rest.status, 206);
  assert.deepEqual(Buffer.from(await rest.arrayBuffer()), initrd.subarray(600_000));
  const same = await fetch(url, { headers: { 'if-none-match': head.headers.get('etag') ?? '' } });
  assert.equal(same.status, 304);
});

test('a HEAD request for a script or an ignition is not recorded as boot progress', async () => {
  const server = await preparedBoot('heads', { ignition });
  using writes = fixture.writesTo(fixture.bootConfigurations, server.boot);
  await fetch(`${boot.url}/ipxe/${server.uuid}`, { method: 'HEAD' });
  await fetch(`${boot.url}/boot/${server.token}/ignition`, { method: 'HEAD' });
  await fetch(`${boot.url}/boot/${server.token}/booted`, { method: 'POST', body: '{"booted": false}' });
  await fetch(`${boot.url}/boot/${server.token}/booted`, { method: 'POST', body: '{"booted": true}' });
  const booted = await progressArrives('heads', 'BootStateReceived');
  assert.deepEqual([writes.count, booted.status?.conditions?.length], [1, 1], 'only the boot itself was recorded');
});

test('a missing image is an Error that names the attempted location, until it is corrected', async () => {
  await fixture.booting('no-image', { image: 'ghcr.io/Org/os:1' });
  const failed = await becomes('no-image', 'Error');
  const failedCondition = conditionOf(failed, 'ImageValidation');
  assert.deepEqual([failedCondition?.status, failedCondition?.reason], ['False', 'ValidationFailed']);
  assert.match(
    failedCondition?.message ?? '',
    /ghcr\.io\/Org\/os:1" is not understood; expected a name of --boot-images, an OCI reference/,
  );
  assert.match((await eventAbout(fixture.client, failed)).note, /is not understood/);
  await fixture.client.mergePatch(
    ServerBootConfiguration,
    { name: 'no-image', namespace },
    { spec: { image: `file://${files.path}` } },
  );
  const ready = await becomes('no-image', 'Ready');
  assert.equal(conditionOf(ready, 'ImageValidation'), undefined);
});

test('a boot configuration with an image that becomes invalid is no longer Ready', async () => {
  await preparedBoot('worse');
  await fixture.client.mergePatch(
    ServerBootConfiguration,
    { name: 'worse', namespace },
    { spec: { image: `file://${tmpdir()}/nowhere/` } },
  );
  assert.match(
    conditionOf(await becomes('worse', 'Error'), 'ImageValidation')?.message ?? '',
    /\/nowhere\/vmlinuz cannot be read/,
  );
});

test('a boot service takes over a Pending state of another manager', async () => {
  const server = await fixture.booting('pending', { image: 'absent' });
  await becomes('pending', 'Error');
  await fixture.client.apply(
    ServerBootConfiguration,
    { metadata: { name: 'pending', namespace }, status: { state: 'Pending' } },
    { fieldManager: 'another-manager', subresource: 'status', force: true },
  );
  await fixture.client.mergePatch(
    ServerBootConfiguration,
    { name: 'pending', namespace },
    { spec: { image: 'probe-os' } },
  );
  assert.equal((await becomes('pending', 'Ready')).metadata.uid, server.boot.metadata.uid);
});

test('a late ignition Secret is waited for silently, and a missing one is named', async () => {
  await using fastBoot = await startBoot(optionsFor({ clock: createClock(20) }));
  assert.ok(fastBoot.port > 0);
  await fixture.client.create(ServerBootConfiguration, {
    metadata: { name: 'late-ignition', namespace },
    spec: { serverRef: { name: 's' }, image: 'probe-os', ignitionSecretRef: { name: 'late-ignition' } },
  });
  const failed = await becomes('late-ignition', 'Error');
  assert.match(
    conditionOf(failed, 'IgnitionValidation')?.message ?? '',
    /Secret "late-ignition" .* does not exist in namespace "default"/,
  );
  await fixture.secret('late-ignition', { ignition });
  assert.equal(conditionOf(await becomes('late-ignition', 'Ready'), 'IgnitionValidation'), undefined);
});

test('an ignition without a format that is not JSON is an Error', async () => {
  await fixture.booting('butane-without-format', { image: 'probe-os', ignition: butane, format: '' });
  const { message = '' } = conditionOf(await becomes('butane-without-format', 'Error'), 'IgnitionValidation') ?? {};
  assert.match(message, /^IgnitionInvalid: key "ignition" .* is no JSON; expected .* "format": fcos for Butane$/);
  const broken = '{"ignition": {"version": "3.4.0"},\n "hunter2": tru}';
  await fixture.booting('broken-json', { image: 'probe-os', ignition: broken, format: '' });
  const reported = conditionOf(await becomes('broken-json', 'Error'), 'IgnitionValidation')?.message ?? '';
  assert.match(reported, /is no JSON/);
  assert.doesNotMatch(reported, /hunter2/);
});

test('Butane without the configured program is an Error that names the option, and Ignition boots', async () => {
  await fixture.booting('untranslated', { image: 'probe-os', ignition: butane });
  const { message = '' } = conditionOf(await becomes('untranslated', 'Error'), 'IgnitionValidation') ?? {};
  assert.match(message, /^IgnitionTranslatorMissing: .*--butane/);
  await preparedBoot('as-it-is', { ignition: '{}' });
});

test('an ignition of any other format is served byte for byte', async () => {
  const { token } = await preparedBoot('raw-ignition', { ignition: '#cloud-config\n', format: 'cloud-init' });
  assert.equal(await (await fetch(`${boot.url}/boot/${token}/ignition`)).text(), '#cloud-config\n');
});

test('ignition by UUID is served only where no token is required', async () => {
  const server = await preparedBoot('by-uuid', { ignition });
  assert.equal((await fetch(`${boot.url}/ignition/${server.uuid}`)).status, 403);
  await using open = await startBoot(optionsFor({ auth: 'none' }));
  assert.equal((await fetch(`${open.url}/ignition/${server.uuid.toUpperCase()}`)).status, 200);
});

test('an image on another web server is proxied, with ranges, and released when the machine disconnects', async () => {
  const closed = Promise.withResolvers<void>();
  const upstream = createServer((request, response) => {
    if (request.method === 'HEAD') return response.writeHead(200, { 'content-length': kernel.length }).end();
    if (request.headers.range === 'bytes=0-3')
      return response
        .writeHead(206, { 'content-length': 4, 'content-range': `bytes 0-3/${kernel.length}` })
        .end(kernel.subarray(0, 4));
    if (request.url === '/os/vmlinuz')
      return response.writeHead(200, { 'content-length': kernel.length, etag: '"k"' }).end(kernel);
    // An endless initrd, until the client disconnects.
    response.once('close', closed.resolve);
    return response.writeHead(200).write('x');
  });
  const origin = await listening(upstream);
  allowedOrigins.push(origin);
  try {
    const { token } = await preparedBoot('remote', { image: `${origin}/os` });
    const whole = await fetch(`${boot.url}/boot/${token}/kernel`);
    assert.deepEqual([whole.headers.get('content-length'), whole.headers.get('etag')], [String(kernel.length), '"k"']);
    assert.deepEqual(Buffer.from(await whole.arrayBuffer()), kernel);
    const part = await fetch(`${boot.url}/boot/${token}/kernel`, { headers: { range: 'bytes=0-3' } });
    assert.deepEqual([part.status, (await part.arrayBuffer()).byteLength], [206, 4]);
    const machine = new AbortController();
    await fetch(`${boot.url}/boot/${token}/initrd`, { signal: machine.signal });
    machine.abort();
    await closed.promise;
  } finally {
    upstream.closeAllConnections();
    upstream.close();
  }
});

async function listening(server: HttpServer): Promise<string> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  return `http://127.0.0.1:${typeof address === 'object' ? address?.port : 0}`;
}

test('a machine above the download limit gets 503, unless another address has more downloads', async () => {
  await using large = await directoryWith({ vmlinuz: Buffer.alloc(16 * 1_048_576), initrd });
  const { token, uuid } = await preparedBoot('queues', { image: `file://${large.path}`, ignition });
  await using narrow = await startBoot(optionsFor({ bindsTokens: false, maxDownloads: 2 }));
  const fetchFrom = async (file: string, localAddress = '127.0.0.1') => {
    const request = get(`${narrow.url}${file}`, { localAddress, agent: false });
    const [response] = (await once(request, 'response')) as [import('node:http').IncomingMessage]; // what the event carries
    return response.pause();
  };
  const slow = [await fetchFrom(`/boot/${token}/kernel`), await fetchFrom(`/boot/${token}/kernel`)];
  const rejected = await fetchFrom(`/boot/${token}/initrd`);
  assert.deepEqual([rejected.statusCode, rejected.headers['retry-after']], [503, '5']);
  for (const file of [`/ipxe/${uuid}`, `/boot/${token}/ignition`])
    assert.equal((await fetchFrom(file)).statusCode, 200, 'small files are served');
  const gone = slow[1] && once(slow[1], 'error');
  const other = await fetchFrom(`/boot/${token}/initrd`, '127.0.0.2');
  slow[1]?.resume();
  assert.equal(other.statusCode, 200);
  await gone;
  for (const response of [...slow, rejected, other]) response.destroy();
});

test('stalled machines hold no memory', async () => {
  await using large = await directoryWith({ vmlinuz: Buffer.alloc(64 * 1_048_576), initrd: 'x' });
  const { token } = await preparedBoot('stalled', { image: `file://${large.path}` });
  const startedWith = process.memoryUsage();
  const requests = Array.from({ length: 20 }, () => get(`${boot.url}/boot/${token}/kernel`, { agent: false }));
  await Promise.all(requests.map((request) => once(request, 'response')));
  const grownBytes = process.memoryUsage().rss - startedWith.rss;
  assert.ok(
    grownBytes < 200 * 1_048_576,
    `20 stalled downloads of 64 MiB cost ${Math.round(grownBytes / 1_048_576)} MiB`,
  );
  for (const request of requests) request.destroy();
});
