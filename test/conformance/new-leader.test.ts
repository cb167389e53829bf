import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ConfigMap, Lease } from '@metal/kube/kinds/builtin.ts';
import { CacheSet } from '@metal/kube/cache/cache.ts';
import { createKubeClient, type KubeClient } from '@metal/kube/client/client.ts';
import { act, type PhaseTable, rest, rowsOf } from '@metal/kube/controller/decide.ts';
import { KubeError } from '@metal/kube/errors.ts';
import { Leadership } from '@metal/kube/election/leadership.ts';
import { runManager } from '@metal/kube/controller/manager.ts';
import { clientWith } from '@metal/testenv/cluster/client-with.ts';
import { clusterOfFile } from '@metal/testenv/cluster/cluster.ts';
import { scaledClock } from '@metal/testenv/operator/scaled-clock.ts';
import { pino } from 'pino';
import { phaseController } from '@metal/kube/controller/phase-controller.ts';
import { Registry } from 'prom-client';

const namespace = 'default';
const openCluster = clusterOfFile();

interface Facts {
  readonly owner: string;
  readonly isSwitchedOff: boolean;
}
const row = rowsOf<'Watched', Facts, 'switchOff'>();
const table: PhaseTable<'Watched', Facts, 'switchOff'> = {
  Watched: row([], ({ isSwitchedOff }) => (isSwitchedOff ? rest : act('switchOff', 'AsSeen'))),
};

/** Acts once and records the observed object. */
const controller = phaseController({
  name: 'map',
  kind: ConfigMap,
  phaseOf: () => 'Watched' as const,
  facts: ({ data }: ConfigMap, seen: Seen): Facts => ({
    owner: data?.owner ?? 'none',
    isSwitchedOff: seen.owners.length > 0,
  }),
  table,
  actions: {
    switchOff: async ({ facts, context }: { facts: Facts; context: Seen }) => {
      context.owners.push(facts.owner);
      context.hasActed.resolve();
    },
  },
  writes: [],
});

interface Seen {
  readonly owners: string[];
  readonly hasActed: PromiseWithResolvers<void>;
}

/** A client whose watches can stall without an end, as on a half-open connection; new ones work or fail. */
function withDeadWatches(real: KubeClient) {
  const network = { areWatchesDead: false, isUnreachable: false };
  const watch: KubeClient['watch'] = async function* (kind, options) {
    const isOfMaps = kind.kind === 'ConfigMap';
    if (isOfMaps && network.isUnreachable) throw new KubeError({ code: 'Unreachable', message: 'it is away' });
    const isNew = network.areWatchesDead;
    for await (const event of real.watch(kind, options)) {
      if (isOfMaps && network.areWatchesDead && !isNew) await aborted(options.signal);
      yield event;
    }
  };
  const others = ['observeOwnWrites', 'find', 'get', 'create', 'mergePatch', 'pages', 'list'] as const;
  return { network, client: clientWith(real, { watch }, others) };
}

const aborted = (signal: AbortSignal | undefined) =>
  new Promise<never>((_, reject) => signal?.addEventListener('abort', () => reject(signal.reason), { once: true }));

/** A standby with complete caches and stalled watches. */
async function openStandby(name: string, onLine: (line: string) => void = () => undefined) {
  const stack = new AsyncDisposableStack();
  const { kubeconfigPath } = await openCluster();
  const other = stack.use(createKubeClient({ kubeconfigPath }));
  const { client, network } = withDeadWatches(stack.use(createKubeClient({ kubeconfigPath })));
  const clock = stack.use(scaledClock(10));
  const log = pino({ level: 'info' }, { write: (line) => onLine(JSON.parse(line).msg) });
  const caches = new CacheSet({ client, clock, log });
  caches.watch(ConfigMap, { namespace, labelSelector: `of=${name}` });
  stack.defer(() => caches.stop());
  await other.create(ConfigMap, { metadata: { name, namespace, labels: { of: name } } });
  await caches.start();
  network.areWatchesDead = true;
  // Of the replica that leads until now.
  await other.mergePatch(ConfigMap, { name, namespace }, { data: { owner: 'claim-1' } });
  const options = { namespace, leaseName: name, identity: name, leaseMs: 150_000, renewMs: 100_000, retryMs: 2_000 };
  const leadership = new Leadership({ options, client, clock, log });
  const seen: Seen = { owners: [], hasActed: Promise.withResolvers() };
  const stopping = new AbortController();
  const lead = () => {
    const running = runManager({
      controllers: [controller],
      caches,
      client,
      context: seen,
      clock,
      log,
      registry: new Registry(),
      leadership,
      events: false,
      signal: stopping.signal,
      gracePeriodMs: 5_000,
    });
    stack.defer(() => running.catch(() => undefined));
    stack.defer(() => stopping.abort());
    return running;
  };
  return { other, network, seen, lead, leadership, [Symbol.asyncDispose]: () => stack.disposeAsync() };
}

/** A test that waits for a missing event fails at this limit. */
const testOptions = { timeout: 60_000 };

test('a new leader with stalled watches reads earlier writes before it acts', testOptions, async () => {
  await using standby = await openStandby('silent');
  void standby.lead();
  await standby.seen.hasActed.promise;
  assert.deepEqual(standby.seen.owners, ['claim-1']);
});

test('a new leader that cannot relist keeps its lease and does not act until it can', testOptions, async () => {
  const syncErrorReported = Promise.withResolvers<void>();
  await using standby = await openStandby(
    'away',
    (line) => /brought up to date/.test(line) && syncErrorReported.resolve(),
  );
  standby.network.isUnreachable = true;
  void standby.lead();
  await syncErrorReported.promise;
  assert.deepEqual(standby.seen.owners, []);
  assert.equal(standby.leadership.isOwner(), true);
  standby.network.isUnreachable = false;
  await standby.seen.hasActed.promise;
  assert.deepEqual(standby.seen.owners, ['claim-1']);
});

test('a new leader that loses its lease before its relist has not acted', testOptions, async () => {
  const syncErrorReported = Promise.withResolvers<void>();
  await using standby = await openStandby(
    'robbed',
    (line) => /brought up to date/.test(line) && syncErrorReported.resolve(),
  );
  standby.network.isUnreachable = true;
  const running = standby.lead();
  await syncErrorReported.promise;
  const otherHolder = { spec: { holderIdentity: 'robber' } };
  await standby.other.mergePatch(Lease, { namespace, name: 'robbed' }, otherHolder);
  await assert.rejects(running, { code: 'LeaseLost' });
  assert.deepEqual(standby.seen.owners, []);
});
