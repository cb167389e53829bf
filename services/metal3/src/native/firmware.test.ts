import assert from 'node:assert/strict';
import { test } from 'node:test';
import { hostOfServerAnnotation as hostOf } from '@metal/api/metal3/metal3-contract.ts';
import type { BIOSVersion } from '@metal/api/v1alpha1/bios-version.ts';
import type { Server } from '@metal/api/v1alpha1/server.ts';
import { Store } from '@metal/kube/cache/store.ts';
import type { KubeObject } from '@metal/kube/kinds/kind.ts';
import { hostIn } from '../../test/baremetalhost/example-host.ts';
import type { FirmwareChanges } from '../provisioner/provisioner.ts';
import { applyFirmware, dropFirmware, forgetPublished } from './firmware.ts';
import { markOf } from './host-objects.ts';
import type { NativePass } from './native-pass.ts';

const now = Date.parse('2026-01-01T01:00:00Z');
const host = hostIn('preparing', { status: { errorCount: 1 } });
const apiVersion = 'metal.ironcore.dev/v1alpha1';
const mark = { [hostOf]: markOf(host) };
const URI = 'http://192.0.2.9/bios.bin';
const wanted: FirmwareChanges = { settings: {}, updates: [{ component: 'bios', url: URI }] };
const nothing: FirmwareChanges = { settings: {}, updates: [] };

const server: Server = {
  apiVersion,
  kind: 'Server',
  metadata: { name: 's', annotations: mark },
  spec: { systemUUID: 'u', reclaimPolicy: 'Recycle', unclaimable: false },
};
type Status = NonNullable<BIOSVersion['status']>;

const bios = (status: Status, annotations: Record<string, string> = {}): BIOSVersion => ({
  apiVersion,
  kind: 'BIOSVersion',
  metadata: { name: 'n.h', uid: 'b', generation: 1, annotations: { ...mark, ...annotations } },
  spec: { version: '', serverRef: { name: 's' }, image: { URI } },
  status: { observedGeneration: 1, ...status },
});
const failure = (time: string, holdsMaintenance?: true): Status => ({
  state: 'Failed',
  failure: { reason: 'UpgradeTaskFailed', message: 'no', time, ...(holdsMaintenance ? { holdsMaintenance } : {}) },
});
const sent: Status = { state: 'InProgress', attempt: { sendTime: '2026-01-01T00:59:00Z' } };

function storeOf<T extends KubeObject>(index: string, ...objects: readonly T[]): Store<T> {
  const store = new Store<T>();
  store.addIndexes({ [index]: () => ['s'] });
  for (const object of objects) store.upsertIfNewer(object);
  return store;
}

interface Scene {
  readonly found?: BIOSVersion;
  /** Updates that HostFirmwareComponents has as started. */
  readonly started?: FirmwareChanges['updates'];
  readonly machine?: Server;
}

/** A pass over a host, and what it writes. */
function passOver({ found, started = [], machine = server }: Scene) {
  const writes: unknown[] = [];
  const caches = {
    servers: storeOf('bmc', machine),
    claims: new Store(),
    bmcs: new Store(),
    inventories: { get: () => ({ status: { firmware: { readTime: '2026-01-01T00:30:00Z' } } }) },
    firmwareComponents: { get: () => ({ spec: { updates: wanted.updates }, status: { updates: started } }) },
    biosSettings: storeOf('server'),
    biosVersions: storeOf('server', ...(found === undefined ? [] : [found])),
    bmcVersions: storeOf('bmc'),
    firmwareVersions: storeOf('server'),
  };
  const client = {
    find: async () => machine,
    create: async (_kind: unknown, { spec }: { spec: unknown }) => void writes.push(spec),
    mergePatch: async (_kind: unknown, _ref: unknown, patch: unknown) => void writes.push(patch),
    delete: async () => void writes.push('deleted'),
  };
  const pass = { access: { host }, caches, client, parsed: { problem: '' }, clock: { now: () => now } };
  // The members of a pass that are used.
  return { pass: pass as unknown as NativePass, writes };
}

async function resultOf(scene: Scene, changes: FirmwareChanges, restartsAfterFailure = false) {
  const { pass, writes } = passOver(scene);
  const result = await applyFirmware(pass, changes, { restartsAfterFailure });
  return { ...result, writes };
}

test('an update of a free machine becomes an object that takes no machine from anybody', async () => {
  const { kind, writes } = await resultOf({}, wanted);
  const spec = { version: '', image: { URI }, serverRef: { name: 's' }, serverMaintenancePolicy: 'OwnerApproval' };
  assert.deepEqual({ kind, writes }, { kind: 'busy', writes: [spec] });
});

test('a machine that somebody else has claimed is left alone', async () => {
  const machine = { ...server, spec: { ...server.spec, serverClaimRef: { namespace: 'n', name: 'other' } } };
  const { kind, writes } = await resultOf({ machine }, wanted);
  assert.deepEqual({ kind, writes }, { kind: 'failed', writes: [] });
});

test('an update that is done only compares from then on', async () => {
  const done = await resultOf({ found: bios({ state: 'Completed' }) }, wanted);
  assert.deepEqual([done.kind, done.writes], ['busy', [{ spec: { dryRun: true } }]]);
  const over = bios({ state: 'Completed' });
  const later = await resultOf({ found: { ...over, spec: { ...over.spec, dryRun: true } } }, wanted);
  assert.deepEqual([later.kind, later.writes], ['done', []]);
});

test('a failure is tried again after its pause, and reported again only after that attempt', async () => {
  const early = await resultOf({ found: bios(failure('2026-01-01T00:59:30Z')) }, wanted, true);
  assert.deepEqual([early.kind, 'knownForMs' in early && early.knownForMs, early.writes], ['failed', 30_000, []]);
  const time = '2026-01-01T00:58:00Z';
  const { writes, kind } = await resultOf({ found: bios(failure(time)) }, wanted, true);
  const annotations = { 'metal.ironcore.dev/operation': 'retry', 'metal3.io/retried-failure': time };
  assert.deepEqual({ kind, writes }, { kind: 'busy', writes: [{ metadata: { annotations } }] });
  const waits = await resultOf({ found: bios(failure(time), annotations) }, wanted);
  assert.deepEqual([waits.kind, waits.writes], ['busy', []]);
});

test('a machine that may still install an image is for a person', async () => {
  const found = bios(failure('2026-01-01T00:00:00Z', true));
  const { kind, writes } = await resultOf({ found }, wanted, true);
  assert.deepEqual({ kind, writes }, { kind: 'failed', writes: [] });
  const { pass, writes: removals } = passOver({ found });
  assert.equal((await dropFirmware(pass))?.kind, 'busy');
  assert.deepEqual(removals, []);
});

test('an update that nobody wants any more is deleted, unless its image was sent', async () => {
  const waiting = await resultOf({ found: bios({ state: 'Pending' }) }, nothing);
  assert.deepEqual([waiting.kind, waiting.writes], ['busy', ['deleted']]);
  const flashing = await resultOf({ found: bios(sent) }, nothing);
  assert.deepEqual([flashing.kind, flashing.writes], ['busy', []]);
  assert.equal((await resultOf({}, nothing)).kind, 'done');
});

test('an object that is done stays until its change is published, and its update is recorded', async () => {
  const doneAt = (lastTransitionTime: string): BIOSVersion => {
    const object = bios({
      state: 'Completed',
      conditions: [{ type: 'Ready', status: 'True', reason: 'AsDesired', message: '', lastTransitionTime }],
    });
    return { ...object, spec: { ...object.spec, dryRun: true } };
  };
  const rows: [found: BIOSVersion, started: FirmwareChanges['updates'], writes: string[]][] = [
    [doneAt('2026-01-01T00:29:00Z'), wanted.updates, ['deleted']],
    [doneAt('2026-01-01T00:29:00Z'), [], []],
    [doneAt('2026-01-01T00:31:00Z'), wanted.updates, []],
  ];
  for (const [found, started, expected] of rows) {
    const { pass, writes } = passOver({ found, started });
    await forgetPublished(pass);
    assert.deepEqual(writes, expected);
  }
});
