import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { BMC } from '@metal/api/v1alpha1/bmc.ts';
import { type ErasureReport, erasureReportName, waiverName } from '@metal/api/v1alpha1/erasure-report.ts';
import type { ServerBootConfiguration } from '@metal/api/v1alpha1/server-boot-configuration.ts';
import type { ServerInventory } from '@metal/api/v1alpha1/server-inventory.ts';
import type { Server } from '@metal/api/v1alpha1/server.ts';
import { uncleanServerAnnotation } from '@metal/api/wire/contract.ts';
import { probeReport } from '@metal/api/wire/probe-report.ts';
import { Store } from '@metal/kube/cache/store.ts';
import { fakeClock } from '@metal/kube/test/fake-clock.ts';
import { Password } from '@metal/redfish/http/bmc.ts';
import type { OptionTexts } from '@metal/api/common/options.ts';
import { readOperatorConfig } from '../../../options.ts';
import type { Connection } from '../../../bmc-connections/connection.ts';
import { ObservedSystem } from '../../../bmc-connections/observed-state.ts';
import { admissionOf, CleanupQueue } from '../../../cleanup/cleanup-queue.ts';
import { isAdmissible, nextInQueue } from '../../../cleanup/queue-position.ts';
import type { OperatorContext } from '../../context.ts';
import type { ServerReconcile } from '../machine.ts';
import { calmServer } from '../../../../test/server/table.rows.ts';
import type { ServerFacts, ServerPhase } from '../types.ts';
import { admitCleanup } from './actions.ts';
import { type CleanupFacts, cleanupFacts } from './facts.ts';
import { cleanupStatus } from './report.ts';

const apiVersion = 'metal.ironcore.dev/v1alpha1';
const at = (seconds: number): string => new Date(Date.UTC(2026, 0, 1) + seconds * 1_000).toISOString();
const since = at(0);
const now = Date.parse(at(1_000));
type Status = NonNullable<Server['status']>;
type Cleanup = NonNullable<Status['cleanup']>;

let version = 0;
const metadata = (name: string) => ({ name, uid: `uid-of-${name}`, resourceVersion: String((version += 1)) });

/** A few stores, and time that stands still. */
function world(options: OptionTexts = {}) {
  const servers = new Store<Server>();
  servers.addIndexes({ state: ({ status }) => [status?.state ?? ''] });
  const caches = {
    servers,
    bmcs: new Store<BMC>(),
    bootConfigurations: new Store<ServerBootConfiguration>(),
    inventories: new Store<ServerInventory>(),
    erasures: new Store<ErasureReport>(),
  };
  const memories = new Map<string, ObservedSystem>();
  const observedSystem = (uid: string): ObservedSystem => {
    const memory = memories.get(uid) ?? new ObservedSystem();
    memories.set(uid, memory);
    return memory;
  };
  const config = readOperatorConfig({ 'cleanup-disks': 'Purge', ...options });
  // What is judged here looks at nothing else of the context.
  const clock = fakeClock();
  const cleanupQueue = new CleanupQueue(servers, clock);
  const context = {
    caches,
    config,
    cleanupQueue,
    bmcConnections: { observedSystem },
    clock: { ...clock, now: () => now },
  } as unknown as OperatorContext;
  const put = (name: string, status: Status, spec: Partial<Server['spec']> = {}): Server => {
    const server: Server = {
      apiVersion,
      kind: 'Server',
      metadata: metadata(name),
      spec: { systemUUID: name, ...spec },
      status,
    };
    servers.upsertIfNewer(server);
    return server;
  };
  const facts = (server: Server): CleanupFacts =>
    cleanupFacts(server, { memory: observedSystem(server.metadata.uid ?? ''), context, now });
  /** The admission uses only the object and the context. */
  const admit = (server: Server): Promise<void> =>
    admitCleanup({ object: server, context } as unknown as ServerReconcile);
  return { caches, context, put, facts, admit };
}

const needs: [string, Status, boolean][] = [
  ['a new server', {}, false],
  ['an available server', { state: 'Available', cleanup: { startedTime: since } }, false],
  ['a marked server', { state: 'Initial', cleanup: { neededSince: since } }, true],
  ['a claimed server of a version without marks', { state: 'Reserved' }, true],
  ['a released server of a version without marks', { state: 'Released' }, true],
  ['a claimed server in maintenance', { state: 'Maintenance', stateBeforeMaintenance: 'Reserved' }, true],
  ['an available server in maintenance', { state: 'Maintenance', stateBeforeMaintenance: 'Available' }, false],
  ['a server in Cleanup without a mark', { state: 'Cleanup' }, true],
];
for (const [title, status, needed] of needs) {
  test(`${title} ${needed ? 'needs' : 'needs no'} cleanup`, () => {
    const { put, facts } = world();
    assert.equal(facts(put('one', status)).needed, needed);
  });
}

for (const [title, status, needed] of [
  ['whose status was lost', {}, true],
  ['that is Available again', { state: 'Available' }, false],
] as const)
  test(`a server ${title} ${needed ? 'needs' : 'needs no'} cleanup by its own annotation`, () => {
    const { put, facts } = world();
    const server = put('one', status);
    const annotations = { [uncleanServerAnnotation]: since };
    assert.equal(facts({ ...server, metadata: { ...server.metadata, annotations } }).needed, needed);
  });

const uuid = '4C4C4544-0044-4210-8052-C4C04F4A3732';
for (const [title, status, systemUUID, needed] of [
  ['a new Server of a marked machine', {}, uuid, true],
  ['a Server of a marked machine in Discovery', { state: 'Discovery' }, uuid, true],
  ['an available Server of a marked machine', { state: 'Available' }, uuid, false],
  ['another machine of that BMC', {}, uuid.replace('4C', '5D'), false],
] as const)
  test(`${title} ${needed ? 'needs' : 'needs no'} cleanup by the mark of its BMC`, () => {
    const { caches, put, facts } = world();
    const spec = { bmcSecretRef: { name: 'bmc' }, protocol: { name: 'Redfish', port: 443 } };
    const annotations = { [`unclean.metal.ironcore.dev/${uuid.toLowerCase()}`]: since };
    caches.bmcs.upsertIfNewer({ apiVersion, kind: 'BMC', metadata: { ...metadata('bmc'), annotations }, spec });
    assert.equal(facts(put('one', status, { systemUUID, bmcRef: { name: 'bmc' } })).needed, needed);
  });

const disk = { serial: 'A', wwid: '', model: 'M', sizeBytes: 100 };
const erased = {
  ...disk,
  result: 'Erased',
  name: '',
  erasedBytes: 100,
  samples: 1,
  verified: true,
  message: '',
} as const;

interface Attempt {
  readonly boot?: { readonly attempt?: string; readonly of?: string; readonly owner?: string; readonly mode?: string };
  readonly report?: Partial<ErasureReport['spec']>;
  readonly cleanup?: Cleanup;
  readonly state?: string;
  readonly certificate?: string | undefined;
  /** What this process did and saw before. */
  readonly before?: (memory: ObservedSystem) => void;
  readonly spec?: Partial<Server['spec']>;
}

function inventoryOf({ metadata: { name, uid = '' } }: Server, storage: readonly object[]): ServerInventory {
  return {
    apiVersion,
    kind: 'ServerInventory',
    metadata: { ...metadata(name), ownerReferences: [{ apiVersion, kind: 'Server', name, uid }] },
    spec: {
      serverRef: { name },
      systemUUID: name,
      receivedTime: since,
      reportDigest: '',
      report: probeReport.parse({ storage }),
    },
  };
}

interface TwoServers {
  readonly wwid?: string;
  /** Of their disks. */
  readonly own?: object;
  readonly others?: object;
  readonly isGone?: boolean;
  readonly policy?: 'None' | 'Purge';
  readonly attempt?: number;
}

const lun = 'naa.600a098000f6a1b2000003b45f2e1d9c';
const seenTwice: [title: string, TwoServers, isShared: boolean][] = [
  ['a disk that another server reports', {}, true],
  ['a disk that another server reports as removable', { others: { removable: true } }, true],
  ['a disk with a name of a type that is not unique', { wwid: 't10.IET     00010001' }, false],
  ['a disk without a name', { wwid: '' }, false],
  ['a disk of a deleted server', { isGone: true }, false],
  ['a removable disk', { own: { removable: true } }, false],
  ['a disk that the policy does not erase', { policy: 'None' }, false],
  ['a disk before the attempt begins', { attempt: 0 }, false],
];
for (const [title, { wwid = lun, own, others, isGone = false, policy = 'Purge', attempt = 1 }, isShared] of seenTwice) {
  test(`${title} ${isShared ? 'counts' : 'does not count'} as shared`, () => {
    const { caches, put, facts } = world();
    const cleanup = { neededSince: since, attempt };
    const one = put('one', { state: 'Cleanup', cleanup }, { cleanup: { disks: policy } });
    const other = put('other', { state: 'Reserved' });
    caches.inventories.upsertIfNewer(inventoryOf(one, [{ ...disk, wwid, ...own }]));
    caches.inventories.upsertIfNewer(inventoryOf(other, [{ ...disk, wwid, ...others }]));
    if (isGone) caches.servers.removeByUid('other', other.metadata.uid ?? '');
    assert.deepEqual(facts(one).sharedDisk, isShared ? { wwid, serverName: 'other' } : undefined);
  });
}

/** A server in its first attempt, with a report of success about its only disk. */
function attempted(attempt: Attempt): CleanupFacts {
  const {
    before = () => undefined,
    boot,
    report = {},
    cleanup,
    state = 'Cleanup',
    spec,
    certificate = 'a.b.c',
  } = attempt;
  const { caches, context, put, facts } = world();
  before(context.bmcConnections.observedSystem('uid-of-one'));
  const server = put('one', { state, cleanup: { neededSince: since, attempt: 1, ...cleanup } }, spec);
  const owner = { apiVersion, kind: 'Server', name: 'one', uid: boot?.owner ?? server.metadata.uid ?? '' };
  caches.bootConfigurations.upsertIfNewer({
    apiVersion,
    kind: 'ServerBootConfiguration',
    metadata: {
      ...metadata('one'),
      uid: 'boot-uid-1',
      namespace: 'default',
      ownerReferences: [owner],
      annotations: {
        'metal.ironcore.dev/type': 'Internal',
        'metal.ironcore.dev/cleanup-attempt': boot?.attempt ?? '1',
        'metal.ironcore.dev/cleanup-needed-since': boot?.of ?? since,
        'metal.ironcore.dev/cleanup-mode': boot?.mode ?? 'Purge',
        'metal.ironcore.dev/cleanup-prepared': at(10),
      },
    },
    spec: { serverRef: { name: 'one' }, image: 'os' },
  });
  caches.inventories.upsertIfNewer(inventoryOf(server, [disk, { serial: 'stick', sizeBytes: 1, removable: true }]));
  caches.erasures.upsertIfNewer({
    apiVersion,
    kind: 'ErasureReport',
    metadata: metadata(erasureReportName('one', 'boot-uid-1')),
    spec: {
      serverRef: { name: 'one', uid: server.metadata.uid ?? '' },
      systemUUID: 'one',
      bootConfigurationUID: 'boot-uid-1',
      attempt: 1,
      mode: 'Purge',
      receivedTime: at(20),
      state: 'Succeeded',
      disks: [erased],
      ...report,
    },
    status: certificate === '' ? {} : { certificate },
  });
  return facts(server);
}

const clearanceCases: [string, Attempt, CleanupFacts['clearance']][] = [
  ['success of this attempt', {}, 'Cleaned'],
  ['success that is not certified', { certificate: '' }, undefined],
  ['success of a boot without an erasure order', { boot: { mode: 'None' }, report: { disks: [] } }, undefined],
  [
    'success of a boot without an erasure order, as the policy says',
    { boot: { mode: 'None' }, report: { disks: [] }, spec: { cleanup: { disks: 'None', bios: 'Reset' } } },
    'Cleaned',
  ],
  ['progress', { report: { state: 'Running' } }, undefined],
  ['failure', { report: { state: 'Failed' } }, undefined],
  ['success of another boot', { report: { bootConfigurationUID: 'boot-uid-1-of-old' } }, undefined],
  ['success of another Server of the name', { report: { serverRef: { name: 'one', uid: 'other' } } }, undefined],
  ['success of another attempt', { report: { attempt: 2 } }, undefined],
  ['success of a boot of another attempt', { boot: { attempt: '2' }, report: { attempt: 2 } }, undefined],
  ['success of a boot for an earlier need', { boot: { of: at(-500) } }, undefined],
  ['success of a boot of an earlier Server', { boot: { owner: 'other' } }, undefined],
  ['success without a disk of the order', { report: { disks: [] } }, undefined],
  ['success for another disk', { report: { disks: [{ ...erased, serial: 'B' }] } }, undefined],
  ['success with a disk that failed', { report: { disks: [{ ...erased, result: 'Failed' }] } }, undefined],
  ['success before the admission', { cleanup: { attempt: 0 } }, undefined],
  [
    'success of a boot of no attempt',
    { boot: { attempt: '0' }, report: { attempt: 0 }, cleanup: { attempt: 0 } },
    undefined,
  ],
  ['success in state Reserved', { state: 'Reserved' }, undefined],
  ['success of an order that a claim reference withdrew', { cleanup: { withdrawnTime: at(15) } }, undefined],
  ['success of an order that its report calls withdrawn', { report: { withdrawn: 'it is paused' } }, undefined],
  ['success in state Error', { state: 'Error' }, undefined],
];
for (const [title, attempt, clearance] of clearanceCases) {
  test(`${title} ${clearance === undefined ? 'does not clear' : 'clears'} the server`, () =>
    assert.equal(attempted(attempt).clearance, clearance));
}

for (const [title, attempt] of [
  ['in the status', { cleanup: { withdrawnTime: at(15) } }],
  ['in the report', { report: { state: 'Failed', withdrawn: 'it is paused' } }],
] as const)
  test(`an attempt whose order was withdrawn ${title} has no result`, () => {
    const { withdrawn, report, record } = attempted(attempt);
    assert.deepEqual([withdrawn, report, record === undefined], [true, undefined, false]);
  });

test('a report of success without a disk of the order is a failure that names the disk', () =>
  assert.deepEqual(attempted({ report: { disks: [] } }).report, {
    state: 'Failed',
    message: 'the report of success does not tell that disk A was erased',
  }));

const millisecondsAt = (seconds: number): number => Date.parse(at(seconds));
const observePower = (memory: ObservedSystem, power: 'On' | 'Off', seconds: number): void =>
  memory.record({ powerState: power } as Parameters<typeof memory.record>[0], millisecondsAt(seconds)); // only the power state is used
const over = (host: string): Connection => ({
  username: 'a',
  password: new Password(''),
  endpoint: { scheme: 'https', host, port: 443 },
});

/** The boot of the attempt was prepared at 10, and now it is 1000. */
const runs: [string, Attempt, CleanupFacts['hasRun'], number | undefined][] = [
  ['that nobody has looked at', {}, 'unknown', undefined],
  ['that was off just now', { before: (memory) => observePower(memory, 'Off', 995) }, 'no', undefined],
  ['that was off a while ago', { before: (memory) => observePower(memory, 'Off', 990) }, 'unknown', undefined],
  [
    'that ran before its boot was prepared',
    {
      before: (memory) => {
        observePower(memory, 'On', 9);
        observePower(memory, 'Off', 999);
      },
    },
    'no',
    undefined,
  ],
  [
    'that ran meanwhile',
    {
      before: (memory) => {
        observePower(memory, 'On', 20);
        observePower(memory, 'Off', 999);
      },
    },
    'yes',
    20,
  ],
  [
    'that was asked to start and not looked at since',
    { before: (memory) => memory.requested('On', false, millisecondsAt(20)) },
    'yes',
    20,
  ],
  [
    'whose start was requested before the preparation',
    {
      before: (memory) => {
        memory.requested('On', false, millisecondsAt(9));
        observePower(memory, 'Off', 999);
      },
    },
    'no',
    undefined,
  ],
  [
    'that an earlier process started',
    { cleanup: { poweredOnTime: at(30) }, before: (memory) => observePower(memory, 'Off', 999) },
    'yes',
    30,
  ],
  [
    'that was started for another boot',
    { cleanup: { poweredOnTime: at(9) }, before: (memory) => observePower(memory, 'Off', 999) },
    'no',
    undefined,
  ],
  [
    'that was observed running over another connection',
    {
      before: (memory) => {
        memory.resetIfConnectionChanged(over('one'));
        observePower(memory, 'On', 20);
        memory.resetIfConnectionChanged(over('other'));
        observePower(memory, 'Off', 999);
      },
    },
    'no',
    undefined,
  ],
];
for (const [title, attempt, hasRun, since] of runs) {
  test(`hasRun is ${hasRun} for a machine ${title}`, () => {
    const facts = attempted(attempt);
    assert.deepEqual([facts.hasRun, facts.poweredOnTime], [hasRun, since === undefined ? undefined : at(since)]);
  });
}

test('the time without progress counts from the last report, the preparation, or the admission', () => {
  assert.equal(attempted({ report: { state: 'Running' } }).noProgressForMs, 980_000);
  assert.equal(attempted({ report: { attempt: 2 } }).noProgressForMs, 990_000);
  assert.equal(attempted({ report: { receivedTime: at(5_000) } }).noProgressForMs, 0);
  const unprepared = { boot: { of: at(-500) }, cleanup: { startedTime: at(5) } };
  assert.equal(attempted(unprepared).noProgressForMs, 995_000);
});

for (const [title, of, state, clearance] of [
  ['for this need', since, 'Error', 'Waived'],
  ['for an earlier need', at(-500), 'Error', undefined],
  ['for this need, in state Initial', since, 'Initial', undefined],
] as const) {
  test(`a waiver ${title} ${clearance === undefined ? 'does not clear' : 'clears'} the server`, () => {
    const { caches, put, facts } = world();
    const server = put('one', { state, cleanup: { neededSince: since } });
    const serverRef = { name: 'one', uid: server.metadata.uid ?? '' };
    const spec = {
      serverRef,
      systemUUID: 'one',
      attempt: 0,
      mode: 'Purge',
      receivedTime: since,
      state: 'Waived',
    } as const;
    caches.erasures.upsertIfNewer({
      apiVersion,
      kind: 'ErasureReport',
      metadata: metadata(waiverName('one', of)),
      spec,
    });
    assert.equal(facts(server).clearance, clearance);
  });
}

const waiting = (neededSince: string): Status => ({ state: 'Cleanup', cleanup: { neededSince, queuedSince: at(900) } });

test('the queue is ordered by time of need, then by name; a server that cannot start blocks no other', () => {
  const { context, put, facts } = world({ 'cleanup-at-once': '1' });
  put('runs', { state: 'Cleanup', cleanup: { neededSince: at(-100), attempt: 1, startedTime: at(950) } });
  put('cannot', { state: 'Cleanup', cleanup: { neededSince: at(-50) } });
  const [b, c, a] = [put('b', waiting(at(5))), put('c', waiting(at(5))), put('a', waiting(at(6)))];
  assert.deepEqual(
    [b, c, a].map((server) => facts(server).queue?.ahead),
    [0, 1, 2],
  );
  assert.equal(facts(b).queue?.running, 1);
  assert.deepEqual(nextInQueue(context), ['b']);
});

test('the status records that the machine was started for the attempt', () => {
  const { put } = world();
  const server = put('one', { state: 'Cleanup', cleanup: { ...mark, attempt: 1 } });
  const cleanup = attempted({ before: (memory) => observePower(memory, 'On', 20) });
  const seen: ServerFacts = { ...calmServer, cleanup };
  const decision = { kind: 'wait', reason: 'WaitingForEraser' } as const;
  const written = cleanupStatus(server, seen, { ...noted, phase: 'Cleanup', decision });
  assert.deepEqual(written, { ...mark, attempt: 1, poweredOnTime: at(20) });
});

test('the status records that a claim reference withdrew the order of the attempt', () => {
  const { put } = world();
  const server = put('one', { state: 'Cleanup', cleanup: { ...mark, attempt: 1 } }, { serverClaimRef: claim });
  const seen: ServerFacts = { ...calmServer, cleanup: attempted({ report: { state: 'Running' } }) };
  const decision = { kind: 'wait', reason: 'CleanupHeldByClaim' } as const;
  const written = cleanupStatus(server, seen, { ...noted, phase: 'Cleanup', decision });
  assert.deepEqual(written, { ...mark, attempt: 1, withdrawnTime: at(1_000) });
});

test('the last place goes to one of two concurrent reconciles, which keeps it until the status holds it', async () => {
  const { put, facts, admit } = world({ 'cleanup-at-once': '1' });
  // Neither status has queuedSince.
  const [a, b] = [{ neededSince: at(1) }, { neededSince: at(2) }].map((cleanup, index) =>
    put(`s${index}`, { state: 'Cleanup', cleanup }),
  );
  assert.ok(a && b);
  for (const server of [a, b]) assert.equal(isAdmissible(facts(server).queue ?? assert.fail('it is in Cleanup')), true);
  await Promise.all([admit(b), admit(a)]);
  assert.deepEqual([facts(a).admitted, facts(b).admitted], [false, true]);
  put('s1', { state: 'Error', cleanup: { neededSince: at(2) } });
  await admit(a);
  assert.equal(facts(a).admitted, true);
});

test('a sharded replica starts an attempt only after the leader admitted that attempt', () => {
  const { put, facts } = world({ shards: 'auto', 'cleanup-at-once': '1' });
  const server = put('one', waiting(since));
  const admittedWith = (annotation: string) => ({
    ...server,
    metadata: { ...server.metadata, annotations: { 'metal.ironcore.dev/cleanup-admitted': annotation } },
  });
  assert.equal(facts(server).isAdmittedByLeader, true);
  assert.equal(admissionOf(server), `${since} 1`);
  for (const [annotation, admitted] of [
    [`${since} 1`, true],
    [`${since} 2`, false],
    [`${at(-5)} 1`, false],
  ] as const)
    assert.equal(facts(admittedWith(annotation)).admitted, admitted, annotation);
});

test('the hourly limit counts every start of the last hour, also of available servers', () => {
  const { put, facts } = world({ 'cleanup-per-hour': '2' });
  put('free', { state: 'Available', cleanup: { startedTime: at(-2_000) } });
  put('long-ago', { state: 'Available', cleanup: { startedTime: at(-2_601) } });
  const server = put('one', waiting(since));
  assert.equal(isAdmissible(facts(server).queue ?? assert.fail('it is in Cleanup')), true);
  put('runs', { state: 'Cleanup', cleanup: { neededSince: since, attempt: 1, startedTime: at(0) } });
  const { queue } = facts(server);
  assert.deepEqual([queue?.startedInHour, queue?.nextHourlySlotInMs], [2, 600_000]);
  assert.equal(isAdmissible(queue ?? assert.fail('it is in Cleanup')), false);
});

test('another attempt of the same cleanup does not count as another start', () => {
  const { put, facts } = world({ 'cleanup-per-hour': '1' });
  const cleanup = { neededSince: since, startedTime: at(900) };
  const isAdmissibleWith = (more: Cleanup) =>
    isAdmissible(
      facts(put('one', { state: 'Cleanup', cleanup: { ...cleanup, ...more } })).queue ??
        assert.fail('it is in Cleanup'),
    );
  assert.deepEqual([isAdmissibleWith({ failedAttempts: 1 }), isAdmissibleWith({})], [true, false]);
});

const claim = { namespace: 'team', name: 'one', uid: 'claim-1' };
const mark = { neededSince: since, formerClaim: claim };
const noted = { phaseSince: at(1_000), at: at(1_000) };

/** The status before, the decision, and `status.cleanup` after it. */
const writes: [string, Status, { phase: ServerPhase; reason?: string; claimed?: true }, Cleanup | undefined][] = [
  [
    'a claim sets the mark',
    { state: 'Available' },
    { phase: 'Reserved', claimed: true },
    { ...mark, neededSince: at(1_000) },
  ],
  ['the mark stays', { state: 'Reserved', cleanup: mark }, { phase: 'Reserved', claimed: true }, mark],
  ['the mark stays without a claim reference', { state: 'Reserved', cleanup: mark }, { phase: 'Cleanup' }, mark],
  [
    'the mark stays in Maintenance',
    { state: 'Cleanup', cleanup: { ...mark, attempt: 1 } },
    { phase: 'Maintenance' },
    mark,
  ],
  ['the mark stays in Initial', { state: 'Cleanup', cleanup: mark }, { phase: 'Initial' }, mark],
  [
    'a claim of an earlier version gets a mark',
    { state: 'Reserved' },
    { phase: 'Cleanup' },
    { neededSince: at(1_000) },
  ],
  [
    'a queued server has queuedSince',
    { state: 'Cleanup', cleanup: mark },
    { phase: 'Cleanup', reason: 'CleanupQueued' },
    { ...mark, queuedSince: at(1_000) },
  ],
  [
    'the first attempt has number 1',
    { state: 'Cleanup', cleanup: { ...mark, queuedSince: since } },
    { phase: 'Cleanup', reason: 'CleanupStarts' },
    { ...mark, startedTime: at(1_000), attempt: 1 },
  ],
  [
    'a failed attempt is counted',
    { state: 'Cleanup', cleanup: { ...mark, attempt: 2, failedAttempts: 1 } },
    { phase: 'Cleanup', reason: 'CleanupAttemptFailed' },
    { ...mark, failedAttempts: 2 },
  ],
  [
    'the next attempt has the next number',
    { state: 'Cleanup', cleanup: { ...mark, failedAttempts: 2 } },
    { phase: 'Cleanup', reason: 'CleanupStarts' },
    { ...mark, failedAttempts: 2, startedTime: at(1_000), attempt: 3 },
  ],
  [
    'an error keeps the attempt',
    { state: 'Cleanup', cleanup: { ...mark, attempt: 2 } },
    { phase: 'Cleanup' },
    { ...mark, attempt: 2 },
  ],
  [
    'the start of a failed attempt is removed',
    { state: 'Cleanup', cleanup: { ...mark, attempt: 1, poweredOnTime: at(30) } },
    { phase: 'Cleanup', reason: 'CleanupAttemptFailed' },
    { ...mark, failedAttempts: 1 },
  ],
  [
    'a retry removes the failures',
    { state: 'Error', cleanup: { ...mark, failedAttempts: 2 } },
    { phase: 'Cleanup' },
    mark,
  ],
  [
    'a claim reference before an order withdraws nothing',
    { state: 'Cleanup', cleanup: { ...mark, attempt: 1 } },
    { phase: 'Cleanup', reason: 'CleanupHeldByClaim', claimed: true },
    { ...mark, attempt: 1 },
  ],
  [
    'the time of a withdrawal stays until the cleanup restarts',
    { state: 'Cleanup', cleanup: { ...mark, attempt: 1, withdrawnTime: since } },
    { phase: 'Cleanup', reason: 'CleanupHeldByClaim', claimed: true },
    { ...mark, attempt: 1, withdrawnTime: since },
  ],
  [
    'a restarted cleanup begins with the first attempt',
    { state: 'Cleanup', cleanup: { ...mark, startedTime: since, attempt: 3, failedAttempts: 2, withdrawnTime: since } },
    { phase: 'Cleanup', reason: 'CleanupBeginsAnew' },
    { ...mark, startedTime: since },
  ],
  [
    'an available server keeps only the time of its start',
    { state: 'Cleanup', cleanup: { ...mark, startedTime: since, attempt: 1 } },
    { phase: 'Available' },
    { startedTime: since },
  ],
  [
    'an available server with policy None keeps nothing',
    { state: 'Reserved', cleanup: mark },
    { phase: 'Available' },
    undefined,
  ],
];
for (const [title, status, { phase, reason, claimed }, expected] of writes) {
  test(`status.cleanup: ${title}`, () => {
    const { put, facts } = world();
    const server = put('one', status, claimed === true ? { serverClaimRef: claim } : {});
    const seen: ServerFacts = { ...calmServer, cleanup: facts(server) };
    const found = cleanupStatus(server, seen, { ...noted, phase, decision: { kind: 'wait', reason } });
    assert.deepEqual(found, expected);
  });
}
