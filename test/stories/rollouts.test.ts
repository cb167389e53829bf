import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { BIOSSettings } from '@metal/api/v1alpha1/bios-settings.ts';
import { BIOSSettingsSet } from '@metal/api/v1alpha1/bios-settings-set.ts';
import { Server } from '@metal/api/v1alpha1/server.ts';
import { ServerMaintenance } from '@metal/api/v1alpha1/server-maintenance.ts';
import { BIOSVersion } from '@metal/api/v1alpha1/bios-version.ts';
import { BIOSVersionSet } from '@metal/api/v1alpha1/bios-version-set.ts';
import { parseAllDocuments } from 'yaml';
import { count, setsEnvsOfFile, template } from '../fixtures/sets-fixture.ts';

const startEnv = setsEnvsOfFile();
const operation = 'metal.ironcore.dev/operation';
const hold = 'metal.ironcore.dev/rollout-wait';

test('a set creates one object for each selected server, counts them, and deletes that of a server that leaves', async () => {
  await using env = await startEnv();
  await env.createServers(2);
  await env.createServer('other', { set: 'b' });
  const { metadata } = await env.createSettings('boot');
  const child = await env.until(BIOSSettings, 'boot-s-1', 'exists', () => true);
  assert.deepEqual(child.spec, { ...template('on'), serverRef: { name: 's-1' } });
  assert.deepEqual(child.metadata.ownerReferences?.[0], {
    apiVersion: 'metal.ironcore.dev/v1alpha1',
    kind: 'BIOSSettingsSet',
    name: 'boot',
    uid: metadata.uid,
    controller: true,
    blockOwnerDeletion: true,
  });
  assert.equal(child.metadata.annotations?.[hold], undefined, 'without a rollout it begins at once');
  await env.until(BIOSSettings, 'boot-s-2', 'exists', () => true);
  await env.done('boot-s-1');
  await env.until(
    BIOSSettingsSet,
    'boot',
    'has its counters',
    ({ status }) =>
      status?.fullyLabeledServers === 2 &&
      status.availableBIOSSettings === 2 &&
      status.pendingBIOSSettings === 1 &&
      status.completedBIOSSettings === 1,
  );
  await env.done('boot-s-2');
  await env.hasReason(BIOSSettingsSet, 'boot', 'Ready', 'SetComplete', '2 of 2');
  await env.hasReason(BIOSSettingsSet, 'boot', 'Compliant', 'AllComply', '2 of 2 comply');

  await env.client.mergePatch(Server, { name: 's-2' }, { metadata: { labels: { set: 'b' } } });
  await env.isGone(BIOSSettings, 'boot-s-2');
  await env.createServer('s-3', { set: 'a' });
  await env.until(BIOSSettings, 'boot-s-3', 'exists', () => true);
});

test('a rollout starts no more than maxUnavailable, in order, and the next when one is done', async () => {
  await using env = await startEnv();
  const servers = await env.createServers(3);
  await env.createSettings('boot', { rollout: { maxUnavailable: count(1) } });
  await env.allCompared('boot', servers);
  await env.untilStarted('boot', 's-1');
  await env.hasReason(BIOSSettingsSet, 'boot', 'Ready', 'MaxUnavailableReached', '2 of 3 wait: 1 of at most 1 servers');
  assert.deepEqual(env.started('boot'), ['s-1']);
  await env.done('boot-s-1');
  await env.untilStarted('boot', 's-2');
  assert.deepEqual(env.started('boot'), ['s-1', 's-2']);
  await env.until(
    BIOSSettingsSet,
    'boot',
    'reports its progress',
    ({ status }) => status?.rollout?.wave === 2 && status.rollout.waves === 3 && status.rollout.running?.[0] === 's-2',
  );
  await env.hasEvent('boot', 'WaveStarted');
});

test('a change of the template makes objects that are done wait for the rollout again', async () => {
  await using env = await startEnv();
  const servers = await env.createServers(2);
  await env.createSettings('boot', { rollout: { maxUnavailable: count(1) } });
  await env.allCompared('boot', servers);
  await env.untilStarted('boot', 's-1');
  await env.done('boot-s-1');
  await env.untilStarted('boot', 's-2');
  await env.report(BIOSSettings, 'boot-s-2', { state: 'InProgress' });
  await env.client.mergePatch(BIOSSettingsSet, { name: 'boot' }, { spec: { biosSettingsTemplate: template('off') } });
  const changed = await env.until(
    BIOSSettings,
    'boot-s-1',
    'has the new template',
    ({ spec }) => spec.settingsFlow?.[0]?.settings?.Boot === 'off',
  );
  assert.notEqual(changed.metadata.annotations?.[hold], undefined);
  await env.compared('boot-s-1', 1);
  const { spec } = await env.client.get(BIOSSettings, { name: 'boot-s-2' });
  assert.equal(spec.settingsFlow?.[0]?.settings?.Boot, 'on', 'one in progress is not changed');
  await env.done('boot-s-2');
  await env.untilStarted('boot', 's-1');
});

test('a failure stops the rollout, and each retry-child lets the failed ones begin once more', async () => {
  await using env = await startEnv();
  const servers = await env.createServers(3);
  await env.createSettings('boot', { rollout: { maxUnavailable: count(1), maxFailures: count(1) } });
  await env.allCompared('boot', servers);
  for (const attempt of [1, 2]) {
    await env.untilStarted('boot', 's-1');
    await env.failed('boot-s-1');
    await env.hasReason(BIOSSettingsSet, 'boot', 'Ready', 'RolloutStopped', '1 failed (s-1)');
    assert.deepEqual(env.started('boot'), ['s-1'], `attempt ${attempt}`);
    await env.client.mergePatch(
      BIOSSettingsSet,
      { name: 'boot' },
      { metadata: { annotations: { [operation]: 'retry-child' } } },
    );
    await env.until(
      BIOSSettings,
      'boot-s-1',
      'gets its retry',
      ({ metadata }) => metadata.annotations?.[operation] === 'retry-propagated',
    );
    await env.until(
      BIOSSettingsSet,
      'boot',
      'used up the request',
      ({ metadata }) => metadata.annotations?.[operation] === undefined,
    );
    const waiting = await env.client.get(BIOSSettings, { name: 'boot-s-2' });
    assert.equal(waiting.metadata.annotations?.[operation], undefined, 'only failed objects get it');
    await env.client.mergePatch(
      BIOSSettings,
      { name: 'boot-s-1' },
      { metadata: { annotations: { [operation]: null } } },
    );
    await env.compared('boot-s-1', 1);
  }
  await env.hasEvent('boot', 'RolloutStopped');
});

test('an operator that was restarted counts what began before, also what a person started meanwhile', async () => {
  await using env = await startEnv();
  const servers = await env.createServers(3);
  await env.createSettings('boot', { rollout: { maxUnavailable: count(1) } });
  await env.allCompared('boot', servers);
  await env.untilStarted('boot', 's-1');
  await env.stopOperator();
  await env.done('boot-s-1');
  await env.client.mergePatch(BIOSSettings, { name: 'boot-s-3' }, { metadata: { annotations: { [hold]: null } } });
  await env.startOperator();
  await env.hasReason(BIOSSettingsSet, 'boot', 'Ready', 'MaxUnavailableReached', '1 of 3 wait');
  assert.deepEqual(env.started('boot'), ['s-1']);
  await env.done('boot-s-3');
  await env.untilStarted('boot', 's-2');
});

test('two sets of the same servers take the same ones at once, and together no more than the limit', async () => {
  await using env = await startEnv();
  const servers = await env.createServers(4);
  await env.client.create(BIOSVersionSet, {
    metadata: { name: 'bios' },
    spec: {
      serverSelector: { matchLabels: { set: 'a' } },
      biosVersionTemplate: { version: '2.0', image: { URI: 'https://images.example/bios.bin' } },
      rollout: { maxUnavailable: count(2) },
    },
  });
  await env.createSettings('boot', { rollout: { maxUnavailable: count(2) } });
  const plan = { restart: 'Host' as const, changes: [], total: 1 };
  for (const server of servers) {
    await env.until(BIOSVersion, `bios-${server}`, 'exists', () => true);
    await env.report(BIOSVersion, `bios-${server}`, { state: 'Pending', plan });
  }
  await env.hasReason(BIOSVersionSet, 'bios', 'Ready', 'MaxUnavailableReached', '2 of at most 2 servers');
  // The order of the other set would begin with s-1, which its update takes to maintenance anyway.
  await env.allCompared('boot', servers.toReversed());
  await env.untilStarted('boot', 's-1', 's-2');
  await env.hasReason(BIOSSettingsSet, 'boot', 'Ready', 'MaxUnavailableReached', '2 of at most 2 servers');
  await env.done('boot-s-1');
  await env.hasReason(BIOSSettingsSet, 'boot', 'Compliant', 'Deviating', '1 of 4 comply');
  assert.deepEqual(env.started('boot'), ['s-1', 's-2'], 's-1 is still in progress for the other set');
  await env.report(BIOSVersion, 'bios-s-1', { state: 'Completed' });
  await env.untilStarted('boot', 's-3');
});

test('a server that is in maintenance already joins out of order, at no cost', async () => {
  await using env = await startEnv();
  const servers = await env.createServers(3);
  const ref = { namespace: 'default', name: 'fan' };
  await env.client.create(ServerMaintenance, { metadata: ref, spec: { serverRef: { name: 's-3' } } });
  await env.client.mergePatch(Server, { name: 's-3' }, { spec: { serverMaintenanceRef: ref } });
  await env.createSettings('boot', { rollout: { maxUnavailable: count(2) } });
  await env.allCompared('boot', servers);
  await env.untilStarted('boot', 's-1', 's-3');
  await env.hasReason(BIOSSettingsSet, 'boot', 'Ready', 'MaxUnavailableReached', '1 of 3 wait: 2 of at most 2');
  assert.deepEqual(env.started('boot'), ['s-1', 's-3']);
});

test('a dry run compares and starts nothing, and the rollout begins when it is switched off', async () => {
  await using env = await startEnv();
  await env.createServers(3);
  await env.createSettings('boot', { dryRun: true, rollout: { maxUnavailable: count(1) } });
  await env.until(BIOSSettings, 'boot-s-1', 'only compares', ({ spec }) => spec.dryRun === true);
  await env.until(BIOSSettings, 'boot-s-3', 'exists', () => true);
  await env.compared('boot-s-1', 1);
  await env.done('boot-s-2');
  await env.until(BIOSSettingsSet, 'boot', 'has the result', ({ status }) => {
    const { changed, restarted, unknown } = status?.plan ?? {};
    return changed === 1 && restarted === 1 && unknown === 1;
  });
  await env.hasReason(BIOSSettingsSet, 'boot', 'Ready', 'DryRun');
  assert.deepEqual(env.started('boot'), []);
  await env.client.mergePatch(BIOSSettingsSet, { name: 'boot' }, { spec: { dryRun: null } });
  await env.until(BIOSSettings, 'boot-s-3', 'has the new spec', ({ spec }) => spec.dryRun === undefined);
  await env.allCompared('boot', ['s-1', 's-3']);
  await env.untilStarted('boot', 's-1');
  await env.until(BIOSSettingsSet, 'boot', 'has no plan', ({ status }) => status?.plan === undefined);
});

test('a selector that suddenly matches the fleet is held by the limits, and decommissioned servers are left out', async () => {
  await using env = await startEnv();
  const servers = await env.createServers(3, { set: 'b' });
  await env.client.mergePatch(
    Server,
    { name: 's-3' },
    { status: { state: 'Decommissioned' } },
    { subresource: 'status' },
  );
  await env.createSettings('boot', { rollout: { maxUnavailable: count(1) } });
  await env.hasReason(BIOSSettingsSet, 'boot', 'Ready', 'NothingSelected');
  await env.client.mergePatch(BIOSSettingsSet, { name: 'boot' }, { spec: { serverSelector: { matchLabels: null } } });
  await env.allCompared('boot', servers.slice(0, 2));
  await env.hasReason(BIOSSettingsSet, 'boot', 'Ready', 'MaxUnavailableReached', '1 of 2 wait: 1 of at most 1');
  assert.equal(env.caches.biosSettings.get('boot-s-3'), undefined);
});

test('the example of the manual is valid, and its sets begin with the same server', async () => {
  await using env = await startEnv();
  const page = await readFile(new URL('../../docs/operate/rollouts.md', import.meta.url), 'utf8');
  const [, yaml = ''] = /```yaml\n(.*?)```/s.exec(page) ?? [];
  const [versions, settings] = parseAllDocuments(yaml).map((document) => document.toJS() as BIOSVersionSet);
  assert.ok(versions !== undefined && settings !== undefined);
  const rack = 'metadata.metal.ironcore.dev/rack';
  await env.createServer('a-1', { model: 'r750', [rack]: 'z' });
  await env.createServer('b-1', { model: 'r750', [rack]: 'a' });
  await env.client.create(BIOSVersionSet, versions);
  await env.client.create(BIOSSettingsSet, settings);
  await env.allCompared('bios-settings', ['a-1', 'b-1']);
  await env.untilStarted('bios-settings', 'b-1');
  await env.hasReason(BIOSSettingsSet, 'bios-settings', 'Ready', 'CanaryInProgress', '1 of 2 wait');
  for (const server of ['a-1', 'b-1']) {
    const plan = { restart: 'Host' as const, changes: [], total: 1 };
    await env.report(BIOSVersion, `bios-2-10-${server}`, { state: 'Pending', plan });
  }
  await env.hasReason(BIOSVersionSet, 'bios-2-10', 'Ready', 'CanaryInProgress', 'b-1 is in progress');
});
