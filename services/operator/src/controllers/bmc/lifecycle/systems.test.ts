import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { BMC } from '@metal/api/v1alpha1/bmc.ts';
import type { Server } from '@metal/api/v1alpha1/server.ts';
import type { SystemSummary } from '@metal/redfish/resources/systems.ts';
import { summaryOf } from './rejected-systems.ts';
import { planSystems } from './systems.ts';

const bmc: BMC = {
  apiVersion: 'metal.ironcore.dev/v1alpha1',
  kind: 'BMC',
  metadata: { name: 'bmc', labels: { rack: 'r1' } },
  spec: { bmcSecretRef: { name: 'bmc' }, protocol: { name: 'Redfish', port: 443 } },
};
const system = (uri: string, uuid: string | undefined): SystemSummary => ({
  uri,
  uuid,
  manufacturer: undefined,
  model: undefined,
  serialNumber: undefined,
  sku: undefined,
  biosVersion: undefined,
  memoryGiB: undefined,
  powerState: 'Off',
});
const server = (name: string, uuid: string, uri: string, bmcName = 'bmc'): Server => ({
  apiVersion: bmc.apiVersion,
  kind: 'Server',
  metadata: {
    name,
    labels: { rack: 'r1' },
    annotations: { 'metal.ironcore.dev/labels-from-bmc': 'rack' },
  },
  spec: { systemUUID: uuid, systemURI: uri, bmcRef: { name: bmcName }, reclaimPolicy: 'Recycle', unclaimable: false },
});
const plan = (
  systems: SystemSummary[],
  servers: Server[] = [],
  { systemReporters = ['bmc'], isOldest = false, mostSystems = 64, unreadable = '' } = {},
  accepting: Server[] = [],
) =>
  planSystems({
    bmc,
    systems,
    unreadable: unreadable === '' ? undefined : unreadable,
    mostSystems,
    isOldest: (others) => others.length === 0 || isOldest,
    serversByUuid: (uuid) => servers.filter(({ spec }) => spec.systemUUID === uuid),
    ownServers: servers.filter(({ spec }) => spec.bmcRef?.name === 'bmc'),
    accepting,
    isNameTaken: (name) => servers.some(({ metadata }) => metadata.name === name),
    systemReporters: () => systemReporters,
  });

test('new systems get the next free names', () => {
  const { create } = plan([system('/1', 'a'), system('/2', 'b')], [server('bmc-system-0', 'z', '/9')]);
  assert.deepEqual(
    create.map(({ name, systemUUID }) => `${name} ${systemUUID}`),
    ['bmc-system-1 a', 'bmc-system-2 b'],
  );
});

test('systems that swap URIs keep their Servers', () => {
  const servers = [server('bmc-system-0', 'a', '/1'), server('bmc-system-1', 'b', '/2')];
  const { create, update } = plan([system('/1', 'b'), system('/2', 'a')], servers);
  assert.deepEqual(create, []);
  assert.deepEqual(
    update.map((moved) => `${moved.server.metadata.name} ${moved.systemURI}`),
    ['bmc-system-1 /1', 'bmc-system-0 /2'],
  );
});

test('a system that disappears does not change the others', () => {
  const servers = [server('bmc-system-0', 'a', '/1'), server('bmc-system-1', 'b', '/2')];
  assert.deepEqual(plan([system('/2', 'b')], servers), { create: [], update: [], rejected: [], noMachines: [] });
});

test('a system without UUID is rejected by URI', () => {
  assert.deepEqual(
    plan([system('/1', undefined)]).rejected.map(({ reason }) => reason),
    ['SystemWithoutUUID'],
  );
});

test('a system that another BMC reports as well gets no Server, and the message names that BMC', () => {
  const { create, rejected } = plan([system('/1', 'a')], [], { systemReporters: ['bmc', 'other'] });
  assert.deepEqual(create, []);
  assert.match(rejected[0]?.message ?? '', /so has BMC other; no Server is made for it/);
});

test('a Server of another BMC is never taken over', () => {
  const { create, update, rejected } = plan([system('/1', 'a')], [server('other-system-0', 'a', '/1', 'other')]);
  assert.deepEqual([create, update], [[], []]);
  assert.equal(rejected[0]?.reason, 'DuplicateSystemUUID');
});

test('two systems of one BMC with one UUID are both rejected, and nothing is changed', () => {
  const known = server('bmc-system-0', 'a', '/1');
  for (const servers of [[], [known]]) {
    const { create, update, rejected } = plan([system('/1', 'a'), system('/2', 'a')], servers);
    assert.deepEqual([create, update], [[], []]);
    assert.deepEqual(
      rejected.map(({ reason }) => reason),
      ['DuplicateSystemUUID', 'DuplicateSystemUUID'],
    );
  }
});

const derived = (uri: string, uuid: string): SystemSummary => ({
  ...system(uri, uuid),
  uuidDerivedFrom: 'manufacturer and serial number',
});
const derivedKey = 'metal.ironcore.dev/identity-derived-from';

test('a Server with a derived UUID has an annotation', () => {
  const { create } = plan([derived('/1', 'd')]);
  assert.deepEqual(create[0]?.annotations, {
    [derivedKey]: 'manufacturer and serial number',
    'metal.ironcore.dev/labels-from-bmc': 'rack',
  });
});

test('a machine that starts to report a UUID does not become a second Server', () => {
  const before = server('bmc-system-0', 'd', '/1');
  before.metadata.annotations = { ...before.metadata.annotations, [derivedKey]: 'manufacturer and serial number' };
  const { create, rejected } = plan([system('/1', 'a')], [before]);
  assert.deepEqual(create, []);
  assert.equal(rejected[0]?.reason, 'SystemIdentityChanged');
  assert.match(rejected[0]?.message ?? '', /now reports UUID a, and its Server bmc-system-0 has d/);
});

test('a machine that stops reporting its UUID does not become a second Server', () => {
  const { create, rejected } = plan([derived('/1', 'd')], [server('bmc-system-0', 'a', '/1')]);
  assert.deepEqual(create, []);
  assert.match(rejected[0]?.message ?? '', /no longer reports a UUID/);
});

test('another UUID at the URI of a Server creates no second Server while the first exists', () => {
  const { create, rejected } = plan([system('/1', 'b'), system('/2', 'c')], [server('bmc-system-0', 'a', '/1')]);
  assert.deepEqual(
    create.map(({ systemUUID }) => systemUUID),
    ['c'],
  );
  assert.equal(rejected[0]?.reason, 'SystemIdentityChanged');
  assert.match(
    rejected[0]?.message ?? '',
    /\/1 now reports UUID b, and its Server bmc-system-0 has a; if the board was exchanged, annotate the Server/,
  );
});

test('a machine at the former URI of a moved one gets its own Server', () => {
  const { create, update } = plan([system('/1', 'b'), system('/2', 'a')], [server('bmc-system-0', 'a', '/1')]);
  assert.deepEqual(
    create.map(({ systemUUID }) => systemUUID),
    ['b'],
  );
  assert.equal(update[0]?.systemURI, '/2');
});

const noted = (labels: Record<string, string>, keys: string | undefined): Server => {
  const made = server('bmc-system-0', 'a', '/1');
  made.metadata.labels = labels;
  made.metadata.annotations = keys === undefined ? {} : { 'metal.ironcore.dev/labels-from-bmc': keys };
  return made;
};
const labelRows: [title: string, server: Server, labels: object | undefined][] = [
  ['labels that exist already are no change', noted({ rack: 'r1' }, 'rack'), undefined],
  ['a new label of the BMC is copied', noted({}, undefined), { rack: 'r1' }],
  ['a changed label of the BMC is copied', noted({ rack: 'r0' }, 'rack'), { rack: 'r1' }],
  ['a label that the BMC lost is removed', noted({ rack: 'r1', old: 'x' }, 'old,rack'), { old: null }],
  ['a label that users set on the Server stays', noted({ rack: 'r1', mine: 'x' }, 'rack'), undefined],
  ['a label that is removed already is no change', noted({ rack: 'r1' }, 'old,rack'), {}],
  ['a Server of an earlier version gets the annotation', noted({ rack: 'r1' }, undefined), {}],
];
for (const [title, known, labels] of labelRows) {
  test(title, () => assert.deepEqual(plan([system('/1', 'a')], [known]).update[0]?.labels, labels));
}

test('the older of two BMC objects that report one system creates its Server and reports that', () => {
  const both = { systemReporters: ['bmc', 'other'], isOldest: true };
  const { create, rejected } = plan([system('/1', 'a')], [], both);
  assert.deepEqual(
    create.map(({ systemUUID }) => systemUUID),
    ['a'],
  );
  assert.match(rejected[0]?.message ?? '', /so has BMC other; this older BMC gets its Server/);
});

test('a BMC finds its own Server among several with the UUID, in any letter case', () => {
  const servers = [server('inline', 'a', '', 'other'), server('bmc-system-0', 'a', '/1')];
  const { create, update, rejected } = plan([system('/2', 'A')], servers);
  assert.deepEqual([create.length, update[0]?.systemURI, rejected.length], [0, '/2', 0]);
});

test('a system that is listed twice gets one Server', () => {
  assert.equal(plan([system('/1', 'a'), system('/1', 'a')]).create.length, 1);
});

const many = (count: number) => Array.from({ length: count }, (_, index) => system(`/${index}`, `u${index}`));

test('a BMC that reports too many systems gets no new Server, and keeps those that exist', () => {
  const { create, update, rejected } = plan(many(65), [server('bmc-system-0', 'u3', '/9999')]);
  assert.deepEqual([create, update.map((moved) => moved.systemURI)], [[], ['/3']]);
  assert.equal(rejected[0]?.reason, 'TooManySystems');
  assert.match(
    rejected[0]?.message ?? '',
    /^it reports 65 systems, and at most 64 are expected; if they are real, raise --max-systems-per-bmc$/,
  );
  assert.ok((rejected[0]?.message.length ?? 0) <= 160);
  assert.equal(plan(many(64)).create.length, 64, 'as many as allowed are made');
});

test('the message about rejected systems fits into a condition, however many there are', () => {
  const nameless = Array.from({ length: 16_000 }, (_, index) => system(`/${index}`, undefined));
  const { reason, message = '' } = summaryOf(plan(nameless).rejected) ?? {};
  assert.equal(reason, 'TooManySystems');
  assert.match(message, /\(and 16000 more\)$/);
  assert.ok(message.length <= 160);
});

test('a plan is linear in 16,000 systems and Servers', () => {
  const count = 16_000;
  let reads = 0;
  const counted = <T extends object>(object: T): T =>
    new Proxy(object, {
      get: (target, key) => {
        reads += 1;
        return Reflect.get(target, key);
      },
    });
  const servers = many(count).map(({ uuid = '' }, index) => server(`bmc-system-${index}`, uuid, `/${index}`));
  const known = new Map(servers.map((each) => [each.spec.systemUUID, counted(each)]));
  const isNameTaken = (name: string) => {
    reads += 1;
    return servers[Number(name.replace('bmc-system-', ''))] !== undefined;
  };
  const { create } = planSystems({
    bmc,
    systems: [...many(count), ...many(count).map(({ uri, uuid }) => system(`/new${uri}`, `new-${uuid}`))].map(counted),
    unreadable: undefined,
    mostSystems: 3 * count,
    serversByUuid: (uuid) => [known.get(uuid)].filter((each) => each !== undefined),
    ownServers: [...known.values()],
    accepting: [],
    isNameTaken,
    systemReporters: () => ['bmc'],
    isOldest: () => true,
  });
  assert.equal(create.length, count);
  assert.ok(reads < 60 * count, `${reads} reads`);
});

test('a system that is no machine gets no Server and does not count for the names', () => {
  const baseboard = { ...system('/HGX', 'h'), noMachineBecause: 'it offers no reset' };
  const { create, noMachines, rejected } = plan([baseboard, system('/1', 'a')]);
  assert.deepEqual(
    create.map(({ name, systemUUID }) => [name, systemUUID]),
    [['bmc-system-0', 'a']],
  );
  assert.deepEqual([noMachines.map(({ uri }) => uri), rejected], [['/HGX'], []]);
});

test('a Server of a system that is no machine stays, and the system does not count as one without a Server', () => {
  const dpu = { ...system('/2', 'd'), noMachineBecause: 'its SystemType is DPU' };
  const { create, update, noMachines } = plan([dpu], [server('bmc-system-0', 'd', '/1')]);
  assert.deepEqual([create, update.map((moved) => moved.systemURI), noMachines], [[], ['/2'], []]);
});

/** Reports no UUID. */
const node = (uri: string, uuid: string, alternativeUuid: string) => ({ ...system(uri, uuid), alternativeUuid });

test('a Server keeps its derived UUID when another system with the same serial number appears or is gone', () => {
  const before = [server('bmc-system-0', 'serial', '/1')];
  const { create, rejected } = plan([node('/1', 'place-1', 'serial'), node('/2', 'place-2', 'serial')], before);
  assert.deepEqual(
    create.map(({ systemUUID }) => systemUUID),
    ['place-2'],
  );
  assert.deepEqual(rejected, []);
  const both = [...before, server('bmc-system-1', 'place-2', '/2')];
  const alone = plan([node('/2', 'serial', 'place-2')], both);
  assert.deepEqual(alone, { create: [], update: [], rejected: [], noMachines: [] });
});

test('the message about a duplicate UUID that was derived says so and of what', () => {
  const source = 'manufacturer, serial number and system URI';
  const derived = { ...system('/1', 'a'), uuidDerivedFrom: source } as const;
  const { rejected } = plan([derived], [], { systemReporters: ['bmc', 'other', 'third'], isOldest: true });
  const message = rejected[0]?.message ?? '';
  assert.match(message, new RegExp(`^/1 has UUID a, derived from ${source}, and so has BMC other and 1 more;`));
  assert.match(message, /; delete the surplus BMC$/, 'the firmware reports no UUID that could be corrected');
  assert.ok(message.length <= 160, `${message.length} characters`);
});

test('a machine that has a Server of another BMC under its alternative UUID gets no second one', () => {
  const other = server('other-system-0', 'serial', '/1', 'other');
  const { create, rejected } = plan([node('/1', 'place-1', 'serial'), node('/2', 'place-2', 'serial')], [other]);
  assert.deepEqual(
    create.map(({ systemUUID }) => systemUUID),
    ['place-2'],
  );
  assert.match(rejected[0]?.message ?? '', /^\/1 .* Server other-system-0 keeps it/);
});

test('a machine with a UUID derived from its serial number waits for its Server until every system can be read', () => {
  const systems = [node('/1', 'place-1', 'serial'), node('/2', 'place-2', 'serial'), system('/3', 'c')];
  const existing = [server('bmc-system-0', 'place-2', '/2')];
  const { create, update, rejected } = plan(systems, existing, { unreadable: '/4' });
  assert.deepEqual([create.map(({ systemUUID }) => systemUUID), update], [['c'], []]);
  assert.deepEqual(rejected, [
    {
      reason: 'ResourcesUnreadable',
      message: '/1 reports no UUID and gets its Server once /4 can be read: both may have one serial number',
    },
  ]);
  assert.deepEqual(
    plan(systems, existing).create.map(({ systemUUID }) => systemUUID),
    ['place-1', 'c'],
  );
});

test('a Server with a UUID derived from a serial number records the alternative one', () => {
  const [created] = plan([node('/1', 'serial', 'place-1')]).create;
  assert.equal(created?.annotations['metal.ironcore.dev/alternative-uuid'], 'place-1');
});

const accepting = (systemUuid: string, more: Record<string, string> = {}): Server => {
  const known = server('rack-system-0', systemUuid, '/9', 'old-bmc');
  const annotations = { ...known.metadata.annotations, 'metal.ironcore.dev/accept-bmc': 'bmc', ...more };
  return { ...known, metadata: { ...known.metadata, annotations } };
};

test('a Server moves to the BMC object that a person confirmed', () => {
  const moving = accepting('A');
  const { update, rejected } = plan([system('/1', 'a')], [moving], undefined, [moving]);
  assert.deepEqual(rejected, []);
  assert.deepEqual(
    update.map(({ systemURI, annotations, isAdopted }) => ({ systemURI, annotations, isAdopted })),
    [{ systemURI: '/1', annotations: { 'metal.ironcore.dev/accept-bmc': null }, isAdopted: true }],
  );
});

test('a Server moves to another BMC with the UUID of its new mainboard', () => {
  const moving = accepting('a', { 'metal.ironcore.dev/accept-system-uuid': 'B' });
  const { create, update } = plan([system('/1', 'b')], [moving], undefined, [moving]);
  assert.deepEqual(create, []);
  assert.deepEqual(
    update.map(({ server: { metadata } }) => metadata.name),
    ['rack-system-0'],
  );
});

test('a Server does not move to a BMC that reports another machine', () => {
  const moving = accepting('a');
  const { update, rejected } = plan([system('/1', 'b')], [moving], undefined, [moving]);
  assert.deepEqual(update, []);
  assert.deepEqual(
    rejected.map(({ reason }) => reason),
    ['AcceptedServerNotFound'],
  );
});

test('a Server does not move while two systems report its UUID', () => {
  const moving = accepting('a');
  const { update } = plan([system('/1', 'a'), system('/2', 'a')], [moving], undefined, [moving]);
  assert.deepEqual(update, []);
});
