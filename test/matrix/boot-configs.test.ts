import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, test } from 'node:test';
import { HTTPBootConfig } from '@metal/api/v1alpha1/http-boot-config.ts';
import { IPXEBootConfig } from '@metal/api/v1alpha1/ipxe-boot-config.ts';
import { Server } from '@metal/api/v1alpha1/server.ts';
import { ServerBootConfiguration } from '@metal/api/v1alpha1/server-boot-configuration.ts';
import { type BootOptions, type RunningBoot, startBoot } from '@metal/boot/boot.ts';
import { ownedBy } from '@metal/kube/kinds/kind.ts';
import { eventAbout } from '@metal/testenv/cluster/event-about.ts';
import { type ImageRegistry, startImageRegistry } from '@metal/testenv/network/image-registry.ts';
import type { Cache } from '@metal/kube/cache/store.ts';
import { namespace, openServiceFixture, type ServiceFixture } from '@metal/testenv/cluster/service-fixture.ts';

const type = (name: string): string => `application/vnd.ironcore.image.${name}`;

let fixture: ServiceFixture;
let registry: ImageRegistry;
let boot: RunningBoot;

before(async () => {
  [fixture, registry] = await Promise.all([openServiceFixture(), startImageRegistry()]);
  await registry.push('org/os', '1', [
    [type('kernel'), Buffer.from('a kernel')],
    [type('initramfs'), Buffer.from('an initrd')],
    [type('squashfs'), Buffer.from('a root')],
  ]);
  await registry.push('org/plain', '1', [
    [type('kernel'), Buffer.from('a kernel')],
    [type('initramfs'), Buffer.from('an initrd')],
  ]);
  await registry.push('org/uki', '1', [[type('uki'), Buffer.from('a program')]]);
  boot = await startBoot(optionsFor({ publishesBootConfigs: true }));
});
after(async () => {
  await boot[Symbol.asyncDispose]();
  await registry[Symbol.asyncDispose]();
  await fixture[Symbol.asyncDispose]();
});

function optionsFor(more: Partial<BootOptions> = {}): BootOptions {
  const registries = { allowed: [registry.host], insecure: [registry.host], architecture: 'amd64', cacheBytes: 1e8 };
  return fixture.bootOptions({ registries, ...more });
}

const networkInterfaces = [
  { name: 'eth0', macAddress: '02:00:00:00:00:01', ips: ['192.0.2.7', '2001:db8::7'] },
  { name: 'eth1', macAddress: '02:00:00:00:00:02' },
];

/** A server with known interfaces, and a boot of it. */
async function booting(name: string, repository: string): Promise<string> {
  const systemUUID = randomUUID().toUpperCase();
  await fixture.client.create(Server, { metadata: { name }, spec: { systemUUID } });
  await fixture.client.mergePatch(Server, { name }, { status: { networkInterfaces } }, { subresource: 'status' });
  await fixture.until(fixture.servers, name, ({ status }) => status?.networkInterfaces !== undefined);
  await fixture.bootAgain(name, systemUUID, name, {
    image: `${registry.host}/${repository}`,
    ignition: '{}',
    format: '',
  });
  return systemUUID;
}

const reads = async (url: string | undefined): Promise<string> => (await fetch(url ?? '')).text();
const becomes = <T extends IPXEBootConfig | HTTPBootConfig | ServerBootConfiguration>(
  cache: Cache<T>,
  name: string,
  state: string,
): Promise<T> => fixture.until(cache, `${namespace}/${name}`, ({ status }) => status?.state === state);

test('an iPXE boot is published with URLs that need no token, in two writes', async () => {
  using writes = fixture.writesTo(fixture.ipxeBootConfigs, {
    ...IPXEBootConfig,
    metadata: { name: 'by-ipxe', namespace },
  });
  const systemUUID = await booting('by-ipxe', 'org/os:1');
  const { metadata, spec = { kernelURL: '', initrdURL: '' } } = await becomes(
    fixture.ipxeBootConfigs,
    'by-ipxe',
    'Ready',
  );
  const owner = await becomes(fixture.bootConfigurations, 'by-ipxe', 'Ready');
  assert.deepEqual(metadata.ownerReferences, [ownedBy(owner)]);
  const { kernelURL, initrdURL, squashfsURL, ...rest } = spec;
  assert.deepEqual(rest, {
    systemUUID,
    systemIPs: ['192.0.2.7', '2001:db8::7'],
    ignitionSecretRef: { name: 'by-ipxe' },
  });
  assert.match(
    kernelURL,
    /\/image\?imageName=127\.0\.0\.1%3A\d+%2Forg%2Fos&version=1&layerDigest=sha256%3A[0-9a-f]{64}$/,
  );
  assert.deepEqual(await Promise.all([kernelURL, initrdURL, squashfsURL].map(reads)), [
    'a kernel',
    'an initrd',
    'a root',
  ]);
  assert.equal(await fixture.client.find(HTTPBootConfig, metadata), undefined);
  assert.equal(writes.count, 2);
});

test('an HTTP boot is published with the addresses of all interfaces', async () => {
  const systemUUID = await booting('by-http', 'org/uki:1');
  const { spec, metadata } = await becomes(fixture.httpBootConfigs, 'by-http', 'Ready');
  const { ukiURL, ...rest } = spec ?? {};
  assert.deepEqual(rest, {
    systemUUID,
    networkIdentifiers: ['192.0.2.7', '2001:db8::7', '02:00:00:00:00:01', '02:00:00:00:00:02'],
    ignitionSecretRef: { name: 'by-http' },
  });
  assert.match(ukiURL ?? '', /\/httpboot\/127\.0\.0\.1:\d+\/org\/uki\/sha256-[0-9a-f]{64}\.efi$/);
  assert.equal(await reads(ukiURL), 'a program');
  assert.equal(await fixture.client.find(IPXEBootConfig, metadata), undefined);
});

test('the published object follows the boot: to Error with the same message, to another boot method, and back', async () => {
  await booting('follows', 'org/os:1');
  await becomes(fixture.ipxeBootConfigs, 'follows', 'Ready');
  const wants = (repository: string): Promise<unknown> =>
    fixture.client.mergePatch(
      ServerBootConfiguration,
      { name: 'follows', namespace },
      { spec: { image: `${registry.host}/${repository}` } },
    );
  await wants('org/plain:1');
  const plain = await fixture.until(fixture.ipxeBootConfigs, `${namespace}/follows`, ({ spec }) => !spec?.squashfsURL);
  assert.match(plain.spec?.kernelURL ?? '', /org%2Fplain/);
  await wants('org/none:1');
  const { status } = await becomes(fixture.ipxeBootConfigs, 'follows', 'Error');
  const errorCondition = (await becomes(fixture.bootConfigurations, 'follows', 'Error')).status?.conditions?.[0];
  assert.match(errorCondition?.message ?? '', /^ImageMissing: /);
  assert.deepEqual(
    status?.conditions?.map(({ type: conditionType, reason, message }) => [conditionType, reason, message]),
    [['ImageValidation', errorCondition?.reason, errorCondition?.message]],
  );
  await wants('org/uki:1');
  await becomes(fixture.httpBootConfigs, 'follows', 'Ready');
  assert.equal(await fixture.client.find(IPXEBootConfig, { name: 'follows', namespace }), undefined);
  await wants('org/os:1');
  await becomes(fixture.ipxeBootConfigs, 'follows', 'Ready');
});

test('an object of another owner is not changed, which an event reports, and the boot continues', async () => {
  const metadata = { name: 'taken', namespace };
  const spec = { kernelURL: 'http://192.0.2.1/k', initrdURL: 'http://192.0.2.1/i' };
  const foreignConfig = await fixture.client.create(IPXEBootConfig, { metadata, spec });
  await booting('taken', 'org/os:1');
  const ready = await becomes(fixture.bootConfigurations, 'taken', 'Ready');
  const { reason, note } = await eventAbout(fixture.client, ready);
  assert.equal(reason, 'BootConfigTaken');
  assert.match(note ?? '', /^IPXEBootConfig "taken" belongs to somebody else and is left alone; delete it/);
  const { resourceVersion } = (await fixture.client.get(IPXEBootConfig, metadata)).metadata;
  assert.equal(resourceVersion, foreignConfig.metadata.resourceVersion);
});
