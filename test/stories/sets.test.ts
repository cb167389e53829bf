import assert from 'node:assert/strict';
import { test } from 'node:test';
import { BIOSSettings } from '@metal/api/v1alpha1/bios-settings.ts';
import { BIOSSettingsSet } from '@metal/api/v1alpha1/bios-settings-set.ts';
import { BIOSVersion } from '@metal/api/v1alpha1/bios-version.ts';
import { BIOSVersionSet } from '@metal/api/v1alpha1/bios-version-set.ts';
import { BMCSettings } from '@metal/api/v1alpha1/bmc-settings.ts';
import { BMCSettingsSet } from '@metal/api/v1alpha1/bmc-settings-set.ts';
import { BMCVersion } from '@metal/api/v1alpha1/bmc-version.ts';
import { BMCVersionSet } from '@metal/api/v1alpha1/bmc-version-set.ts';
import { FirmwareVersion } from '@metal/api/v1alpha1/firmware-version.ts';
import { FirmwareVersionSet } from '@metal/api/v1alpha1/firmware-version-set.ts';
import { Server } from '@metal/api/v1alpha1/server.ts';
import { ServerMaintenance } from '@metal/api/v1alpha1/server-maintenance.ts';
import { ownedBy } from '@metal/kube/kinds/kind.ts';
import { type SetsEnv, setsEnvsOfFile, template } from '../fixtures/sets-fixture.ts';

const startEnv = setsEnvsOfFile();
const operation = 'metal.ironcore.dev/operation';
const selector = { matchLabels: { set: 'a' } };
const image = { URI: 'https://images.example/firmware.bin' };

test('each kind of set creates its objects with their names and targets', async () => {
  await using env = await startEnv();
  const { client } = env;
  await env.createBmc('b-1', { set: 'a' });
  await env.createServer('s-1', { set: 'a' }, 'b-1');
  const metadata = { name: 'x' };
  const version = { version: '2.0', image };
  await client.create(BIOSVersionSet, { metadata, spec: { serverSelector: selector, biosVersionTemplate: version } });
  const firmware = { ...version, component: { name: 'NIC' } };
  await client.create(FirmwareVersionSet, {
    metadata,
    spec: { serverSelector: selector, firmwareVersionTemplate: firmware },
  });
  await client.create(BMCVersionSet, { metadata, spec: { bmcSelector: selector, bmcVersionTemplate: version } });
  const settings = { version: '2.0', settings: { Ntp: '192.0.2.1' } };
  await client.create(BMCSettingsSet, { metadata, spec: { bmcSelector: selector, bmcSettingsTemplate: settings } });

  const biosVersion = await env.until(BIOSVersion, 'x-s-1', 'exists', () => true);
  assert.deepEqual(biosVersion.spec, { ...version, serverRef: { name: 's-1' } });
  const component = await env.until(FirmwareVersion, 'x-s-1', 'exists', () => true);
  assert.deepEqual(component.spec, { ...firmware, serverRef: { name: 's-1' } });
  const bmcVersion = await env.until(BMCVersion, 'bmc-version-set-x-b-1', 'exists', () => true);
  assert.deepEqual(bmcVersion.spec, { ...version, bmcRef: { name: 'b-1' } });
  const bmcSettings = await env.until(BMCSettings, 'x-b-1', 'exists', () => true);
  assert.deepEqual(bmcSettings.spec, { ...settings, BMCRef: { name: 'b-1' } });
  await env.until(
    BMCVersionSet,
    'x',
    'counts',
    ({ status }) => status?.fullyLabeledBMCs === 1 && status.availableBMCVersion === 1,
  );
});

test('of two sets with the same servers the older one has them, both report it, and the younger one follows it', async () => {
  await using env = await startEnv();
  await env.createServers(2);
  await env.createSettings('b-older');
  await env.until(BIOSSettings, 'b-older-s-2', 'exists', () => true);
  // Sets of one second are ordered by name.
  await env.createSettings('c-younger', { biosSettingsTemplate: template('off') });
  const text = 'also concerns 2 of the targets: s-1, s-2';
  await env.hasReason(BIOSSettingsSet, 'c-younger', 'Ready', 'TargetsTaken', `BIOSSettingsSet b-older ${text}`);
  await env.hasReason(BIOSSettingsSet, 'b-older', 'Contested', 'SetContested', `BIOSSettingsSet c-younger ${text}`);
  for (const name of ['b-older-s-1', 'b-older-s-2']) await env.done(name);
  await env.hasReason(BIOSSettingsSet, 'b-older', 'Ready', 'SetContested', `BIOSSettingsSet c-younger ${text}`);
  assert.equal(env.caches.biosSettings.size, 2);

  await env.client.delete(BIOSSettingsSet, { name: 'b-older' });
  await env.isGone(BIOSSettingsSet, 'b-older');
  // As the garbage collector of Kubernetes does.
  for (const name of ['b-older-s-1', 'b-older-s-2']) await env.client.delete(BIOSSettings, { name });
  await env.until(BIOSSettings, 'c-younger-s-1', 'exists', () => true);
});

test('an object that no set created keeps its server and its name', async () => {
  await using env = await startEnv();
  await env.createServers(2);
  const spec = { ...template('by hand'), serverRef: { name: 's-1' } };
  await env.client.create(BIOSSettings, { metadata: { name: 'mine' }, spec });
  await env.client.create(BIOSSettings, {
    metadata: { name: 'boot-s-2' },
    spec: { ...spec, serverRef: { name: 's-9' } },
  });
  await env.createSettings('boot');
  await env.hasReason(
    BIOSSettingsSet,
    'boot',
    'Ready',
    'TargetsTaken',
    'BIOSSettings mine also concerns 1 of the targets: s-1',
  );
  await env.client.delete(BIOSSettings, { name: 'mine' });
  await env.hasReason(BIOSSettingsSet, 'boot', 'Ready', 'NameTaken', 'boot-s-2 exists');
  const kept = await env.client.get(BIOSSettings, { name: 'boot-s-2' });
  assert.equal(kept.spec.settingsFlow?.[0]?.settings?.Boot, 'by hand');
  await env.client.delete(BIOSSettings, { name: 'boot-s-2' });
  await env.until(BIOSSettings, 'boot-s-2', 'is created', ({ metadata }) => metadata.ownerReferences !== undefined);
});

/** The object is in progress, in a maintenance that has begun. */
async function beginWork(env: SetsEnv, name: string): Promise<void> {
  const { client } = env;
  const child = await client.get(BIOSSettings, { name });
  const ref = { namespace: 'default', name };
  await client.create(ServerMaintenance, {
    metadata: { ...ref, ownerReferences: [ownedBy(child)] },
    spec: { serverRef: child.spec.serverRef ?? { name: '' } },
  });
  await client.mergePatch(ServerMaintenance, ref, { status: { state: 'InMaintenance' } }, { subresource: 'status' });
  await env.report(BIOSSettings, name, { state: 'InProgress', serverMaintenanceRefs: [ref] });
}

test('work in progress outlives the selection of its server, and is deleted when it is done', async () => {
  await using env = await startEnv();
  await env.createServers(2);
  await env.createSettings('boot');
  await env.until(BIOSSettings, 'boot-s-1', 'exists', () => true);
  await beginWork(env, 'boot-s-1');
  for (const name of ['s-1', 's-2'])
    await env.client.mergePatch(Server, { name }, { metadata: { labels: { set: null } } });
  await env.isGone(BIOSSettings, 'boot-s-2');
  await env.until(BIOSSettings, 'boot-s-1', 'stays', ({ metadata }) => metadata.deletionTimestamp === undefined);
  await env.done('boot-s-1');
  await env.isGone(BIOSSettings, 'boot-s-1');
});

test('a deleted set waits for work in progress only', async () => {
  await using env = await startEnv();
  await env.createServers(2);
  await env.createSettings('boot');
  await env.until(BIOSSettings, 'boot-s-2', 'exists', () => true);
  await beginWork(env, 'boot-s-1');
  await env.client.delete(BIOSSettingsSet, { name: 'boot' });
  await env.hasReason(BIOSSettingsSet, 'boot', 'Ready', 'ChildrenAtWork', '1 in progress: boot-s-1');
  await env.done('boot-s-1');
  await env.isGone(BIOSSettingsSet, 'boot');
});

test('ignore-child pauses the objects of a set of BMC settings until it is removed', async () => {
  await using env = await startEnv();
  await env.createBmc('b-1', { set: 'a' });
  const annotate = (value: string | null) =>
    env.client.mergePatch(BMCSettingsSet, { name: 'ntp' }, { metadata: { annotations: { [operation]: value } } });
  await env.client.create(BMCSettingsSet, {
    metadata: { name: 'ntp' },
    spec: { bmcSelector: selector, bmcSettingsTemplate: { version: '1.0', settings: {} } },
  });
  await env.until(BMCSettings, 'ntp-b-1', 'exists', () => true);
  const is = (value: string | undefined) =>
    env.until(BMCSettings, 'ntp-b-1', `has ${value}`, ({ metadata }) => metadata.annotations?.[operation] === value);
  await annotate('ignore-child');
  await is('ignore-propagated');
  await env.hasReason(BMCSettingsSet, 'ntp', 'Ready', 'ChildrenIgnored');
  await annotate(null);
  await is(undefined);
});

test('a server reports which sets concern it and whether it complies; others are not written', async () => {
  await using env = await startEnv();
  await env.createServers(1);
  await env.createServer('other', { set: 'b' });
  const { resourceVersion } = (await env.client.get(Server, { name: 'other' })).metadata;
  await env.createSettings('boot');
  await env.hasReason(Server, 's-1', 'Compliant', 'SetsNotCompared', 'BIOSSettingsSet boot');
  await env.compared('boot-s-1', 1);
  await env.hasReason(Server, 's-1', 'Compliant', 'SetsDeviate', 'does not comply with BIOSSettingsSet boot');
  await env.done('boot-s-1');
  await env.hasReason(Server, 's-1', 'Compliant', 'SetsComply', 'complies with BIOSSettingsSet boot');
  await env.client.mergePatch(Server, { name: 's-1' }, { metadata: { labels: { set: null } } });
  await env.until(Server, 's-1', 'has no condition', ({ status }) => (status?.conditions ?? []).length === 0);
  assert.equal((await env.client.get(Server, { name: 'other' })).metadata.resourceVersion, resourceVersion);
});
