import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { tmpdir } from 'node:os';
import { after, before, test } from 'node:test';
import { kinds } from '@metal/api/kinds.ts';
import { IPXEBootConfig } from '@metal/api/v1alpha1/ipxe-boot-config.ts';
import { Server } from '@metal/api/v1alpha1/server.ts';
import { ServerBootConfiguration } from '@metal/api/v1alpha1/server-boot-configuration.ts';
import { type BootOptions, type RunningBoot, startBoot, watchIpxeBootConfigs } from '@metal/boot/boot.ts';
import { Secret } from '@metal/kube/kinds/builtin.ts';
import { CacheSet } from '@metal/kube/cache/cache.ts';
import { createKubeClient } from '@metal/kube/client/client.ts';
import { createClock } from '@metal/kube/runtime/clock.ts';
import { installKinds } from '@metal/kube/client/install-kinds.ts';
import { startCluster } from '@metal/testenv/cluster/cluster.ts';
import {
  type BootingServer,
  bootIndexes,
  directoryWith,
  namespace,
  openServiceFixture,
  type ServiceFixture,
  serverIndexes,
} from '@metal/testenv/cluster/service-fixture.ts';

const own = '#!ipxe\necho a script of our own\nkernel ${metal-boot-url}/kernel console=ttyS1\n';
/** Missing Secrets are waited for silently; here only briefly. */
const clock = createClock(50);

let fixture: ServiceFixture;
let files: Awaited<ReturnType<typeof directoryWith>>;
let boot: RunningBoot;
let image: string;

before(async () => {
  fixture = await openServiceFixture();
  files = await directoryWith({ vmlinuz: 'a kernel', initrd: 'an initrd' });
  image = `file://${files.path}/`;
  boot = await startBoot(optionsFor());
});
after(async () => {
  await boot[Symbol.asyncDispose]();
  await files[Symbol.asyncDispose]();
  await fixture[Symbol.asyncDispose]();
});

const optionsFor = (more: Partial<BootOptions> = {}): BootOptions =>
  fixture.bootOptions({ fileRoots: [tmpdir()], clock, ...more });

const becomes = (name: string, state: string): Promise<ServerBootConfiguration> =>
  fixture.until(fixture.bootConfigurations, `${namespace}/${name}`, ({ status }) => status?.state === state);
const configBecomes = (name: string, state: string): Promise<IPXEBootConfig> =>
  fixture.until(fixture.ipxeBootConfigs, `${namespace}/${name}`, ({ status }) => status?.state === state);
const errorOf = ({ status }: ServerBootConfiguration | IPXEBootConfig): string =>
  status?.conditions?.find(({ type }) => type === 'ScriptValidation')?.message ?? '';

/** The IPXEBootConfig that a user creates for a boot with a script of his own. */
const config = (name: string, spec: Partial<IPXEBootConfig['spec']> = {}): Promise<IPXEBootConfig> =>
  fixture.client.create(IPXEBootConfig, {
    metadata: { name, namespace },
    spec: { kernelURL: 'none', initrdURL: 'none', ipxeScriptSecretRef: { name: `${name}-script` }, ...spec },
  });

async function withScript(name: string, script = own): Promise<BootingServer> {
  await fixture.secret(`${name}-script`, { 'ipxe-script': script });
  await config(name);
  const server = await fixture.booting(name, { image });
  await becomes(name, 'Ready');
  return server;
}

const fetchScript = ({ uuid }: BootingServer, { url } = boot): Promise<Response> => fetch(`${url}/ipxe/${uuid}`);

test("a machine gets the user's script for its boot, with access to the files of that boot", async () => {
  const server = await withScript('own');
  const response = await fetchScript(server);
  assert.equal(response.headers.get('cache-control'), 'no-store');
  const script = await response.text();
  assert.equal(script, `#!ipxe\nset metal-boot-url ${boot.url}/boot/${server.token}\nset metal-server own\n${own}`);
  const base = /^set metal-boot-url (\S+)$/m.exec(script)?.[1] ?? '';
  assert.equal(await (await fetch(`${base}/kernel`)).text(), 'a kernel');
  assert.equal((await fetch(`${base}/booted`, { method: 'POST' })).status, 200);
  const { status } = await fixture.until(fixture.bootConfigurations, `${namespace}/own`, (object) =>
    Boolean(object.status?.boot?.steps?.some(({ name }) => name === 'booted')),
  );
  assert.deepEqual(
    status?.boot?.steps?.map(({ name }) => name),
    ['script', 'kernel', 'booted'],
  );
  assert.ok(status.conditions?.some(({ type, status: holds }) => type === 'IPXEScriptFetched' && holds === 'True'));
  const reported = await configBecomes('own', 'Ready');
  assert.deepEqual(reported.spec?.kernelURL, 'none', "the user's object stays");
  assert.deepEqual([status.boot?.method, status.boot?.script], ['iPXE', 'own-script']);
  assert.match(await (await fetchScript(server)).text(), /installed already/, 'an installed machine gets no script');
});

test('a script added to a boot that is already Ready takes effect', async () => {
  const server = await fixture.booting('later', { image });
  await becomes('later', 'Ready');
  assert.match(await (await fetchScript(server)).text(), /Booting later/);
  await fixture.secret('later-script', { 'ipxe-script': own });
  await config('later');
  await configBecomes('later', 'Ready');
  assert.match(await (await fetchScript(server)).text(), /a script of our own/);
});

test('a script is served only to the machine of its boot, and only while that boot is current', async () => {
  const server = await withScript('one');
  const other = await fixture.booting('other', { image });
  await becomes('other', 'Ready');
  assert.doesNotMatch(await (await fetchScript(other)).text(), /a script of our own/);
  const next = await fixture.bootAgain('one', server.uuid, 'one-again', { image });
  await becomes('one-again', 'Ready');
  assert.doesNotMatch(await (await fetchScript(next)).text(), /a script of our own/);
});

test('a replica with dead watches serves the current script of the API server', async () => {
  const server = await fixture.booting('dead', { image });
  await becomes('dead', 'Ready');
  await using staleReplica = await startBoot(optionsFor(fixture.withDeadWatches()));
  await fixture.secret('dead-script', { 'ipxe-script': own });
  await config('dead');
  const isPrepared = ({ status }: ServerBootConfiguration) => status?.boot?.script !== undefined;
  await fixture.until(fixture.bootConfigurations, `${namespace}/dead`, isPrepared);
  assert.match(await (await fetchScript(server, staleReplica)).text(), /a script of our own/);
  await fixture.client.mergePatch(
    Secret,
    { name: 'dead-script', namespace },
    { stringData: { 'ipxe-script': '#!ipxe\nexit\n' } },
  );
  assert.match(await (await fetchScript(server, staleReplica)).text(), /^exit$/m);
});

test('a missing Secret is an Error on both objects, and the machine gets no script until the Secret exists', async () => {
  await config('missing');
  const server = await fixture.booting('missing', { image });
  for (const reported of [await becomes('missing', 'Error'), await configBecomes('missing', 'Error')])
    assert.match(
      errorOf(reported),
      /^ScriptMissing: Secret "missing-script" of spec\.ipxeScriptSecretRef of IPXEBootConfig "missing" does not exist in namespace "default"; create it with the key ipxe-script$/,
    );
  assert.match(await (await fetchScript(server)).text(), /boots from its next device: its boot configuration is Error/);
  await fixture.secret('missing-script', { 'ipxe-script': own });
  assert.equal(errorOf(await becomes('missing', 'Ready')), '');
  assert.equal(errorOf(await configBecomes('missing', 'Ready')), '');
});

for (const [name, texts, spec, reported] of [
  ['keyless', { script: own }, {}, /^ScriptMissing: .* has no key "ipxe-script"; add it$/],
  [
    'shell',
    { 'ipxe-script': '#!/bin/sh\nhunter2' },
    {},
    /^ScriptInvalid: .* is no iPXE script; expected #!ipxe as its first line$/,
  ],
  [
    'huge',
    { 'ipxe-script': `#!ipxe\n${'#'.repeat(70_000)}` },
    {},
    /^ScriptInvalid: .* has 70007 bytes; expected 65536 at most$/,
  ],
  [
    'foreign',
    { 'ipxe-script': own },
    { systemUUID: randomUUID() },
    /^ScriptInvalid: IPXEBootConfig "foreign" is for the machine with UUID/,
  ],
] as const) {
  test(`a script that cannot be served is reported on both objects: ${name}`, async () => {
    await fixture.secret(`${name}-script`, texts);
    await config(name, spec);
    await fixture.booting(name, { image });
    for (const object of [await becomes(name, 'Error'), await configBecomes(name, 'Error')]) {
      assert.match(errorOf(object), reported);
      assert.doesNotMatch(errorOf(object), /hunter2/);
    }
  });
}

test('a Secret that is missing at the time of the request is reported to the machine', async () => {
  const server = await withScript('gone');
  await fixture.client.delete(Secret, { name: 'gone-script', namespace });
  const response = await fetchScript(server);
  assert.equal(response.status, 503);
  assert.match(await response.text(), /Secret "gone-script" .* does not exist/);
});

test('a deleted IPXEBootConfig gives the machine the default script again', async () => {
  const server = await withScript('dropped');
  await fixture.client.delete(IPXEBootConfig, { name: 'dropped', namespace });
  await fixture.until(
    fixture.bootConfigurations,
    `${namespace}/dropped`,
    ({ status }) => status?.boot?.script === undefined,
  );
  assert.match(await (await fetchScript(server)).text(), /Booting dropped/);
});

test('a cluster without the IPXEBootConfig kind boots machines as usual', async () => {
  await using cluster = await startCluster({ crds: false });
  await using client = createKubeClient({ kubeconfigPath: cluster.kubeconfigPath });
  await installKinds(
    client,
    kinds.filter(({ group }) => group === 'metal.ironcore.dev'),
  );
  const caches = new CacheSet({ client, clock, log: fixture.log });
  await using _stopped = { [Symbol.asyncDispose]: () => caches.stop() };
  const servers = caches.watch(Server, { indexes: serverIndexes });
  const bootConfigurations = caches.watch(ServerBootConfiguration, { indexes: bootIndexes });
  const ipxeBootConfigs = watchIpxeBootConfigs(caches);
  await caches.start();
  await using plain = await startBoot(
    optionsFor({ client, servers, bootConfigurations, ipxeBootConfigs, publishesBootConfigs: true }),
  );
  const uuid = randomUUID();
  const bootConfigurationRef = { name: 'plain', namespace };
  await client.create(Server, {
    metadata: { name: 'plain' },
    spec: { systemUUID: uuid, bootConfigurationRef, power: 'On' },
  });
  await client.create(ServerBootConfiguration, {
    metadata: bootConfigurationRef,
    spec: { serverRef: { name: 'plain' }, image },
  });
  await fixture.until(bootConfigurations, `${namespace}/plain`, ({ status }) => status?.state === 'Ready');
  assert.match(await (await fetch(`${plain.url}/ipxe/${uuid}`)).text(), /Booting plain/);
});
