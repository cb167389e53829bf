import assert from 'node:assert/strict';
import { test } from 'node:test';
import { BMCSecret } from '@metal/api/v1alpha1/bmc-secret.ts';
import { ServerMaintenance } from '@metal/api/v1alpha1/server-maintenance.ts';
import { CacheSet } from '@metal/kube/cache/cache.ts';
import type { Cache } from '@metal/kube/cache/store.ts';
import { createKubeClient } from '@metal/kube/client/client.ts';
import { act, go, type PhaseTable, rest, rowsOf } from '@metal/kube/controller/decide.ts';
import type { Reconcile } from '@metal/kube/controller/definition.ts';
import { phaseController } from '@metal/kube/controller/phase-controller.ts';
import type { KubeObject } from '@metal/kube/kinds/kind.ts';
import { KeyNotifier } from '@metal/kube/runtime/key-notifier.ts';
import { watchOperatorKinds } from '@metal/operator/caches.ts';
import type { OperatorContext } from '@metal/operator/controllers/context.ts';
import { controllersFor } from '@metal/operator/controllers.ts';
import { readOperatorConfig } from '@metal/operator/options.ts';
import { startOperator } from '@metal/operator/operator.ts';
import { clusterOfFile } from '@metal/testenv/cluster/cluster.ts';
import { scaledClock } from '@metal/testenv/operator/scaled-clock.ts';
import { pino } from 'pino';
import { Registry } from 'prom-client';

const namespace = 'default';
const openCluster = clusterOfFile();

type Phase = 'Planned' | 'Announced';
type Action = 'announce';
interface Facts {
  readonly isAnnounced: boolean;
}

const announcement = 'example.test/announced';
const row = rowsOf<Phase, Facts, Action>();
const table: PhaseTable<Phase, Facts, Action> = {
  Planned: row(['Announced'], ({ isAnnounced }) =>
    isAnnounced ? go('Announced', 'Announced') : act('announce', 'NotAnnounced'),
  ),
  Announced: row([], () => rest),
};

/** All that a new controller consists of: it announces a maintenance by an annotation. */
const announcementController = phaseController({
  name: 'announcement',
  kind: ServerMaintenance,
  phaseOf: ({ status }: ServerMaintenance): Phase => (status?.state === 'Announced' ? 'Announced' : 'Planned'),
  facts: ({ metadata }): Facts => ({ isAnnounced: metadata.annotations?.[announcement] === 'true' }),
  table,
  actions: {
    announce: async ({ object, context }: Reconcile<ServerMaintenance, Facts, OperatorContext>) => {
      const patch = { metadata: { annotations: { [announcement]: 'true' } } };
      await context.client.mergePatch(ServerMaintenance, { ...object.metadata, namespace }, patch);
    },
  },
  report: (_object, _facts, { phase }) => ({ fields: { state: phase }, conditions: [] }),
  writes: ['patch:servermaintenances', 'servermaintenances/status'],
});

test('a controller from another folder runs beside the built-in ones of the operator', {
  timeout: 60_000,
}, async () => {
  const { kubeconfigPath } = await openCluster();
  await using client = createKubeClient({ kubeconfigPath });
  using clock = scaledClock(1);
  const log = pino({ level: process.env.TESTENV_LOG ?? 'silent' }, process.stderr);
  const cacheSet = new CacheSet({ client, clock, log });
  await using stack = new AsyncDisposableStack();
  stack.defer(() => cacheSet.stop());
  const caches = watchOperatorKinds(cacheSet);
  const config = readOperatorConfig({});
  await using _operator = await startOperator({
    config,
    identity: 'conformance',
    leaderElect: false,
    lease: { leaseMs: 15_000, renewMs: 10_000, retryMs: 2_000 },
    client,
    cacheSet,
    caches,
    registry: { url: 'http://192.0.2.1:10000', auth: 'token', caPem: undefined },
    bootTokenKey: async () => new Uint8Array(32),
    firmwareImages: { bootUrl: undefined, isRefusedAddress: () => false },
    bmcEvents: new KeyNotifier(),
    // Two controllers of one kind would both write its status.
    controllers: [...controllersFor(config).filter(({ kind }) => kind !== ServerMaintenance), announcementController],
    clock,
    random: Math.random,
    log,
    metrics: new Registry(),
  });

  await client.create(BMCSecret, { metadata: { name: 'rack' }, stringData: { username: 'u', password: 'p' } });
  await client.create(ServerMaintenance, { metadata: { namespace, name: 'fan' }, spec: { serverRef: { name: 'a' } } });
  const maintenance = await until(caches.maintenances, ({ status }) => status?.state === 'Announced');
  assert.equal(maintenance.metadata.annotations?.[announcement], 'true');
  const secret = await until(caches.bmcSecrets, ({ data }) => data?.username !== undefined);
  assert.equal(secret.stringData, undefined, 'a built-in controller has moved it into data');
});

/** The first object of the cache for which the condition holds. */
async function until<T extends KubeObject>(cache: Cache<T>, holds: (object: T) => boolean): Promise<T> {
  const { promise, resolve } = Promise.withResolvers<T>();
  const check = (object: T | undefined) => object !== undefined && holds(object) && resolve(object);
  using _subscription = cache.onChange(({ after: object }) => check(object));
  for (const object of cache.all()) check(object);
  return await promise;
}
