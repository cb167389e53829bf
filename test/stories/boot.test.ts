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
import type { Cache } from '@metal/kube/cache.ts';
import { createClock } from '@metal/kube/clock.ts';
import { keyOf } from '@metal/kube/kind.ts';
import { Store } from '@metal/kube/store.ts';
import { eventAbout } from '@metal/lab/event-about.ts';
import { clientWith } from '@metal/lab/client-with.ts';
import {
  away,
  type BootingServer,
  directoryWith,
  namespace,
  openServiceRoom,
  pagesAway,
  type ServiceRoom,
} from './service-room.ts';

const kernel = randomBytes(300_000);
const initrd = randomBytes(700_000);
const internal = { 'metal.ironcore.dev/type': 'Internal' };
const ignition = '{"ignition": {"version": "3.2.0"}}';
const butane =
  'variant: fcos\nversion: 1.3.0\nstorage: {files: [{path: /etc/motd, mode: 0644, contents: {inline: hello}}]}\n';

let room: ServiceRoom;
let files: Awaited<ReturnType<typeof directoryWith>>;
let boot: RunningBoot;

before(async () => {
  room = await openServiceRoom();
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
  await room[Symbol.asyncDispose]();
});

/** Added to by who starts a web server. */
const allowedOrigins: string[] = [];

const optionsFor = (more: Partial<BootOptions> = {}): BootOptions =>
  room.bootOptions({
    imagesFile: join(files.path, 'images'),
    fileRoots: [tmpdir()],
    butane: '/nowhere/butane',
    imageSources: { allowedOrigins, isRefusedAddress: () => false },
    ...more,
  });

const current = (name: string): Promise<ServerBootConfiguration> =>
  room.client.get(ServerBootConfiguration, { name, namespace });
const conditionOf = ({ status }: ServerBootConfiguration, type: string) =>
  status?.conditions?.find((condition) => condition.type === type);
const becomes = (name: string, state: string): Promise<ServerBootConfiguration> =>
  room.until(room.bootConfigurations, `${namespace}/${name}`, ({ status }) => status?.state === state);
const evidenceArrives = (name: string, type: string): Promise<ServerBootConfiguration> =>
  room.until(room.bootConfigurations, `${namespace}/${name}`, (object) => conditionOf(object, type)?.status === 'True');

async function preparedBoot(name: string, wish: Parameters<ServiceRoom['booting']>[1] = {}): Promise<BootingServer> {
  const server = await room.booting(name, { image: 'probe-os', ...wish });
  await becomes(name, 'Ready');
  return server;
}

const scriptOf = async ({ uuid }: BootingServer, { url } = boot): Promise<string> =>
  (await fetch(`${url}/ipxe/${uuid}`)).text();

test('a machine boots kernel, initrd and ignition, and the boot leaves a trace with two writes', async () => {
  const server = await preparedBoot('boots', { ignition });
  using writes = room.writesTo(room.bootConfigurations, server.boot);
  const script = await (await fetch(`${boot.url}/ipxe/${server.uuid.toUpperCase()}`)).text();
  assert.match(script, /^#!ipxe\n/);
  const [, kernelUrl = '', commandLine = ''] = /^kernel (\S+) (.*) \|\|/m.exec(script) ?? [];
  const [, initrdUrl = ''] = /^initrd (\S+) \|\|/m.exec(script) ?? [];
  const parameters = new Map(
    commandLine
      .split(' ')
      .map((word): [string, string] => [word.split('=', 1)[0] ?? '', word.slice(word.indexOf('=') + 1)]),
  );
  assert.ok(parameters.has('quiet'), 'the command line of the image is kept');

  const kernelAnswer = await fetch(kernelUrl);
  assert.equal(kernelAnswer.headers.get('content-length'), String(kernel.length));
  assert.deepEqual(Buffer.from(await kernelAnswer.arrayBuffer()), kernel);
  assert.deepEqual(Buffer.from(await (await fetch(initrdUrl)).arrayBuffer()), initrd);
  assert.equal(await (await fetch(parameters.get('ignition.config.url') ?? '')).text(), ignition);
  await evidenceArrives('boots', 'IgnitionDataFetched');
  assert.equal((await fetch(parameters.get('metal.boot.evidence') ?? '', { method: 'POST' })).status, 200);
  await evidenceArrives('boots', 'BootStateReceived');

  const told = (await current('boots')).status?.conditions
    ?.map(({ type, status, reason }) => [type, status, reason])
    .toSorted();
  assert.deepEqual(told, [
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
    'a system that is up gets no ignition again',
  );
  assert.match(await scriptOf(server), /installed already\nexit 1/);
});

/** What has to happen for firmware to go to the disk instead of the UKI that DHCP names, and what it is told then. */
const overForFirmware: [string, (server: BootingServer) => Promise<unknown>, RegExp][] = [
  [
    'has called home',
    ({ token }) => fetch(`${boot.url}/boot/${token}/booted`, { method: 'POST' }),
    /installed already/,
  ],
  [
    'was installed for its claim',
    async ({ name }) => {
      const serverClaimRef = { namespace, name, uid: 'claim' };
      await room.client.mergePatch(Server, { name }, { spec: { serverClaimRef } });
      await room.enters(name, { state: 'Reserved', provisionedClaimUID: 'claim' });
      await room.until(room.servers, name, ({ status }) => status?.provisionedClaimUID === 'claim');
    },
    /installed already/,
  ],
  [
    'is held by nobody any more',
    async ({ name }) => {
      await room.enters(name, { state: 'Available' });
      await room.until(room.servers, name, ({ status }) => status?.state === 'Available');
    },
    /boots nothing from the network/,
  ],
];
for (const [index, [title, happen, said]] of overForFirmware.entries()) {
  test(`firmware loads its UKI by itself, and is turned away once its system ${title}`, async () => {
    const server = await preparedBoot(`firmware-${index}`, { image: 'uki-os' });
    const load = () => fetch(`${boot.url}/boot/${server.token}/uki.efi`);
    assert.deepEqual(Buffer.from(await (await load()).arrayBuffer()), initrd);
    await happen(server);
    const refused = await load();
    assert.equal(refused.status, 403);
    assert.match(await refused.text(), said);
  });
}

test('firmware whose machine is to be installed anew gets its UKI, also from a replica that does not know it yet', async () => {
  const server = await preparedBoot('firmware-anew', { image: 'uki-os' });
  const { name } = server;
  const serverClaimRef = { namespace, name, uid: 'claim' };
  await room.client.mergePatch(Server, { name }, { spec: { serverClaimRef } });
  await room.enters(name, { state: 'Reserved', provisionedClaimUID: 'claim' });
  await room.until(room.servers, name, ({ status }) => status?.provisionedClaimUID === 'claim');
  await using lagging = await startBoot(optionsFor(room.withDeadWatches()));
  const statusFrom = async ({ url }: RunningBoot) => (await fetch(`${url}/boot/${server.token}/uki.efi`)).status;
  assert.equal(await statusFrom(lagging), 403);
  await room.enters(name, { provisionedClaimUID: null } as unknown as NonNullable<Server['status']>);
  assert.equal(await statusFrom(lagging), 200);
});

test('firmware that boots over HTTP without orders loads iPXE, and nothing else of its directory', async () => {
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
  assert.equal((await fetch(`${boot.url}/ipxe.efi`)).status, 404, 'no directory is named');
});

test('a boot configuration becomes Ready with a single write', async () => {
  const server = await room.booting('single', { image: 'probe-os' });
  const ready = await becomes('single', 'Ready');
  assert.equal(conditionOf(ready, 'ImageValidation'), undefined);
  // What is cached has none.
  const { metadata } = await room.client.get(ServerBootConfiguration, ready.metadata);
  const managers = (metadata as { managedFields?: { manager: string; subresource?: string }[] }).managedFields; // metav1.ObjectMeta has them
  assert.deepEqual(
    managers?.filter(({ subresource }) => subresource === 'status').map(({ manager }) => manager),
    ['metal-operator/boot'],
  );
  assert.equal(server.boot.metadata.uid, ready.metadata.uid);
});

test('what the operator boots is looked at when its server has left Initial and says what it can boot from', async () => {
  const looks: string[] = [];
  const { promise: looked, resolve } = Promise.withResolvers<void>();
  const client = finding((kind, ref, options) => {
    if (kind.kind === 'Secret') looks.push(`${ref.name} ${room.servers.get(ref.name)?.status?.state}`);
    if (ref.name === 'usual') resolve();
    return room.client.find(kind, ref, options);
  });
  await using _other = await startBoot(optionsFor({ client }));
  const uuid = randomUUID();
  await room.client.create(Server, { metadata: { name: 'young' }, spec: { systemUUID: uuid } });
  await room.bootsAgain('young', uuid, 'young', { image: 'probe-os', ignition, annotations: internal });
  await room.until(room.servers, 'young', ({ spec }) => spec.bootConfigurationRef !== undefined);
  await room.booting('usual', { image: 'probe-os', ignition });
  await looked;
  await room.enters('young', { state: 'Discovery', bootTargets: ['None', 'Pxe', 'Hdd'] });
  assert.equal((await becomes('young', 'Ready')).status?.boot?.method, 'iPXE');
  assert.ok(!looks.includes('young undefined'), looks.join(', '));
});

test('a boot without ignition says that the script was fetched at once', async () => {
  const server = await preparedBoot('bare');
  assert.doesNotMatch(await scriptOf(server), /ignition/);
  await evidenceArrives('bare', 'IPXEScriptFetched');
  assert.equal((await fetch(`${boot.url}/boot/${server.token}/ignition`)).status, 404);
});

test('a machine that fetches its script and then nothing more is seen to have come that far', async () => {
  await using hurried = await startBoot(optionsFor({ clock: createClock(20) }));
  const server = await preparedBoot('stuck', { ignition });
  await (await fetch(`${hurried.url}/ipxe/${server.uuid}`)).text();
  const stuck = await evidenceArrives('stuck', 'IPXEScriptFetched');
  assert.equal(conditionOf(stuck, 'IgnitionDataFetched'), undefined);
});

test('what was seen of a boot is written down before the service ends', async () => {
  const ending = await startBoot(optionsFor());
  const server = await preparedBoot('ending', { ignition });
  await (await fetch(`${ending.url}/ipxe/${server.uuid}`)).text();
  await ending[Symbol.asyncDispose]();
  assert.equal(conditionOf(await current('ending'), 'IPXEScriptFetched')?.status, 'True');
});

test('the news of a boot may come to registry and boot service alike', async () => {
  const server = await preparedBoot('both');
  const { client, servers, bootConfigurations, inventories, erasures, bootTokenKey, clock, log } = room;
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
  const told = await Promise.all([
    fetch(`${registry.url}/bootstate`, {
      method: 'POST',
      headers: { authorization: `Bearer ${server.token}` },
      body: JSON.stringify({ systemUUID: server.uuid, booted: true }),
    }),
    fetch(`${boot.url}/boot/${server.token}/booted`, { method: 'POST' }),
  ]);
  assert.deepEqual([told[0].status, told[1].status], [200, 200]);
  await evidenceArrives('both', 'BootStateReceived');
  const both = await evidenceArrives('both', 'IPXEScriptFetched');
  assert.equal(both.status?.conditions?.length, 2);
});

test('a machine that nobody knows is told so', async () => {
  const answer = await fetch(`${boot.url}/ipxe/00000000-0000-0000-0000-00000000dead`);
  assert.equal(answer.status, 404);
  assert.match(await answer.text(), /no Server has the system UUID/);
});

test('any machine is led to its own script', async () => {
  for (const path of ['/ipxe', '/ipxe/'])
    assert.match(await (await fetch(`${boot.url}${path}`)).text(), /^chain .*\/ipxe\/\$\{uuid\}/m);
});

test('a known machine that is not expected goes to its next boot device and leaves no trace', async () => {
  const server = await room.booting('unexpected', { image: 'probe-os', current: false });
  await becomes('unexpected', 'Ready');
  assert.match(
    await scriptOf(server),
    /^#!ipxe\necho unexpected boots from its next device: it has no boot configuration\nexit 1\n$/,
  );
  assert.equal(conditionOf(await current('unexpected'), 'IPXEScriptFetched'), undefined);
});

test('a boot service whose watch lags behind asks the API server before it sends a machine away', async () => {
  const server = await preparedBoot('lagging');
  const earlier = room.servers.get('lagging');
  assert.ok(earlier);
  const { bootConfigurationRef: _ref, ...spec } = earlier.spec;
  const stale = { ...asSeenBefore(earlier), by: () => [{ ...earlier, spec }] };
  await using lagging = await startBoot(optionsFor({ servers: stale }));
  for (const time of ['once', 'and at once again']) assert.match(await scriptOf(server, lagging), /^kernel /m, time);
});

test('a boot service whose watch lags behind asks the API server before it refuses the token of a boot', async () => {
  const server = await preparedBoot('lagging-token');
  const earlier = room.servers.get('lagging-token');
  assert.ok(earlier);
  const { bootConfigurationRef: _ref, ...spec } = earlier.spec;
  const stale = asSeenBefore({ ...earlier, spec });
  await using lagging = await startBoot(optionsFor({ servers: stale }));
  const answer = await fetch(`${lagging.url}/boot/${server.token}/kernel`);
  assert.equal(answer.status, 200);
  assert.equal((await answer.arrayBuffer()).byteLength, kernel.length);
});

/** A cache that knows one server as it was. */
const asSeenBefore = (server: Server): Cache<Server> => ({
  size: 1,
  get: () => server,
  all: () => [server],
  by: () => [server],
  onChange: (listener) => room.servers.onChange(listener),
});

/** What became of a server while a replica's watches were dead, and what its machine is to be told. */
const overtaken: [string, Record<string, string>, (server: BootingServer) => Promise<unknown>, RegExp][] = [
  [
    'whose claim was released',
    {},
    ({ name }) => room.client.mergePatch(Server, { name }, { spec: { bootConfigurationRef: null } }),
    /it has no boot configuration\nexit 1/,
  ],
  [
    'that was installed by way of another replica',
    {},
    ({ token }) => fetch(`${boot.url}/boot/${token}/booted`, { method: 'POST' }),
    /installed already\nexit 1/,
  ],
  [
    'whose boot configuration is being changed for the worse',
    {},
    async ({ boot: { metadata } }) => {
      await room.client.mergePatch(ServerBootConfiguration, metadata, { spec: { image: 'absent' } });
      await becomes(metadata.name, 'Error');
    },
    /configuration is Error\nexit 1/,
  ],
  [
    'that was claimed after its discovery',
    internal,
    async ({ name, uuid }) => {
      await room.bootsAgain(name, uuid, `${name}-claimed`, { image: 'absent' });
      await becomes(`${name}-claimed`, 'Error');
    },
    /configuration is Error\nexit 1/,
  ],
  [
    'in whose place another machine has come',
    {},
    ({ name }) => room.client.mergePatch(Server, { name }, { spec: { systemUUID: randomUUID() } }),
    /Server is gone\nexit 1/,
  ],
];
for (const [index, [title, annotations, change, expected]] of overtaken.entries()) {
  test(`a boot service whose watch lags behind asks the API server before it sends a boot to a machine ${title}`, async () => {
    const server = await preparedBoot(`overtaken-${index}`, { annotations });
    await room.until(room.servers, server.name, ({ spec }) => spec.bootConfigurationRef !== undefined);
    await using lagging = await startBoot(optionsFor(room.withDeadWatches()));
    assert.match(await scriptOf(server, lagging), /^kernel /m);
    await change(server);
    assert.match(await scriptOf(server, lagging), expected);
  });
}

test('a boot service whose watch died before a boot was prepared elsewhere serves it all the same', async () => {
  await using lagging = await startBoot(optionsFor(room.withDeadWatches()));
  const server = await preparedBoot('prepared-elsewhere', { ignition });
  for (const path of ['kernel', 'initrd', 'ignition'])
    assert.equal((await fetch(`${lagging.url}/boot/${server.token}/${path}`)).status, 200, path);
  assert.equal((await fetch(`${lagging.url}/boot/${server.token}/booted`, { method: 'POST' })).status, 200);
  assert.equal(conditionOf(await current(server.name), 'BootStateReceived')?.status, 'True');
});

test('a token of ours that nobody knows is asked about until it is known to be gone, and one that is guessed never', async () => {
  const server = await preparedBoot('soon-gone', { ignition });
  await room.client.delete(ServerBootConfiguration, server.boot.metadata);
  let lists = 0;
  const client = clientWith(room.client, {
    pages: (...request) => {
      lists += 1;
      return room.client.pages(...request);
    },
  });
  const bootConfigurations = new Store<ServerBootConfiguration>();
  await using forgetful = await startBoot(optionsFor({ client, bootConfigurations }));
  const statusOf = async (token: string) => (await fetch(`${forgetful.url}/boot/${token}/kernel`)).status;
  const forged = `${server.token.slice(0, -1)}${server.token.endsWith('A') ? 'B' : 'A'}`;
  assert.deepEqual([await statusOf('A'.repeat(44)), await statusOf(forged), lists], [403, 403, 0]);
  const answers = await Promise.all(Array.from({ length: 50 }, () => statusOf(server.token)));
  assert.deepEqual(new Set(answers), new Set([403]));
  const before = lists;
  assert.ok(before === 1 || before === 2, `${before} lists: one, and another for those who came while it was read`);
  assert.deepEqual([await statusOf(server.token), lists], [403, before], 'what is gone does not come back');
});

test('a token of ours that nobody knows waits while the API server is away', async () => {
  const server = await preparedBoot('known-elsewhere');
  const client = clientWith(room.client, { pages: pagesAway });
  const bootConfigurations = new Store<ServerBootConfiguration>();
  await using cutOff = await startBoot(optionsFor({ client, bootConfigurations }));
  const answer = await fetch(`${cutOff.url}/boot/${server.token}/kernel`);
  assert.deepEqual([answer.status, answer.headers.get('retry-after')], [503, '5']);
});

test('a boot service whose watch lags behind gives a machine nothing of the tenant before', async () => {
  const before = await preparedBoot('tenants', { ignition });
  await room.until(room.servers, 'tenants', ({ spec }) => spec.bootConfigurationRef !== undefined);
  await using lagging = await startBoot(optionsFor(room.withDeadWatches()));
  const later = await room.bootsAgain('tenants', before.uuid, 'tenants-later', { image: 'probe-os' });
  await becomes('tenants-later', 'Ready');
  const script = await scriptOf(before, lagging);
  assert.ok(script.includes(later.token) && !script.includes(before.token));
  assert.equal((await fetch(`${lagging.url}/boot/${before.token}/ignition`)).status, 403);
  await evidenceArrives('tenants-later', 'IPXEScriptFetched');
});

const cleanup = { ...internal, 'metal.ironcore.dev/cleanup-attempt': '1', 'metal.ironcore.dev/cleanup-mode': 'Purge' };
test('the order to erase is given while its server is in Cleanup, also by a boot service whose watch lags behind', async () => {
  const server = await preparedBoot('to-be-erased', { ignition, annotations: cleanup });
  await room.enters(server.name, { state: 'Cleanup' });
  await room.until(room.servers, server.name, ({ status }) => status?.state === 'Cleanup');
  await using lagging = await startBoot(optionsFor(room.withDeadWatches()));
  const askIgnition = () => fetch(`${lagging.url}/boot/${server.token}/ignition`);
  assert.equal((await askIgnition()).status, 200);
  await room.enters(server.name, { state: 'Maintenance' });
  const answer = await askIgnition();
  assert.equal(answer.status, 403);
  assert.match(await answer.text(), /state Maintenance is not cleaned up/);
  assert.match(await scriptOf(server, lagging), /state Maintenance is not cleaned up\nexit 1/);
});

test('a boot service whose watch lags behind gives out no ignition again to a system that is up', async () => {
  const server = await preparedBoot('up-elsewhere', { ignition });
  await room.until(room.servers, server.name, ({ spec }) => spec.bootConfigurationRef !== undefined);
  await using lagging = await startBoot(optionsFor(room.withDeadWatches()));
  assert.equal((await fetch(`${boot.url}/boot/${server.token}/booted`, { method: 'POST' })).status, 200);
  assert.equal((await fetch(`${lagging.url}/boot/${server.token}/ignition`)).status, 403);
});

test('a boot service whose watch lags behind writes down what it sees', async () => {
  const server = await preparedBoot('seen-late', { ignition });
  await room.until(room.servers, server.name, ({ spec }) => spec.bootConfigurationRef !== undefined);
  await using lagging = await startBoot(optionsFor(room.withDeadWatches()));
  await room.client.mergePatch(ServerBootConfiguration, server.boot.metadata, { metadata: { labels: { a: 'b' } } });
  assert.equal((await fetch(`${lagging.url}/boot/${server.token}/ignition`)).status, 200);
  await evidenceArrives('seen-late', 'IgnitionDataFetched');
});

test('a boot service whose watch lags behind says nothing of a boot configuration made anew under the same name', async () => {
  const before = await room.booting('remade', { image: 'nowhere' });
  await becomes('remade', 'Error');
  const dead = room.withDeadWatches();
  const unjudged = new Store<ServerBootConfiguration>();
  unjudged.absorb({ ...before.boot, status: {} });
  await room.client.delete(ServerBootConfiguration, before.boot.metadata);
  await room.bootsAgain('remade', before.uuid, 'remade', { image: 'probe-os' });
  await becomes('remade', 'Ready');
  const { promise: tried, resolve } = Promise.withResolvers<void>();
  const client = clientWith(
    room.client,
    {
      apply: (...request) => room.client.apply(...request).finally(resolve),
    },
    ['find'],
  );
  await using _lagging = await startBoot(optionsFor({ ...dead, bootConfigurations: unjudged, client }));
  await tried;
  assert.equal((await current('remade')).status?.state, 'Ready');
});

test('a script costs two requests to the API server, a kernel none', async () => {
  const server = await preparedBoot('frugal');
  await room.until(room.servers, server.name, ({ spec }) => spec.bootConfigurationRef !== undefined);
  const asked: string[] = [];
  const client = finding((kind, ref, options) => {
    // Secrets are looked at while boots are prepared.
    if (kind.kind !== 'Secret') asked.push(`${kind.kind} ${keyOf(ref)}`);
    return room.client.find(kind, ref, options);
  });
  await using frugal = await startBoot(optionsFor({ client }));
  assert.match(await scriptOf(server, frugal), /^kernel /m);
  assert.equal((await fetch(`${frugal.url}/boot/${server.token}/kernel`, { method: 'HEAD' })).status, 200);
  assert.deepEqual(asked, ['Server frugal', 'ServerBootConfiguration default/frugal']);
});

test('however often a machine is asked for, the API server is asked once at a time and once a second', async () => {
  const server = await preparedBoot('in-demand', { ignition });
  await room.until(room.servers, server.name, ({ spec }) => spec.bootConfigurationRef !== undefined);
  let now = 0;
  let atOnce = { now: 0, most: 0, all: 0 };
  const client = finding(async (kind, ref, options) => {
    if (kind.kind !== 'Server') return room.client.find(kind, ref, options);
    atOnce = { now: atOnce.now + 1, most: Math.max(atOnce.most, atOnce.now + 1), all: atOnce.all + 1 };
    try {
      return await room.client.find(kind, ref, options);
    } finally {
      atOnce.now -= 1;
    }
  });
  // Time stands still until somebody waits for it.
  const clock: BootOptions['clock'] = {
    ...room.clock,
    now: () => now,
    sleep: (delayMs) => Promise.resolve(void (now += delayMs)),
  };
  await using busy = await startBoot(optionsFor({ client, clock }));
  const asked = Array.from({ length: 300 }, (_, index) =>
    fetch(index % 3 === 0 ? `${busy.url}/boot/${server.token}/ignition` : `${busy.url}/ipxe/${server.uuid}`),
  );
  const statuses = new Set((await Promise.all(asked)).map(({ status }) => status));
  assert.deepEqual(statuses, new Set([200]), 'nobody is turned away');
  assert.equal(atOnce.most, 1);
  assert.ok(atOnce.all <= 5 + now / 1_000, `${atOnce.all} times within ${now} ms`);
});

test('a client that asks without end is told to come again, and files cost it nothing', async () => {
  const server = await preparedBoot('greedy');
  const [one, other] = ['127.0.0.1', '127.0.0.2'];
  await using limited = await startBoot(optionsFor({ bindsTokens: false, rateLimit: { burst: 3, perSecond: 0.1 } }));
  const ask = async (path: string, localAddress = one) => {
    const request = get({ host: '127.0.0.1', port: limited.port, path, localAddress, agent: false });
    const [answer] = (await once(request, 'response')) as [import('node:http').IncomingMessage]; // what the event carries
    answer.resume();
    return [answer.statusCode, answer.headers['retry-after']];
  };
  const script = `/ipxe/${server.uuid}`;
  for (const path of [script, '/ipxe/nobody', '/nowhere']) assert.notEqual((await ask(path))[0], 503, path);
  for (const path of [script, '/httpboot', `/boot/${server.token}/ignition`, '/nowhere'])
    assert.deepEqual(await ask(path), [503, '10'], path);
  for (const path of ['/ipxe/', `/boot/${server.token}/kernel`]) assert.deepEqual(await ask(path), [200, undefined]);
  assert.deepEqual(await ask(script, other), [200, undefined], 'another is not held up');
});

test('while the API server is away a machine waits for its script and its ignition, and loads its kernel', async () => {
  const server = await preparedBoot('waits', { ignition });
  const idle = await room.booting('idles', { image: 'probe-os', current: false });
  await room.until(room.servers, server.name, ({ spec }) => spec.bootConfigurationRef !== undefined);
  const client = finding(away);
  await using cutOff = await startBoot(optionsFor({ client, auth: 'none' }));
  const rows: [string, number, string | null][] = [
    [`/ipxe/${server.uuid}`, 503, '5'],
    [`/boot/${server.token}/ignition`, 503, '5'],
    [`/ignition/${server.uuid}`, 503, '5'],
    [`/boot/${server.token}/kernel`, 200, null],
    // A machine that seems to have nothing to boot goes on to its disk after some tries.
    [`/ipxe/${idle.uuid}`, 503, null],
  ];
  for (const [path, status, retryAfter] of rows) {
    const answer = await fetch(`${cutOff.url}${path}`);
    assert.deepEqual([answer.status, answer.headers.get('retry-after')], [status, retryAfter], path);
    assert.doesNotMatch(await answer.text(), /away/);
  }
});

/** A client that looks objects up in its own way. */
const finding = (find: ServiceRoom['client']['find']): ServiceRoom['client'] => clientWith(room.client, { find });

test('a system that says it is up is thanked when that is written down, and asked to try again when it cannot be', async () => {
  const server = await preparedBoot('says-it-once', { ignition });
  assert.equal((await fetch(`${boot.url}/boot/${server.token}/booted`, { method: 'POST' })).status, 200);
  assert.ok(conditionOf(await current(server.name), 'BootStateReceived'), 'it was written before the answer');

  const other = await preparedBoot('cannot-say', { ignition });
  const client = clientWith(room.client, { apply: away });
  await using cutOff = await startBoot(optionsFor({ client, clock: createClock(100) }));
  assert.equal((await fetch(`${cutOff.url}/boot/${other.token}/booted`, { method: 'POST' })).status, 503);
});

const strangers: [string, (server: BootingServer) => string][] = [
  ['a guessed token', () => 'A'.repeat(44)],
  ['a token with a letter too many', ({ token }) => `${token}A`],
  ['an empty token', () => '%20'],
];
for (const [index, [title, token]] of strangers.entries()) {
  test(`nothing is served for ${title}`, async () => {
    const server = await preparedBoot(`stranger-${index}`, { ignition });
    for (const path of ['kernel', 'initrd', 'ignition']) {
      assert.equal((await fetch(`${boot.url}/boot/${token(server)}/${path}`)).status, 403, path);
    }
    assert.equal((await fetch(`${boot.url}/boot/${token(server)}/booted`, { method: 'POST' })).status, 403);
    assert.equal(conditionOf(await current(server.name), 'BootStateReceived'), undefined);
  });
}

test('the token of an earlier boot is dead as soon as the server boots something else', async () => {
  const earlier = await preparedBoot('earlier', { ignition });
  const later = await room.bootsAgain('earlier', earlier.uuid, 'later', { image: 'probe-os', ignition });
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

test('no path leads out of a boot', async () => {
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

const nonsense: [string, string, readonly number[]][] = [
  ['a UUID that is no text', '/ipxe/%ff%fe', [400, 404]],
  ['half an escape', '/ipxe/%zz', [400]],
  ['an escaped end of a text', '/ipxe/%00', [404]],
  ['a UUID with line breaks', '/ipxe/a%0d%0aset-cookie:%20x', [404]],
  ['a UUID without end', `/ipxe/${'a'.repeat(5_000)}`, [414]],
  ['a token of escapes', `/boot/${'%2e%2e%2f'.repeat(15)}/kernel`, [403, 404]],
  ['a token that is no text', '/boot/%c3%28/ignition', [400, 403]],
  ['the name of something every object has', '/boot/__proto__/constructor', [404]],
  ['addresses that are none', '/httpboot/%2e%2e/%2e%2e/sha256-00.efi', [404]],
];
for (const [title, path, expected] of nonsense) {
  test(`${title} in an address is refused in plain words`, async () => {
    const { status, text } = await raw(path);
    assert.ok(expected.includes(status), `${status}: ${text}`);
    assert.ok(text.length < 300 && !/\r|    at |node_modules/.test(text), text);
  });
}

/** fetch would tidy the path up before it is sent. */
async function raw(path: string): Promise<{ status: number; text: string }> {
  const request = get({ host: '127.0.0.1', port: boot.port, path });
  const [response] = (await once(request, 'response')) as [import('node:http').IncomingMessage]; // what the event carries
  const chunks: Buffer[] = [];
  for await (const chunk of response) chunks.push(chunk);
  return { status: response.statusCode ?? 0, text: Buffer.concat(chunks).toString() };
}

test('firmware that asks for the length first, or for the rest of a file, is served', async () => {
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

test('looking at the head of a script or an ignition is no evidence of a boot', async () => {
  const server = await preparedBoot('heads', { ignition });
  using writes = room.writesTo(room.bootConfigurations, server.boot);
  await fetch(`${boot.url}/ipxe/${server.uuid}`, { method: 'HEAD' });
  await fetch(`${boot.url}/boot/${server.token}/ignition`, { method: 'HEAD' });
  await fetch(`${boot.url}/boot/${server.token}/booted`, { method: 'POST', body: '{"booted": false}' });
  await fetch(`${boot.url}/boot/${server.token}/booted`, { method: 'POST', body: '{"booted": true}' });
  const booted = await evidenceArrives('heads', 'BootStateReceived');
  assert.deepEqual(
    [writes.count, booted.status?.conditions?.length],
    [1, 1],
    'nothing but the boot itself was recorded',
  );
});

test('an image that is not there is an Error that says where it was looked for, until it is corrected', async () => {
  await room.booting('no-image', { image: 'ghcr.io/Org/os:1' });
  const failed = await becomes('no-image', 'Error');
  const complaint = conditionOf(failed, 'ImageValidation');
  assert.deepEqual([complaint?.status, complaint?.reason], ['False', 'ValidationFailed']);
  assert.match(complaint?.message ?? '', /ghcr\.io\/Org\/os:1" is not understood; .*registry\.example\/org\/os:1/);
  assert.match((await eventAbout(room.client, failed)).note, /is not understood/);
  await room.client.mergePatch(
    ServerBootConfiguration,
    { name: 'no-image', namespace },
    { spec: { image: `file://${files.path}` } },
  );
  const ready = await becomes('no-image', 'Ready');
  assert.equal(conditionOf(ready, 'ImageValidation'), undefined);
});

test('a boot configuration that is changed for the worse is no longer Ready', async () => {
  await preparedBoot('worse');
  await room.client.mergePatch(
    ServerBootConfiguration,
    { name: 'worse', namespace },
    { spec: { image: `file://${tmpdir()}/nowhere/` } },
  );
  assert.match(
    conditionOf(await becomes('worse', 'Error'), 'ImageValidation')?.message ?? '',
    /\/nowhere\/vmlinuz cannot be read/,
  );
});

test('a boot service takes over what another said for want of one', async () => {
  const server = await room.booting('pending', { image: 'absent' });
  await becomes('pending', 'Error');
  await room.client.apply(
    ServerBootConfiguration,
    { metadata: { name: 'pending', namespace }, status: { state: 'Pending' } },
    { fieldManager: 'somebody', subresource: 'status', force: true },
  );
  await room.client.mergePatch(
    ServerBootConfiguration,
    { name: 'pending', namespace },
    { spec: { image: 'probe-os' } },
  );
  assert.equal((await becomes('pending', 'Ready')).metadata.uid, server.boot.metadata.uid);
});

test('an ignition that comes late is waited for without a word, and a missing one is named', async () => {
  await using hurried = await startBoot(optionsFor({ clock: createClock(20) }));
  assert.ok(hurried.port > 0);
  await room.client.create(ServerBootConfiguration, {
    metadata: { name: 'late-ignition', namespace },
    spec: { serverRef: { name: 's' }, image: 'probe-os', ignitionSecretRef: { name: 'late-ignition' } },
  });
  const failed = await becomes('late-ignition', 'Error');
  assert.match(
    conditionOf(failed, 'IgnitionValidation')?.message ?? '',
    /Secret "late-ignition" .* does not exist in namespace "default"/,
  );
  await room.secret('late-ignition', { ignition });
  assert.equal(conditionOf(await becomes('late-ignition', 'Ready'), 'IgnitionValidation'), undefined);
});

test('an ignition that names no format and is no JSON is an Error, as nothing could read it', async () => {
  await room.booting('butane-without-format', { image: 'probe-os', ignition: butane, format: '' });
  const { message = '' } = conditionOf(await becomes('butane-without-format', 'Error'), 'IgnitionValidation') ?? {};
  assert.match(message, /^IgnitionInvalid: key "ignition" .* is no JSON; expected .* "format": fcos for Butane$/);
  const broken = '{"ignition": {"version": "3.4.0"},\n "hunter2": tru}';
  await room.booting('broken-json', { image: 'probe-os', ignition: broken, format: '' });
  const told = conditionOf(await becomes('broken-json', 'Error'), 'IgnitionValidation')?.message ?? '';
  assert.match(told, /is no JSON/);
  assert.doesNotMatch(told, /hunter2/);
});

test('without the program, Butane is an Error that names the option, and Ignition boots', async () => {
  await room.booting('untranslated', { image: 'probe-os', ignition: butane });
  const { message = '' } = conditionOf(await becomes('untranslated', 'Error'), 'IgnitionValidation') ?? {};
  assert.match(message, /^IgnitionTranslatorMissing: .*--butane/);
  await preparedBoot('as-it-is', { ignition: '{}' });
});

test('an ignition of any other format is handed on byte for byte', async () => {
  const { token } = await preparedBoot('raw-ignition', { ignition: '#cloud-config\n', format: 'cloud-init' });
  assert.equal(await (await fetch(`${boot.url}/boot/${token}/ignition`)).text(), '#cloud-config\n');
});

test('ignition by UUID is for images that know no token, and only where no token is asked for', async () => {
  const server = await preparedBoot('by-uuid', { ignition });
  assert.equal((await fetch(`${boot.url}/ignition/${server.uuid}`)).status, 403);
  await using open = await startBoot(optionsFor({ auth: 'none' }));
  assert.equal((await fetch(`${open.url}/ignition/${server.uuid.toUpperCase()}`)).status, 200);
});

test('an image on another web server is passed through, in parts too, and let go when the machine goes', async () => {
  const closed = Promise.withResolvers<void>();
  const upstream = createServer((request, response) => {
    if (request.method === 'HEAD') return response.writeHead(200, { 'content-length': kernel.length }).end();
    if (request.headers.range === 'bytes=0-3')
      return response
        .writeHead(206, { 'content-length': 4, 'content-range': `bytes 0-3/${kernel.length}` })
        .end(kernel.subarray(0, 4));
    if (request.url === '/os/vmlinuz')
      return response.writeHead(200, { 'content-length': kernel.length, etag: '"k"' }).end(kernel);
    // An initrd that never ends, until somebody hangs up.
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

test('beyond the files that may be sent at once a machine is told to wait, unless another address has more of them', async () => {
  await using large = await directoryWith({ vmlinuz: Buffer.alloc(16 * 1_048_576), initrd });
  const { token, uuid } = await preparedBoot('queues', { image: `file://${large.path}`, ignition });
  await using narrow = await startBoot(optionsFor({ bindsTokens: false, mostDownloads: 2 }));
  const ask = async (file: string, localAddress = '127.0.0.1') => {
    const request = get(`${narrow.url}${file}`, { localAddress, agent: false });
    const [answer] = (await once(request, 'response')) as [import('node:http').IncomingMessage]; // what the event carries
    return answer.pause();
  };
  const slow = [await ask(`/boot/${token}/kernel`), await ask(`/boot/${token}/kernel`)];
  const refused = await ask(`/boot/${token}/initrd`);
  assert.deepEqual([refused.statusCode, refused.headers['retry-after']], [503, '5']);
  for (const file of [`/ipxe/${uuid}`, `/boot/${token}/ignition`])
    assert.equal((await ask(file)).statusCode, 200, 'what is small is answered');
  const gone = slow[1] && once(slow[1], 'error');
  const other = await ask(`/boot/${token}/initrd`, '127.0.0.2');
  slow[1]?.resume();
  assert.equal(other.statusCode, 200);
  await gone;
  for (const answer of [...slow, refused, other]) answer.destroy();
});

test('machines that stop reading hold no memory', async () => {
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
