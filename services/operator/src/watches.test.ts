import assert from 'node:assert/strict';
import { test } from 'node:test';
import { maintenanceApprovedLabel } from '@metal/api/wire/contract.ts';
import type { CacheSet, CacheOptions } from '@metal/kube/cache/cache.ts';
import { Store } from '@metal/kube/cache/store.ts';
import type { Controller } from '@metal/kube/controller/definition.ts';
import { keysOfChange, type WatchedChange } from '@metal/kube/controller/watched-change.ts';
import type { Kind, KubeObject, ObjectMeta } from '@metal/kube/kinds/kind.ts';
import { watchOperatorKinds } from './caches.ts';
import { controllers } from './controllers.ts';
import type { OperatorContext } from './controllers/context.ts';

/** Who is enqueued by which change, where an object waits for another one: a resync would hide that a watch is missing. */

type Member = Readonly<Record<string, unknown>>;
type Made = KubeObject & { readonly spec: Member; readonly status: Member };

const make = (kind: string, name: string, spec: Member, more: Partial<ObjectMeta> & { status?: Member } = {}): Made => {
  const { status = {}, ...metadata } = more;
  return { apiVersion: 'metal.ironcore.dev/v1alpha1', kind, metadata: { name, uid: name, ...metadata }, spec, status };
};
const ownedBy = (kind: string, name: string) => ({
  ownerReferences: [{ apiVersion: '', kind, name, uid: name, controller: true }],
});
const withStatus = (object: Made, status: Member): Made => ({ ...object, status: { ...object.status, ...status } });
const withSpec = (object: Made, spec: Member): Made => ({ ...object, spec: { ...object.spec, ...spec } });

const serverRef = { name: 'server' };
const server = make(
  'Server',
  'server',
  { systemUUID: 'a', bmcRef: { name: 'bmc' }, serverClaimRef: { namespace: 'team', name: 'claim' } },
  { status: { state: 'Maintenance' } },
);
const available = withStatus(server, { state: 'Available' });
const bmc = make('BMC', 'bmc', { bmcSecretRef: { name: 'secret' }, protocol: {} });
const claim = make('ServerClaim', 'claim', { serverRef }, { namespace: 'team' });
const maintenance = (name: string, more: Partial<ObjectMeta> & { status?: Member } = {}) =>
  make('ServerMaintenance', name, { serverRef }, { namespace: 'ops', ...more });
const [first, second] = [maintenance('first'), maintenance('second', ownedBy('BIOSVersion', 'bios'))];
const limited = make(
  'ServerMaintenance',
  'limited',
  { serverRef: { name: 'other' } },
  { namespace: 'ops', status: { conditions: [{ type: 'Ready', reason: 'FleetLimitReached' }] } },
);
const bios = make('BIOSVersion', 'bios', { version: '2', serverRef });
const biosSettings = make('BIOSSettings', 'bios-settings', { version: '2', serverRef });
const bmcVersion = make('BMCVersion', 'bmc-version', { version: '2', bmcRef: { name: 'bmc' } });
const bmcSettings = make('BMCSettings', 'bmc-settings', { version: '2', BMCRef: { name: 'bmc' } });
const nic = make('FirmwareVersion', 'nic', { version: '2', serverRef, component: {} });

const objects = [server, bmc, claim, first, second, limited, bios, biosSettings, bmcVersion, bmcSettings, nic];

/** The caches of the operator, with their indexes. */
function cachesOf(present: readonly Made[]): OperatorContext['caches'] {
  const watch = <T extends KubeObject>(kind: Kind<T>, { indexes = {} }: CacheOptions<T> = {}): Store<T> => {
    const store = new Store<T>();
    store.addIndexes(indexes);
    // Objects of a kind have its members, as far as indexes read them.
    for (const object of present) if (object.kind === kind.kind) store.upsertIfNewer(object as unknown as T);
    return store;
  };
  // The only member that is used.
  return watchOperatorKinds({ watch } as unknown as CacheSet);
}

/** Keys that a change wakes, without the controllers of sets and those that only report. */
function enqueuedBy(names: readonly string[], { before, after }: WatchedChange): string[] {
  const context = { caches: cachesOf(objects), maintenanceSlots: { limit: 1 } } as unknown as OperatorContext;
  const kind = (after ?? before)?.kind;
  const keysOf = ({ name, watches }: Controller<OperatorContext>): string[] =>
    watches
      .filter((watch) => watch.kind.kind === kind)
      .flatMap((watch) => keysOfChange(watch, { before, after }, context))
      .map((key) => `${name} ${key}`);
  const keys = controllers.filter(({ name }) => names.includes(name)).flatMap(keysOf);
  return [...new Set(keys)].toSorted();
}

const queue = ['servermaintenance'];
const inventory = ['serverinventory'];
const ofServer = ['servermaintenance ops/first', 'servermaintenance ops/second'];
const updates = ['bios-settings', 'bios-version', 'bmc-settings', 'bmc-version', 'firmware-version'];
const allUpdates = [
  'bios-settings bios-settings',
  'bios-version bios',
  'bmc-settings bmc-settings',
  'bmc-version bmc-version',
  'firmware-version nic',
];
const flashing = withStatus(bios, { state: 'InProgress', attempt: { sendTime: '2026-01-01T00:00:00Z' } });

const lines: [title: string, names: readonly string[], change: WatchedChange, keys: readonly string[]][] = [
  ['a maintenance that is deleted wakes the others of its server', queue, { before: maintenance('gone') }, ofServer],
  [
    'a maintenance whose priority changes wakes the others of its server',
    queue,
    { before: first, after: withSpec(first, { priority: 5 }) },
    ofServer,
  ],
  [
    'a server that is given back wakes those that wait for it',
    queue,
    { before: withSpec(server, { serverMaintenanceRef: { namespace: 'ops', name: 'gone' } }), after: server },
    ['servermaintenance ops/first', 'servermaintenance ops/gone', 'servermaintenance ops/second'],
  ],
  [
    'a server that leaves its maintenance wakes those that wait for the limit of the fleet',
    queue,
    { before: withSpec(server, { serverMaintenanceRef: { namespace: 'ops', name: 'first' } }) },
    [...ofServer, 'servermaintenance ops/limited'].toSorted(),
  ],
  [
    'an owner who approves wakes the maintenances of the server',
    queue,
    {
      before: claim,
      after: { ...claim, metadata: { ...claim.metadata, labels: { [maintenanceApprovedLabel]: 'true' } } },
    },
    ofServer,
  ],
  [
    'a flash that ends wakes the maintenance that was deleted meanwhile',
    queue,
    { before: flashing, after: withStatus(bios, { state: 'Completed' }) },
    ['servermaintenance ops/second'],
  ],
  [
    'an update that its set no longer owns wakes the compliance of the server',
    ['servercompliance'],
    { before: { ...bios, metadata: { ...bios.metadata, ...ownedBy('BIOSVersionSet', 'fleet') } }, after: bios },
    ['servercompliance server'],
  ],
  ['a server that appears wakes the updates of it and of its BMC', updates, { after: server }, allUpdates],
  [
    'a server that gets its maintenance wakes the updates of it and of its BMC',
    updates,
    { before: server, after: withSpec(server, { serverMaintenanceRef: { namespace: 'ops', name: 'second' } }) },
    allUpdates,
  ],
  ['a BMC that changes wakes its updates and those of its servers', updates, { before: bmc, after: bmc }, allUpdates],
  ['a maintenance wakes the update that owns it', updates, { before: second, after: second }, ['bios-version bios']],
  [
    'a version that is installed wakes the settings that are for it',
    ['bios-settings'],
    { before: bios, after: withStatus(bios, { state: 'Completed' }) },
    ['bios-settings bios-settings'],
  ],
  [
    'a version of a BMC that is installed wakes the settings that are for it',
    ['bmc-settings'],
    { before: bmcVersion, after: withStatus(bmcVersion, { state: 'Completed' }) },
    ['bmc-settings bmc-settings'],
  ],
  [
    'a server whose maintenance ends wakes its inventory',
    inventory,
    { before: server, after: available },
    ['serverinventory server'],
  ],
  [
    'a server that gets another BIOS wakes its inventory',
    inventory,
    { before: available, after: withStatus(available, { biosVersion: '2' }) },
    ['serverinventory server'],
  ],
  [
    'a server that enters another state in which its firmware is not read does not wake its inventory',
    inventory,
    { before: server, after: withStatus(server, { state: 'Discovery', biosVersion: '2' }) },
    [],
  ],
  [
    'settings that disappear wake others of the server',
    updates,
    { before: { ...biosSettings, metadata: { name: 'x' } } },
    [allUpdates[0] ?? ''],
  ],
  [
    'a version that disappears wakes others of the server',
    updates,
    { before: { ...bios, metadata: { name: 'x' } } },
    allUpdates.slice(0, 2),
  ],
  [
    'settings that disappear wake others of the BMC',
    updates,
    { before: { ...bmcSettings, metadata: { name: 'x' } } },
    [allUpdates[2] ?? ''],
  ],
  [
    'a version that disappears wakes others of the BMC',
    updates,
    { before: { ...bmcVersion, metadata: { name: 'x' } } },
    allUpdates.slice(2, 4),
  ],
  [
    'a component that disappears wakes others of the server',
    updates,
    { before: { ...nic, metadata: { name: 'x' } } },
    [allUpdates[4] ?? ''],
  ],
];

for (const [title, names, change, keys] of lines)
  test(title, () => {
    assert.deepEqual(enqueuedBy(names, change), keys);
  });

test('the progress of an update does not wake others of its target', () => {
  const task = { upgradeTask: { URI: '/task', percentageComplete: 40 } };
  assert.deepEqual(enqueuedBy(['bios-version'], { before: flashing, after: withStatus(flashing, task) }), []);
});
