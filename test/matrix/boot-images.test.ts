import assert from 'node:assert/strict';
import { randomBytes, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, get, type IncomingMessage } from 'node:http';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { Server } from '@metal/api/v1alpha1/server.ts';
import { ServerBootConfiguration } from '@metal/api/v1alpha1/server-boot-configuration.ts';
import { ServerInventory } from '@metal/api/v1alpha1/server-inventory.ts';
import { probeReport } from '@metal/api/wire/probe-report.ts';
import { type BootOptions, type RunningBoot, startBoot } from '@metal/boot/boot.ts';
import { createClock } from '@metal/kube/runtime/clock.ts';
import { freePort } from '@metal/controlplane/free-port.ts';
import { eventAbout } from '@metal/testenv/cluster/event-about.ts';
import { digestOf, type ImageRegistry, startImageRegistry } from '@metal/testenv/network/image-registry.ts';
import {
  type BootingServer,
  directoryWith,
  namespace,
  openServiceFixture,
  type ServiceFixture,
} from '@metal/testenv/cluster/service-fixture.ts';

const type = (name: string): string => `application/vnd.ironcore.image.${name}`;
const former = (name: string): string => `application/io.gardenlinux.${name}`;
const bytesOf = {
  kernel: randomBytes(300_000),
  initrd: randomBytes(700_000),
  squashfs: randomBytes(900_000),
  uki: randomBytes(500_000),
};
const { kernel, initrd, squashfs, uki } = bytesOf;

let fixture: ServiceFixture;
let registry: ImageRegistry;
let guarded: ImageRegistry;
/** Is stopped in one of the tests. */
let passing: ImageRegistry;
let files: Awaited<ReturnType<typeof directoryWith>>;
let boot: RunningBoot;
const unreachable = `127.0.0.1:${await freePort()}`;

before(async () => {
  [fixture, registry, passing, guarded] = await Promise.all([
    openServiceFixture(),
    startImageRegistry(),
    startImageRegistry(),
    startImageRegistry({ credentials: { username: 'reader', password: 'secret' } }),
  ]);
  files = await directoryWith({
    'config.json': JSON.stringify({ auths: { [guarded.host]: { auth: btoa('reader:secret') } } }),
    'wrong.json': JSON.stringify({ auths: { [guarded.host]: { auth: btoa('reader:guess') } } }),
  });
  boot = await startBoot(optionsFor());
});
after(async () => {
  await boot[Symbol.asyncDispose]();
  await files[Symbol.asyncDispose]();
  await guarded[Symbol.asyncDispose]();
  await passing[Symbol.asyncDispose]();
  await registry[Symbol.asyncDispose]();
  await fixture[Symbol.asyncDispose]();
});

type Registries = NonNullable<BootOptions['registries']>;

function optionsFor(registries: Partial<Registries> = {}, more: Partial<BootOptions> = {}): BootOptions {
  const known = [registry.host, passing.host, guarded.host, unreachable];
  const usual = { allowed: known, insecure: known, architecture: 'amd64', cacheBytes: 100_000_000 };
  return fixture.bootOptions({ registries: { ...usual, ...registries }, ...more });
}

const becomes = (name: string, state: string): Promise<ServerBootConfiguration> =>
  fixture.until(fixture.bootConfigurations, `${namespace}/${name}`, ({ status }) => status?.state === state);
const errorOf = ({ status }: ServerBootConfiguration): string =>
  status?.conditions?.find(({ type: each }) => each === 'ImageValidation')?.message ?? '';

async function prepared(name: string, image: string): Promise<BootingServer> {
  const server = await fixture.booting(name, { image });
  await becomes(name, 'Ready');
  return server;
}

async function bodyOf(url: string): Promise<Buffer> {
  const response = await fetch(url);
  assert.equal(response.status, 200, url);
  return Buffer.from(await response.arrayBuffer());
}

const pushFull = (repository: string, tag = '1'): Promise<string> =>
  registry.push(repository, tag, [
    [type('kernel'), kernel],
    [type('initramfs'), initrd],
    [type('squashfs'), squashfs],
    [type('uki'), uki],
  ]);

test('a machine boots kernel, initrd and squashfs of an OCI image for its architecture', async () => {
  const [digest, other] = [await pushFull('org/os', 'amd'), await registry.push('org/os', 'arm', [[type('uki'), uki]])];
  await registry.pushIndex('org/os', '1', { arm64: other, amd64: digest });
  const server = await prepared('oci', `${registry.host}/org/os:1`);
  const ready = await becomes('oci', 'Ready');
  assert.deepEqual(ready.status?.boot, {
    image: `${registry.host}/org/os:1`,
    method: 'iPXE',
    methods: ['iPXE', 'UefiHttp'],
    digest,
  });

  const script = await (await fetch(`${boot.url}/ipxe/${server.uuid}`)).text();
  assert.match(script, /^kernel \S+\/kernel initrd=initrd gl\.ovl=\/:tmpfs gl\.url=\S+\/squashfs gl\.live=1 ip=any /m);
  for (const name of ['kernel', 'initrd', 'squashfs'] as const)
    assert.deepEqual(await bodyOf(`${boot.url}/boot/${server.token}/${name}`), bytesOf[name]);
  const head = await fetch(`${boot.url}/boot/${server.token}/kernel`, { method: 'HEAD' });
  assert.deepEqual(
    [head.headers.get('content-length'), head.headers.get('etag')],
    [String(kernel.length), `"${digestOf(kernel)}"`],
  );
});

test('a server with another architecture gets the image for that architecture', async () => {
  const [amd, arm] = [await pushFull('org/both', 'amd'), await registry.push('org/both', 'arm', [[type('uki'), uki]])];
  await registry.pushIndex('org/both', '1', { amd64: amd, arm64: arm });
  await fixture.client.create(Server, { metadata: { name: 'arm' }, spec: { systemUUID: randomUUID() } });
  const status = { processors: [{ id: '1', type: 'CPU', architecture: 'ARM' }] };
  await fixture.client.mergePatch(Server, { name: 'arm' }, { status }, { subresource: 'status' });
  await fixture.until(fixture.servers, 'arm', (server) => server.status?.processors !== undefined);
  await fixture.bootAgain('arm', '', 'arm', { image: `${registry.host}/org/both:1` });
  assert.deepEqual((await becomes('arm', 'Ready')).status?.boot?.digest, arm);
});

test('an image with the earlier media types boots as well', async () => {
  await registry.push('org/former', '1', [
    [former('kernel'), kernel],
    [former('initrd'), initrd],
  ]);
  const { token } = await prepared('former', `${registry.host}/org/former:1`);
  assert.deepEqual(await bodyOf(`${boot.url}/boot/${token}/initrd`), initrd);
  assert.equal((await fetch(`${boot.url}/boot/${token}/uki.efi`)).status, 404);
});

test('a UKI image boots over UEFI HTTP, or as an iPXE program', async () => {
  await registry.push('org/uki', '1', [[type('uki'), uki]]);
  const server = await prepared('uki', `${registry.host}/org/uki:1`);
  assert.equal((await becomes('uki', 'Ready')).status?.boot?.method, 'UefiHttp');
  const url = `${boot.url}/boot/${server.token}/uki.efi`;
  assert.match(await (await fetch(`${boot.url}/ipxe/${server.uuid}`)).text(), /^chain \S+\/uki\.efi \|\|/m);
  const head = await fetch(url, { method: 'HEAD' });
  assert.deepEqual(
    [head.headers.get('content-type'), head.headers.get('content-length')],
    ['application/efi', String(uki.length)],
  );
  const part = await fetch(url, { headers: { range: 'bytes=400000-' } });
  assert.deepEqual([part.status, Buffer.from(await part.arrayBuffer())], [206, uki.subarray(400_000)]);
});

test('a prepared boot is served after a restart, with a moved tag and without the registry', async () => {
  await using cache = await directoryWith({});
  const registries = { cacheDirectory: cache.path };
  const layers = [kernel, initrd].map((bytes, index) => [type(['kernel', 'initramfs'][index] ?? ''), bytes] as const);
  const digest = await passing.push('org/os', 'latest', layers);
  const server = await fixture.booting('restarted', { image: `${passing.host}/org/os` });
  assert.equal((await becomes('restarted', 'Ready')).status?.boot?.digest, digest);
  {
    await using first = await startBoot(optionsFor(registries));
    for (const name of ['kernel', 'initrd']) await bodyOf(`${first.url}/boot/${server.token}/${name}`);
  }
  await passing.push('org/os', 'latest', [[type('uki'), uki]]);
  await passing.kill();
  await using second = await startBoot(optionsFor(registries));
  assert.deepEqual(await bodyOf(`${second.url}/boot/${server.token}/kernel`), kernel);
  assert.deepEqual(await bodyOf(`${second.url}/boot/${server.token}/initrd`), initrd);
});

test('credentials are read from the file of docker login, and missing or wrong ones are reported', async () => {
  await guarded.push('org/secret', '1', [[type('uki'), uki]]);
  const image = `${guarded.host}/org/secret:1`;
  await fixture.booting('guarded', { image });
  assert.match(
    errorOf(await becomes('guarded', 'Error')),
    /^RegistryDenied: .*answers 401 .*there are none for it in --registry-cred/,
  );
  {
    await using _wrong = await startBoot(optionsFor({ credentialsFile: join(files.path, 'wrong.json') }));
    const hasRejectedCredentials = ({ status }: ServerBootConfiguration) =>
      status?.conditions?.some(({ message }) => message?.includes('do not suffice')) ?? false;
    await fixture.until(fixture.bootConfigurations, `${namespace}/guarded`, hasRejectedCredentials);
  }
  await using _right = await startBoot(optionsFor({ credentialsFile: join(files.path, 'config.json') }));
  await becomes('guarded', 'Ready');
});

const invalidImages: [string, () => Promise<unknown>, () => string, RegExp][] = [
  ['is not a valid reference', async () => {}, () => 'ghcr.io/../os', /^ImageNotUnderstood: .*is not understood/],
  [
    'is in a registry that is not allowed',
    async () => {},
    () => 'ghcr.io/org/os:1',
    /^RegistryNotAllowed: .*lies in registry ghcr\.io; expected one that --allowed-registries names$/,
  ],
  [
    'is a short name of a registry that is not allowed',
    async () => {},
    () => 'os',
    /^RegistryNotAllowed: .*lies in registry docker\.io/,
  ],
  [
    'is in an unreachable registry',
    async () => {},
    () => `${unreachable}/org/os:1`,
    /^RegistryUnreachable: .*does not answer: .*ECONNREFUSED/,
  ],
  [
    'does not exist',
    async () => {},
    () => `${registry.host}/org/nothing:1`,
    /^ImageMissing: .*has no ".*\/org\/nothing:1"/,
  ],
  [
    'is for another architecture only',
    async () => {
      const digest = await registry.push('bad/arm', 'arm', [[type('uki'), uki]]);
      await registry.pushIndex('bad/arm', '1', { arm64: digest });
    },
    () => `${registry.host}/bad/arm:1`,
    /^ArchitectureMissing: .*is for arm64; the server needs amd64/,
  ],
  [
    'lacks its initrd',
    () => registry.push('bad/half', '1', [[type('kernel'), kernel]]),
    () => `${registry.host}/bad/half:1`,
    /^LayerMissing: .*iPXE: it lacks the layer initrd \(application\/vnd\.ironcore\.image\.initramfs\); UefiHttp: it lacks the layer uki/,
  ],
  [
    'has a layer that was changed in its registry',
    async () => {
      const damaged = randomBytes(5_000);
      await registry.push('bad/damaged', '1', [[type('uki'), damaged]]);
      await registry.damage(digestOf(damaged), randomBytes(5_000));
    },
    () => `${registry.host}/bad/damaged:1`,
    /^DigestMismatch: uki of .* its digest is sha256:\w+, expected sha256:\w+; nothing of it is served/,
  ],
  [
    'exceeds the cache size',
    () => registry.push('bad/large', '1', [[type('uki'), Buffer.alloc(100_000_001)]]),
    () => `${registry.host}/bad/large:1`,
    /^ArtefactTooLarge: .*100000001 bytes; --boot-cache-size leaves room for 100000000/,
  ],
];
for (const [index, [title, push, image, message]] of invalidImages.entries()) {
  test(`an image that ${title} is an Error with a matching message, and no file of it is served`, async () => {
    await push();
    const server = await fixture.booting(`invalid-${index}`, { image: image() });
    const failed = await becomes(`invalid-${index}`, 'Error');
    assert.match(errorOf(failed), message);
    assert.equal(failed.status?.boot, undefined);
    for (const name of ['kernel', 'initrd', 'uki.efi'])
      assert.equal((await fetch(`${boot.url}/boot/${server.token}/${name}`)).status, 403, name);
  });
}

test('a slow registry delays no other boot, and the condition reports ImagePulling', async () => {
  const released = Promise.withResolvers<void>();
  const requested = Promise.withResolvers<void>();
  let isSlowAgain = false;
  const layers = Array.from({ length: 41 }, () => randomBytes(100));
  const manifestOf = (bytes: Buffer) =>
    JSON.stringify({ layers: [{ mediaType: type('uki'), digest: digestOf(bytes), size: bytes.length }] });
  const slow = createServer((request, response) => {
    const [, tag] = /manifests\/(\d+)$/.exec(request.url ?? '') ?? [];
    if (tag !== undefined) return response.end(manifestOf(layers[Number(tag)] ?? Buffer.alloc(0)));
    const bytes = layers.find((layer) => request.url?.endsWith(digestOf(layer)));
    response.flushHeaders();
    if (isSlowAgain) return requested.resolve();
    return void released.promise.then(() => response.end(bytes));
  });
  slow.listen(0, '127.0.0.1');
  await once(slow, 'listening');
  const address = slow.address();
  const host = `127.0.0.1:${typeof address === 'object' ? address?.port : 0}`;
  const known = [host, registry.host];
  // The boot service of the other tests rejects this registry; here only the conditions of this one count.
  await boot[Symbol.asyncDispose]();
  await registry.push('org/quick', '1', [[type('uki'), uki]]);
  try {
    await using _fastBoot = await startBoot(optionsFor({ allowed: known, insecure: known }, { clock: createClock(5) }));
    const names = layers.slice(1).map((_, index) => `slow-registry-${index}`);
    for (const [index, name] of names.entries()) await fixture.booting(name, { image: `${host}/org/os:${index}` });
    const waiting = await becomes('slow-registry-0', 'Pending');
    const condition = waiting.status?.conditions?.find(({ reason }) => reason === 'ImagePulling');
    assert.deepEqual([condition?.type, condition?.status], ['ImageValidation', 'Unknown']);
    await prepared('not-held-up', `${registry.host}/org/quick:1`);
    released.resolve();
    for (const name of names) await becomes(name, 'Ready');
    const first = await becomes('slow-registry-0', 'Ready');
    assert.equal(errorOf(first), '');

    isSlowAgain = true;
    using writes = fixture.writesTo(fixture.bootConfigurations, first);
    await using another = await startBoot(optionsFor({ allowed: known, insecure: known }, { clock: createClock(10) }));
    await requested.promise;
    await fixture.booting('pulled-meanwhile', { image: `${host}/org/os:${names.length}` });
    await becomes('pulled-meanwhile', 'Pending');
    assert.equal(writes.count, 0, 'a second replica that has to pull the image does not overwrite Ready');
    await another[Symbol.asyncDispose]();
  } finally {
    slow.closeAllConnections();
    slow.close();
    boot = await startBoot(optionsFor());
  }
});

test("the endpoints of IronCore's boot operator for DHCP servers and firmware work without a token", async () => {
  await registry.push('org/known', '1', [[type('uki'), uki]]);
  const server = await prepared('known', `${registry.host}/org/known:1`);
  const networkInterfaces = [{ name: 'eth0', macAddress: 'aa:bb:cc:00:00:01', ips: ['192.0.2.77'] }];
  await fixture.client.mergePatch(
    Server,
    { name: 'known' },
    { status: { networkInterfaces } },
    { subresource: 'status' },
  );
  await fixture.until(fixture.servers, 'known', ({ status }) => status?.networkInterfaces !== undefined);
  const url = `${boot.url}/httpboot/${registry.host}/org/known/${digestOf(uki).replace(':', '-')}.efi`;
  await using behindProxy = await startBoot(optionsFor({}, { trustedProxies: ['127.0.0.0/8'] }));
  for (const [{ url: at }, uuid] of [
    [boot, undefined],
    [behindProxy, server.uuid],
  ] as const) {
    for (const identifiers of ['192.0.2.77', '192.0.2.1, AA-BB-CC-00-00-01']) {
      const response = await fetch(`${at}/httpboot`, { headers: { 'x-forwarded-for': identifiers } });
      const reported = (await response.json()) as { UKIURL: string; SystemUUID?: string }; // as that boot operator answers
      const path = new URL(reported.UKIURL).pathname;
      assert.deepEqual([path, reported.SystemUUID], [new URL(url).pathname, uuid], 'the header can be forged');
    }
  }
  assert.equal((await fetch(`${boot.url}/httpboot`)).status, 404, 'the machine is unknown');
  assert.deepEqual(await bodyOf(url), uki);
  const query = new URLSearchParams({
    imageName: `${registry.host}/org/known`,
    version: '1',
    layerDigest: digestOf(uki),
  });
  assert.deepEqual(await bodyOf(`${boot.url}/image?${query.toString()}`), uki);
});

test('an unknown machine is offered the default UKI', async () => {
  await registry.push('org/default', '1', [[type('uki'), uki]]);
  await using open = await startBoot(optionsFor({}, { defaultUkiImage: `${registry.host}/org/default:1` }));
  const reported = (await (await fetch(`${open.url}/httpboot`)).json()) as { UKIURL: string; SystemUUID?: string }; // see above
  assert.equal(reported.SystemUUID, undefined);
  assert.deepEqual(await bodyOf(reported.UKIURL), uki);
});

test('only layers of images with a prepared boot are served without a token', async () => {
  const unrelated = randomBytes(1_000);
  await registry.push('org/asked', '1', [[type('uki'), uki]]);
  await registry.push('org/unasked', '1', [[type('uki'), unrelated]]);
  await prepared('asked', `${registry.host}/org/asked:1`);
  const known = digestOf(uki).replace(':', '-');
  const unknown = digestOf(unrelated).replace(':', '-');
  const paths = [
    `/httpboot/${registry.host}/org/unasked/${unknown}.efi`,
    `/httpboot/${registry.host}/org/unasked/${known}.efi`,
    `/httpboot/${registry.host}/org/asked/${unknown}.efi`,
    `/httpboot/${registry.host}/org/asked/${known}`,
    `/httpboot/${registry.host}/org/asked/../asked/${known}.efi`,
    `/httpboot/${registry.host}/org/asked/..%2f..%2f..%2fetc%2fpasswd`,
    `/httpboot/../../etc/passwd`,
    `/image`,
    `/image?imageName=${registry.host}/org/asked&version=1`,
    `/image?imageName=${registry.host}/org/asked&version=1&layerDigest=sha256:..%2f..%2fetc%2fpasswd`,
    `/image?imageName=${registry.host}/org/unasked&version=1&layerDigest=${digestOf(unrelated)}`,
    `/image?imageName=..%2f..%2fetc&version=1&layerDigest=${digestOf(uki)}`,
  ];
  for (const path of paths) {
    const [response] = (await once(get({ host: '127.0.0.1', port: boot.port, path }), 'response')) as [IncomingMessage]; // what the event carries
    response.resume();
    assert.ok(response.statusCode === 404 || response.statusCode === 400, `${path}: ${response.statusCode}`);
  }
});

test('the token of one server gives no access to the image of another', async () => {
  const [one, other] = [randomBytes(1_000), randomBytes(1_000)];
  await registry.push('org/one', '1', [[type('uki'), one]]);
  await registry.push('org/other', '1', [[type('uki'), other]]);
  const servers = [
    await prepared('one', `${registry.host}/org/one:1`),
    await prepared('other', `${registry.host}/org/other:1`),
  ];
  const got = await Promise.all(servers.map(({ token }) => bodyOf(`${boot.url}/boot/${token}/uki.efi`)));
  assert.deepEqual(got, [one, other]);
});

test('the boot targets of the BMC are respected, also when they become known after the boot', async () => {
  await pushFull('org/late', '1');
  await prepared('late', `${registry.host}/org/late:1`);
  assert.equal((await becomes('late', 'Ready')).status?.boot?.method, 'iPXE');
  const offer = (bootTargets: string[]) =>
    fixture.client.mergePatch(Server, { name: 'late' }, { status: { bootTargets } }, { subresource: 'status' });
  await offer(['None', 'Hdd']);
  const rejected = await becomes('late', 'Error');
  assert.match(errorOf(rejected), /NoBootMethod: .*iPXE: the server does not offer it; UefiHttp: the server does not/);
  await offer(['None', 'Pxe', 'Hdd']);
  const { status } = await becomes('late', 'Ready');
  assert.deepEqual([status?.boot?.method, status?.boot?.methods], ['iPXE', undefined]);
});

test('an overdue boot step is reported on the boot configuration until it happens', async () => {
  await registry.push('org/slow', '1', [
    [type('kernel'), kernel],
    [type('initramfs'), initrd],
  ]);
  const server = await prepared('slow', `${registry.host}/org/slow:1`);
  await fixture.client.mergePatch(
    Server,
    { name: 'slow' },
    { status: { powerState: 'On' } },
    { subresource: 'status' },
  );
  await fixture.until(fixture.servers, 'slow', ({ status }) => status?.powerState === 'On');
  await using fastBoot = await startBoot(optionsFor({}, { clock: createClock(5), deadlines: { kernel: 15_000 } }));
  assert.match(await (await fetch(`${fastBoot.url}/ipxe/${server.uuid}`)).text(), /^kernel /m);
  const overdueOf = ({ status }: ServerBootConfiguration) =>
    status?.conditions?.find(({ type: each }) => each === 'BootOverdue');
  const late = await fixture.until(
    fixture.bootConfigurations,
    `${namespace}/slow`,
    (object) => overdueOf(object) !== undefined,
  );
  assert.deepEqual([overdueOf(late)?.status, overdueOf(late)?.reason], ['True', 'KernelOverdue']);
  assert.match(overdueOf(late)?.message ?? '', /kernel did not come within 15 s; it fetched its boot script at /);
  await bodyOf(`${fastBoot.url}/boot/${server.token}/kernel`);
  await fixture.until(
    fixture.bootConfigurations,
    `${namespace}/slow`,
    (object) => overdueOf(object)?.reason !== 'KernelOverdue',
  );
});

test('a powered-on machine without a request is reported with the unknown machine that sent one meanwhile', async () => {
  await registry.push('org/silent', '1', [
    [type('kernel'), kernel],
    [type('initramfs'), initrd],
  ]);
  await prepared('silent', `${registry.host}/org/silent:1`);
  await using fastBoot = await startBoot(optionsFor({}, { clock: createClock(5), deadlines: { script: 15_000 } }));
  const unrelated = randomUUID();
  const power = async (powerState: string) => {
    await fixture.client.mergePatch(Server, { name: 'silent' }, { status: { powerState } }, { subresource: 'status' });
    await fixture.until(fixture.servers, 'silent', ({ status }) => status?.powerState === powerState);
  };
  await power('Off');
  await power('On');
  assert.equal((await fetch(`${fastBoot.url}/ipxe/${unrelated.toUpperCase()}`)).status, 404);
  const isOverdue = ({ status }: ServerBootConfiguration) =>
    status?.conditions?.some(({ type: each, reason }) => each === 'BootOverdue' && reason === 'ScriptOverdue') ?? false;
  const late = await fixture.until(fixture.bootConfigurations, `${namespace}/silent`, isOverdue);
  const { note } = await eventAbout(fixture.client, late);
  assert.match(note, /script did not come within 15 s; the server was powered on at/);
  assert.match(note, /; a machine with an unknown UUID asked$/);
});

test('no boot step is overdue on a machine that has run since before its boot was created', async () => {
  await registry.push('org/early', '1', [
    [type('kernel'), kernel],
    [type('initramfs'), initrd],
  ]);
  const image = `${registry.host}/org/early:1`;
  const [early, overdue] = [await prepared('runs-since', image), await prepared('starts-later', image)];
  await using _fastBoot = await startBoot(optionsFor({}, { clock: createClock(5), deadlines: { script: 15_000 } }));
  const power = async (name: string, powerState: string) => {
    await fixture.client.mergePatch(Server, { name }, { status: { powerState } }, { subresource: 'status' });
    await fixture.until(fixture.servers, name, ({ status }) => status?.powerState === powerState);
  };
  for (const powerState of ['Off', 'On']) await power(early.name, powerState);
  await fixture.bootAgain(early.name, early.uuid, 'runs-since-2', { image });
  await becomes('runs-since-2', 'Ready');
  const refersToIt = ({ spec }: Server) => spec.bootConfigurationRef?.name === 'runs-since-2';
  await fixture.until(fixture.servers, early.name, refersToIt);
  const later = { metadata: { annotations: { touched: 'yes' } } };
  await fixture.client.mergePatch(ServerBootConfiguration, { namespace, name: 'runs-since-2' }, later);
  for (const powerState of ['Off', 'On']) await power(overdue.name, powerState);
  const isOverdue = ({ status }: ServerBootConfiguration) =>
    status?.conditions?.some(({ reason }) => reason === 'ScriptOverdue') ?? false;
  await fixture.until(fixture.bootConfigurations, `${namespace}/${overdue.name}`, isOverdue);
  const again = await fixture.client.get(ServerBootConfiguration, { namespace, name: 'runs-since-2' });
  assert.equal(isOverdue(again), false);
});

test('a probe report is a step of the boot that it names only', async () => {
  await registry.push('org/probe', '1', [[type('uki'), uki]]);
  const [reported, unreported] = [
    await prepared('probed', `${registry.host}/org/probe:1`),
    await prepared('unprobed', `${registry.host}/org/probe:1`),
  ];
  const reportingBoot = await startBoot(optionsFor({}, { inventories: fixture.inventories }));
  const arrived = fixture.until(fixture.inventories, 'unprobed', () => true);
  for (const { name, uuid } of [reported, unreported])
    await fixture.client.create(ServerInventory, {
      metadata: { name },
      spec: {
        serverRef: { name },
        systemUUID: uuid,
        bootConfigurationUID: reported.boot.metadata.uid,
        receivedTime: new Date().toISOString(),
        reportDigest: '0'.repeat(64),
        report: probeReport.parse({}),
      },
    });
  await arrived;
  await reportingBoot[Symbol.asyncDispose]();
  const stepsOf = async (name: string) =>
    (await fixture.client.get(ServerBootConfiguration, { name, namespace })).status?.boot?.steps?.map(
      (step) => step.name,
    );
  assert.deepEqual([await stepsOf('probed'), await stepsOf('unprobed')], [['probe'], undefined]);
});

test("a DHCP request is recorded as a step of that machine's boot only", async () => {
  await registry.push('org/dhcp', '1', [[type('uki'), uki]]);
  const server = await prepared('dhcp', `${registry.host}/org/dhcp:1`);
  await using reportingBoot = await startBoot(optionsFor());
  reportingBoot.recordDhcp('dhcp', 'HTTPClient');
  reportingBoot.recordDhcp('unknown');
  assert.deepEqual(await bodyOf(`${reportingBoot.url}/boot/${server.token}/uki.efi`), uki);
  await reportingBoot[Symbol.asyncDispose]();
  const { status } = await fixture.client.get(ServerBootConfiguration, { name: 'dhcp', namespace });
  assert.deepEqual(
    status?.boot?.steps?.map(({ name, detail }) => [name, detail]),
    [
      ['dhcp', 'HTTPClient'],
      ['uki', 'by 127.0.0.1'],
    ],
  );
});
