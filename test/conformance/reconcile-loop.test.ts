import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Event } from '@metal/kube/kinds/builtin.ts';
import { CacheSet } from '@metal/kube/cache/cache.ts';
import { createKubeClient, type KubeClient } from '@metal/kube/client/client.ts';
import { type Clock, createClock } from '@metal/kube/runtime/clock.ts';
import { act, go, type PhaseTable, rest, rowsOf, wait } from '@metal/kube/controller/decide.ts';
import { defineKind } from '@metal/kube/kinds/define-kind.ts';
import { KubeError, OperatorError } from '@metal/kube/errors.ts';
import { installKinds } from '@metal/kube/client/install-kinds.ts';
import type { ObjectOf } from '@metal/kube/kinds/kind.ts';
import { runManager } from '@metal/kube/controller/manager.ts';
import { clusterOfFile } from '@metal/testenv/cluster/cluster.ts';
import { eventAbout } from '@metal/testenv/cluster/event-about.ts';
import { type Logger, pino } from 'pino';
import { Registry } from 'prom-client';
import type { Cache } from '@metal/kube/cache/store.ts';
import { phaseController } from '@metal/kube/controller/phase-controller.ts';
import * as z from 'zod';

const condition = z.object({
  type: z.string(),
  status: z.enum(['True', 'False', 'Unknown']),
  reason: z.string(),
  message: z.string(),
  lastTransitionTime: z.string(),
});
const Lamp = defineKind({
  group: 'test.example',
  version: 'v1',
  kind: 'Lamp',
  plural: 'lamps',
  scope: 'Cluster',
  description: 'A lamp to try controllers with.',
  columns: {},
  fields: {
    spec: z.object({ lit: z.boolean(), fuse: z.string().optional() }),
    status: z
      .object({
        phase: z.string().optional(),
        conditions: z
          .array(condition)
          .meta({ 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['type'] })
          .optional(),
      })
      .optional(),
  },
});
type Lamp = ObjectOf<typeof Lamp>;

type Phase = 'Dark' | 'Bright';
type Action = 'switchOn' | 'observe' | 'unplug';
interface Facts {
  readonly name: string;
  readonly isForLater: boolean;
  readonly isUnseen: boolean;
  readonly wanted: boolean;
  readonly on: boolean;
  readonly plugged: boolean;
}

/** The system behind the lamps: state, sockets and history. */
class House {
  /** All fuses are bridged, which no object shows. */
  bridged = false;
  readonly on = new Set<string>();
  /** Lamps with periodic observation. */
  readonly seen = new Set<string>();
  onSeen = (): void => undefined;
  readonly plugged = new Set<string>();
  readonly log: string[] = [];
  atOnce = 0;
  mostAtOnce = 0;
  hold: Promise<void> = Promise.resolve();
  /** Body of the read-only action, until the signal aborts it. */
  observe: (signal: AbortSignal) => Promise<void> = () => Promise.resolve();
  /** Runs at the start of every action. */
  onAction: () => void = () => undefined;
}

const finalizer = 'test.example/lamp';
const row = rowsOf<Phase, Facts, Action>();
const table: PhaseTable<Phase, Facts, Action> = {
  Dark: row(['Bright'], ({ wanted, on, isForLater, isUnseen }) => {
    if (isUnseen) return act('observe', 'NotYetSeen');
    if (isForLater) return wait(30_000, 'OthersFirst', undefined, 120_000);
    if (!wanted) return wait(60_000, 'NotWanted');
    return on ? go('Bright', 'SwitchedOn') : act('switchOn', 'LightWanted');
  }),
  Bright: row(['Dark'], ({ wanted }) => (wanted ? rest : go('Dark', 'NotWanted'))),
};

const lampController = phaseController({
  name: 'lamp',
  kind: Lamp,
  phaseOf: ({ status }: Lamp): Phase => (status?.phase === 'Bright' ? 'Bright' : 'Dark'),
  facts: ({ metadata, spec }: Lamp, house: House): Facts => ({
    name: metadata.name,
    isForLater: spec.fuse === 'later',
    isUnseen: spec.fuse === 'watched' && !house.seen.has(metadata.name),
    wanted: spec.lit,
    on: house.on.has(metadata.name),
    plugged: house.plugged.has(metadata.name),
  }),
  table,
  reasons: {
    NotWanted: {
      meaning: 'Nobody wants light.',
      remedy: 'Set spec.lit to have it.',
      weight: 'needsPerson',
      actor: 'person',
      command: 'kubectl edit lamp {name}',
    },
  },
  finalizer,
  deletion: ({ plugged }) => (plugged ? act('unplug', 'LampRemoved') : rest),
  actions: {
    switchOn: async ({ object, facts, context: house }) => {
      house.atOnce += 1;
      house.mostAtOnce = Math.max(house.mostAtOnce, house.atOnce);
      house.log.push(`on ${facts.name}`);
      house.onAction();
      await house.hold;
      house.atOnce -= 1;
      if (object.spec.fuse === 'blown' && !house.bridged)
        throw new OperatorError({ code: 'FuseBlown', message: 'the fuse is blown; replace it', retry: 'blocked' });
      house.plugged.add(facts.name);
      house.on.add(facts.name);
    },
    observe: async ({ facts, context: house, signal }) => {
      await house.observe(signal);
      house.seen.add(facts.name);
      house.onSeen();
    },
    unplug: async ({ facts, context: house }) => {
      house.log.push(`unplug ${facts.name}`);
      house.plugged.delete(facts.name);
    },
  },
  readOnlyActions: ['observe'],
  report: (_, __, { phase, decision, error }) => ({
    fields: { phase },
    conditions: [
      {
        type: 'Ready',
        status: decision.kind === 'rest' ? 'True' : 'False',
        reason: error instanceof OperatorError ? error.code : (decision.reason ?? 'Settled'),
        message: error?.message ?? decision.message ?? decision.meaning ?? '',
      },
    ],
  }),
  progressFields: ['phase'],
  writes: ['lamps', 'lamps/status'],
  concurrency: () => 2,
});

const openCluster = clusterOfFile();

interface Fixture extends AsyncDisposable {
  readonly client: KubeClient;
  readonly clock: Clock;
  readonly lamps: Cache<Lamp>;
  readonly house: House;
  readonly registry: Registry;
  stop(): Promise<void>;
}

interface FixtureOptions {
  readonly speed?: number;
  /** Lamps that exist before the controller starts. */
  readonly before?: readonly string[];
  /** Duration of actions. */
  readonly hold?: Promise<void>;
  readonly log?: Logger;
}

async function openFixture({
  speed = 1,
  before = [],
  hold,
  log = pino({ level: 'silent' }),
}: FixtureOptions = {}): Promise<Fixture> {
  const { kubeconfigPath } = await openCluster();
  const client = createKubeClient({ kubeconfigPath });
  await installKinds(client, [Lamp]);
  await Promise.all(before.map((name) => client.create(Lamp, { metadata: { name }, spec: { lit: true } })));
  const clock = createClock(speed);
  const caches = new CacheSet({ client, clock, log });
  const lamps = caches.watch(Lamp);
  const house = new House();
  if (hold !== undefined) house.hold = hold;
  const registry = new Registry();
  const signal = new AbortController();
  const running = runManager({
    controllers: [lampController],
    caches,
    client,
    context: house,
    clock,
    log,
    registry,
    retiredFieldManagers: ['retired'],
    signal: signal.signal,
    gracePeriodMs: 5_000,
  });
  await caches.start();
  const stop = async () => {
    signal.abort();
    await running;
  };
  const close = async () => {
    await stop();
    await caches.stop();
    for (const { metadata } of (await client.list(Lamp)).items) {
      await client.mergePatch(Lamp, metadata, { metadata: { finalizers: null } });
      await client.delete(Lamp, metadata);
    }
    await client[Symbol.asyncDispose]();
  };
  return { client, clock, lamps, house, registry, stop, [Symbol.asyncDispose]: close };
}

function until(lamps: Cache<Lamp>, name: string, holds: (lamp: Lamp | undefined) => boolean): Promise<void> {
  return new Promise((resolve) => {
    const check = () => {
      if (!holds(lamps.get(name))) return;
      subscription[Symbol.dispose]();
      resolve();
    };
    const subscription = lamps.onChange(check);
    check();
  });
}

const reasonOf = (lamp: Lamp | undefined): string | undefined => lamp?.status?.conditions?.[0]?.reason;

test('a controller finds its objects, acts, reports and rests', async () => {
  await using fixture = await openFixture();
  await fixture.client.create(Lamp, { metadata: { name: 'desk' }, spec: { lit: true } });
  await until(fixture.lamps, 'desk', (lamp) => lamp?.status?.phase === 'Bright');
  assert.deepEqual(fixture.house.log, ['on desk']);
  assert.deepEqual(fixture.lamps.get('desk')?.metadata.finalizers, [finalizer]);
  assert.equal(fixture.lamps.get('desk')?.status?.conditions?.[0]?.status, 'True');
  const before = fixture.lamps.get('desk')?.metadata.resourceVersion;
  await fixture.client.mergePatch(Lamp, { name: 'desk' }, { metadata: { labels: { touched: 'yes' } } });
  await fixture.stop();
  const writes = BigInt(fixture.lamps.get('desk')?.metadata.resourceVersion ?? 0) > BigInt(before ?? 0);
  assert.ok(writes);
  assert.deepEqual(fixture.house.log, ['on desk'], 'a change that changes nothing is no reason to act');
  const events = (await fixture.client.list(Event, { namespace: 'default' })).items.filter(
    ({ regarding }) => regarding.name === 'desk',
  );
  assert.deepEqual(
    events.map(({ reason, type, note }) => `${type} ${reason} ${note}`),
    ['Normal SwitchedOn Dark → Bright'],
  );
});

test('a wait that lasts has an event, and a failed reconcile has a Warning', async () => {
  await using fixture = await openFixture({ speed: 100 });
  const { client } = fixture;
  const waiting = await client.create(Lamp, { metadata: { name: 'porch' }, spec: { lit: false } });
  const { type, note, action } = await eventAbout(client, waiting, 'NotWanted');
  assert.deepEqual([type, note, action], ['Warning', 'Nobody wants light.', 'Dark']);
  const failing = await client.create(Lamp, { metadata: { name: 'stairs' }, spec: { lit: true, fuse: 'blown' } });
  const failure = await eventAbout(client, failing, 'FuseBlown');
  assert.deepEqual([failure.type, failure.note], ['Warning', 'the fuse is blown; replace it']);
});

test('status fields of a retired field manager are taken over, logged once, and its entry is removed', async () => {
  const logged: string[] = [];
  const log = pino({ level: 'info' }, { write: (line) => void logged.push(line) });
  const { kubeconfigPath } = await openCluster();
  await using legacy = createKubeClient({ kubeconfigPath, defaultFieldManager: 'retired' });
  await installKinds(legacy, [Lamp]);
  const ready = {
    type: 'Ready',
    status: 'False' as const,
    reason: 'Old',
    message: '',
    lastTransitionTime: '2026-01-01T00:00:00Z',
  };
  for (const name of ['attic', 'cellar']) {
    await legacy.create(Lamp, { metadata: { name }, spec: { lit: false } });
    const status = { phase: 'Dark', conditions: [ready] };
    await legacy.mergePatch(Lamp, { name }, { status }, { subresource: 'status' });
  }
  await using fixture = await openFixture({ log });
  for (const name of ['attic', 'cellar']) {
    await until(fixture.lamps, name, (lamp) => reasonOf(lamp) === 'NotWanted');
    await fixture.client.mergePatch(Lamp, { name }, { spec: { lit: true } });
    await until(fixture.lamps, name, (lamp) => lamp?.status?.phase === 'Bright');
  }
  await fixture.stop();
  for (const name of ['attic', 'cellar']) {
    const { metadata } = await fixture.client.get(Lamp, { name });
    assert.deepEqual(
      metadata.managedFields?.filter(({ subresource }) => subresource === 'status').map(({ manager }) => manager),
      ['metal-operator/lamp'],
    );
  }
  assert.equal(logged.filter((line) => line.includes('taken from field manager \\"retired\\"')).length, 1);
});

test('the finalizer is removed after the deletion work is done', async () => {
  await using fixture = await openFixture();
  await fixture.client.create(Lamp, {
    metadata: { name: 'hall', finalizers: ['somebody.else/keeps', finalizer] },
    spec: { lit: true },
  });
  await until(fixture.lamps, 'hall', (lamp) => lamp?.status?.phase === 'Bright');
  await fixture.client.delete(Lamp, { name: 'hall' });
  await until(fixture.lamps, 'hall', (lamp) => lamp?.metadata.finalizers?.length === 1);
  assert.deepEqual(fixture.house.log, ['on hall', 'unplug hall']);
  assert.deepEqual(
    fixture.lamps.get('hall')?.metadata.finalizers,
    ['somebody.else/keeps'],
    'the finalizers of others stay',
  );
});

test('a blocked error is reported and retried after a change of the object', async () => {
  await using fixture = await openFixture();
  await fixture.client.create(Lamp, { metadata: { name: 'attic' }, spec: { lit: true, fuse: 'blown' } });
  await until(fixture.lamps, 'attic', (lamp) => reasonOf(lamp) === 'FuseBlown');
  assert.match(fixture.lamps.get('attic')?.status?.conditions?.[0]?.message ?? '', /replace it/);
  const tries = fixture.house.log.length;
  await fixture.client.mergePatch(Lamp, { name: 'attic' }, { spec: { fuse: 'new' } });
  await until(fixture.lamps, 'attic', (lamp) => lamp?.status?.phase === 'Bright');
  assert.equal(fixture.house.log.length, tries + 1);
});

test('a blocked error is also retried after a while', async () => {
  await using fixture = await openFixture({ speed: 60 });
  await fixture.client.create(Lamp, { metadata: { name: 'stairs' }, spec: { lit: true, fuse: 'blown' } });
  await until(fixture.lamps, 'stairs', (lamp) => reasonOf(lamp) === 'FuseBlown');
  fixture.house.bridged = true;
  await until(fixture.lamps, 'stairs', (lamp) => lamp?.status?.phase === 'Bright');
});

test('a waiting object has a message, by default the meaning of its reason', async () => {
  await using fixture = await openFixture();
  await fixture.client.create(Lamp, { metadata: { name: 'porch' }, spec: { lit: false } });
  await until(fixture.lamps, 'porch', (lamp) => reasonOf(lamp) === 'NotWanted');
  assert.equal(fixture.lamps.get('porch')?.status?.conditions?.[0]?.message, 'Nobody wants light.');
});

test('a decision that is repeated after a read-only action is logged once', async () => {
  const lines: string[] = [];
  const log = pino({ level: 'info' }, { write: (line: string) => void lines.push(line) });
  await using fixture = await openFixture({ log });
  await fixture.client.create(Lamp, { metadata: { name: 'gate' }, spec: { lit: false, fuse: 'watched' } });
  await until(fixture.lamps, 'gate', (lamp) => reasonOf(lamp) === 'NotWanted');
  for (const change of [{ metadata: { labels: { fixture: 'garden' } } }, { spec: { lit: true } }]) {
    const seen = Promise.withResolvers<void>();
    fixture.house.onSeen = seen.resolve;
    fixture.house.seen.delete('gate');
    await fixture.client.mergePatch(Lamp, { name: 'gate' }, change);
    await seen.promise;
  }
  await until(fixture.lamps, 'gate', (lamp) => lamp?.status?.phase === 'Bright');
  const loggedReasons = lines.map((line) => (JSON.parse(line) as { object?: string; reason?: string }).reason); // pino writes JSON
  assert.deepEqual(loggedReasons.filter(Boolean), ['NotWanted', 'LightWanted', 'SwitchedOn']);
});

test('after an action the phase is read from the object, including concurrent changes', async () => {
  const release = Promise.withResolvers<void>();
  const lines: string[] = [];
  const log = pino({ level: 'info' }, { write: (line: string) => void lines.push(line) });
  await using fixture = await openFixture({ log, hold: release.promise });
  const started = Promise.withResolvers<void>();
  fixture.house.onAction = started.resolve;
  await fixture.client.create(Lamp, { metadata: { name: 'shared' }, spec: { lit: true } });
  await started.promise;
  await fixture.client.mergePatch(Lamp, { name: 'shared' }, { status: { phase: 'Bright' } }, { subresource: 'status' });
  await until(fixture.lamps, 'shared', (lamp) => lamp?.status?.phase === 'Bright');
  release.resolve();
  await until(fixture.lamps, 'shared', (lamp) => reasonOf(lamp) === 'Settled');
  assert.ok(!lines.some((line) => line.includes('SwitchedOn')), 'the step that another took is not taken again');
});

test('a wait may debounce the first status of an object', async () => {
  await using fixture = await openFixture({ speed: 60 });
  const { client, clock, lamps } = fixture;
  await client.create(Lamp, { metadata: { name: 'cellar' }, spec: { lit: false } });
  await until(lamps, 'cellar', (lamp) => reasonOf(lamp) === 'NotWanted');
  await client.mergePatch(Lamp, { name: 'cellar' }, { spec: { lit: true } });
  await until(lamps, 'cellar', (lamp) => lamp?.status?.phase === 'Bright');
  const since = clock.now();
  await client.create(Lamp, { metadata: { name: 'attic' }, spec: { lit: true, fuse: 'later' } });
  await until(lamps, 'attic', (lamp) => reasonOf(lamp) === 'OthersFirst');
  assert.ok(clock.now() - since >= 120_000, `told after ${clock.now() - since} ms`);
});

test('long actions do not block other objects, and a stop waits for them', async () => {
  await using fixture = await openFixture();
  const release = Promise.withResolvers<void>();
  fixture.house.hold = release.promise;
  const names = ['a', 'b', 'c', 'd', 'e'];
  const allStarted = Promise.withResolvers<void>();
  fixture.house.onAction = () => fixture.house.atOnce === names.length && allStarted.resolve();
  await Promise.all(names.map((name) => fixture.client.create(Lamp, { metadata: { name }, spec: { lit: true } })));
  await allStarted.promise;
  assert.equal(fixture.house.mostAtOnce, 5, 'five actions under way with two places');
  let stopped = false;
  const stopping = fixture.stop().then(() => (stopped = true));
  await Promise.resolve();
  assert.equal(stopped, false);
  release.resolve();
  await stopping;
  assert.deepEqual([...fixture.house.on].toSorted(), names, 'every action that was begun was finished');
  assert.equal((await fixture.client.get(Lamp, { name: 'a' })).status?.phase, 'Bright', 'and told');
});

test('a new object is not queued behind the initial list', async () => {
  const old = Array.from({ length: 70 }, (_, index) => `old-${index}`);
  const release = Promise.withResolvers<void>();
  // A second of this clock is longer than the test, so that every action counts.
  await using fixture = await openFixture({ speed: 0.001, before: old, hold: release.promise });
  const { house, client, lamps } = fixture;
  const isUnderWay = (count: number) =>
    new Promise<void>((resolve) => {
      const check = () => house.atOnce >= count && resolve();
      house.onAction = check;
      check();
    });
  await isUnderWay(64);
  await client.create(Lamp, { metadata: { name: 'new' }, spec: { lit: true } });
  await isUnderWay(65);
  assert.equal(house.log.at(-1), 'on new');
  release.resolve();
  await Promise.all([...old, 'new'].map((name) => until(lamps, name, (lamp) => lamp?.status?.phase === 'Bright')));
  assert.equal(house.mostAtOnce, 65);
});

test('reconciles are counted in the metrics of controller-runtime', async () => {
  await using fixture = await openFixture();
  await fixture.client.create(Lamp, { metadata: { name: 'stairs' }, spec: { lit: true } });
  await until(fixture.lamps, 'stairs', (lamp) => lamp?.status?.phase === 'Bright');
  await fixture.stop();
  const text = await fixture.registry.metrics();
  for (const line of [
    /controller_runtime_reconcile_total\{controller="lamp",result="success"\} [1-9]/,
    /controller_runtime_max_concurrent_reconciles\{controller="lamp"\} 2/,
    /workqueue_depth\{name="lamp"\} 0/,
    /workqueue_adds_total\{name="lamp"\} [1-9]/,
  ]) {
    assert.match(text, line);
  }
});

/** Errors of an aborted action: the signal's reason, or an error of the client. */
const breaks: Record<string, (reason: unknown) => unknown> = {
  observe: (reason) => reason,
  request: (cause) => new KubeError({ code: 'Timeout', message: 'no answer from the API server', cause }),
};

for (const [title, broken] of Object.entries(breaks))
  test(`a ${title} that is aborted by a stop is not reported as a failure`, async () => {
    const lines: string[] = [];
    const log = pino({ level: 'info' }, { write: (line) => void lines.push(line) });
    await using fixture = await openFixture({ speed: 100, log });
    const waiting = Promise.withResolvers<void>();
    let attempts = 0;
    fixture.house.observe = async (signal) => {
      attempts += 1;
      // The second failure is reported.
      if (attempts < 3) throw new OperatorError({ code: 'TooDark', message: 'it is too dark', retry: 'later' });
      await new Promise<never>((_, reject) => {
        signal.addEventListener('abort', () => reject(broken(signal.reason)), { once: true });
        waiting.resolve();
      });
    };
    await fixture.client.create(Lamp, { metadata: { name: 'shed' }, spec: { lit: true, fuse: 'watched' } });
    await waiting.promise;
    await until(fixture.lamps, 'shed', (lamp) => reasonOf(lamp) === 'TooDark');
    const loggedCount = lines.length;
    await fixture.stop();
    assert.equal(reasonOf(await fixture.client.get(Lamp, { name: 'shed' })), 'TooDark');
    assert.deepEqual(lines.slice(loggedCount), []);
  });
