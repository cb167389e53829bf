import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { BMC } from '@metal/api/v1alpha1/bmc.ts';
import type { Server } from '@metal/api/v1alpha1/server.ts';
import type { KubeClient } from '@metal/kube/client/client.ts';
import { systemClock } from '@metal/kube/runtime/clock.ts';
import { BmcConnectionPool } from '@metal/operator/bmc-connections/connection-pool.ts';
import type { Connection } from '@metal/operator/bmc-connections/connection.ts';
import { bmcActions } from '@metal/operator/controllers/bmc/lifecycle/actions.ts';
import { serverActions } from '@metal/operator/controllers/server/actions.ts';
import type { ServerReconcile } from '@metal/operator/controllers/server/machine.ts';
import { calmServer } from '@metal/operator/test/server/table.rows.ts';
import { Password } from '@metal/redfish/http/bmc.ts';
import { startFleet } from '@metal/simulator/fleet.ts';
import type { BmcReconcile } from '@metal/operator/controllers/bmc/lifecycle/facts.ts';
import type { ServerFacts } from '@metal/operator/controllers/server/types.ts';
import { machineActions } from './machine-actions.ts';

const apiVersion = 'metal.ironcore.dev/v1alpha1';

async function openFixture() {
  const stack = new AsyncDisposableStack();
  const fleet = stack.use(await startFleet({ https: false }));
  const node = await fleet.add({ vendor: 'generic' });
  const { address: host, port, username, password } = node.bmc;
  const connection: Connection = {
    endpoint: { scheme: 'http', host, port },
    username,
    password: new Password(password),
  };
  let started = Promise.withResolvers<void>();
  const traffic = {
    observerOf: () => ({
      requestStarted: () => started.resolve(),
      request: () => undefined,
      sessions: () => undefined,
      breaker: () => undefined,
    }),
    forget: () => undefined,
  };
  const options = { clock: systemClock, random: Math.random, callDeadlineMs: 60_000, traffic };
  const bmcConnections = stack.use(new BmcConnectionPool(options));
  const { bmcName } = calmServer;
  const object: Server = {
    apiVersion,
    kind: 'Server',
    metadata: { name: 'one', uid: 'one' },
    spec: {
      systemUUID: node.uuid,
      systemURI: `/redfish/v1/Systems/${node.machine.systemId}`,
      bootOrder: [{ name: 'disk', device: 'Boot0002', priority: 1 }],
    },
  };
  // The Server is unchanged since the decision.
  const client = { find: async () => object } as unknown as KubeClient;
  const context = { bmcConnections, clock: systemClock, client, config: { bmcTls: 'verify' } };
  const spec = { bmcSecretRef: { name: bmcName }, protocol: { name: 'Redfish', port } } as const;
  const bmc: BMC = { apiVersion, kind: 'BMC', metadata: { name: bmcName }, spec };
  // These actions need nothing else of a reconcile.
  const reconcileOf = (signal: AbortSignal, facts: Partial<ServerFacts> = {}, spec: Partial<Server['spec']> = {}) =>
    ({
      object: { ...object, spec: { ...object.spec, ...spec } },
      facts: { ...calmServer, ...facts, connection },
      context,
      signal,
    }) as ServerReconcile;
  const bmcReconcileOf = (signal: AbortSignal) =>
    ({ object: bmc, facts: { connection }, context, signal }) as BmcReconcile;
  return {
    node,
    reconcileOf,
    bmcReconcileOf,
    /** Resolves when the next request is in flight. */
    nextRequest: () => {
      started = Promise.withResolvers();
      return started.promise;
    },
    failure: () => bmcConnections.observedBmc(bmcName, connection).failure,
    breaker: () => bmcConnections.getBmc(bmcName, connection).breaker,
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
}

type Fixture = Awaited<ReturnType<typeof openFixture>>;

const biosRequested = {
  kind: 'requested',
  requestedTime: '2026-01-01T00:00:00Z',
  task: undefined,
  nextPollInMs: 0,
  forMs: 0,
} as const;
const observations: Record<string, (fixture: Fixture, signal: AbortSignal) => Promise<void>> = {
  'a BMC': ({ bmcReconcileOf }, signal) => bmcActions.observe(bmcReconcileOf(signal)),
  'a machine': ({ reconcileOf }, signal) => serverActions.observe(reconcileOf(signal)),
  'all machines of a BMC, for one without URI': ({ reconcileOf }, signal) =>
    serverActions.observe(reconcileOf(signal, {}, { systemURI: undefined })),
  'the hardware of a machine': ({ reconcileOf }, signal) => serverActions.readInventory(reconcileOf(signal)),
  'the BIOS of a machine': ({ reconcileOf }, signal) =>
    serverActions.observeBios(reconcileOf(signal, { cleanup: { ...calmServer.cleanup, bios: biosRequested } })),
};

for (const [title, observe] of Object.entries(observations)) {
  test(`an aborted observation of ${title} is not counted as a failure of the BMC`, async () => {
    await using fixture = await openFixture();
    const never = new AbortController().signal;
    await serverActions.observe(fixture.reconcileOf(never));
    fixture.node.bmc.hang();
    const requested = fixture.nextRequest();
    const cut = new AbortController();
    const observing = observe(fixture, cut.signal);
    await requested;
    const reason = new Error('stopping');
    cut.abort(reason);
    await assert.rejects(observing, reason);
    assert.equal(fixture.failure(), undefined);
    assert.equal(fixture.breaker(), 'closed');
    await fixture.node.bmc.heal();
    await serverActions.observe(fixture.reconcileOf(never));
  });
}

for (const [action, facts] of machineActions) {
  test(`${action} is completed although its reconcile was aborted`, async () => {
    await using fixture = await openFixture();
    const { node } = fixture;
    node.machine.override = { target: 'Hdd', isOnce: true, httpUri: undefined };
    await serverActions.observe(fixture.reconcileOf(new AbortController().signal));
    await serverActions[action](fixture.reconcileOf(AbortSignal.abort(new Error('stopping')), facts));
    const changes = node.bmc.requests.filter(({ method, path }) => method !== 'GET' && path.includes('/Systems/'));
    assert.ok(changes.length > 0);
  });
}
