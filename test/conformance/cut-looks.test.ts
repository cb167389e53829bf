import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { BMC } from '@metal/api/v1alpha1/bmc.ts';
import type { Server } from '@metal/api/v1alpha1/server.ts';
import type { KubeClient } from '@metal/kube/client.ts';
import { systemClock } from '@metal/kube/clock.ts';
import { BmcAccess } from '@metal/operator/bmc-access.ts';
import type { Connection } from '@metal/operator/connection.ts';
import { bmcActions, type BmcTurn } from '@metal/operator/discover/bmc/actions.ts';
import { serverActions } from '@metal/operator/inventory/server/actions.ts';
import type { ServerFacts } from '@metal/operator/inventory/server/facts.ts';
import type { ServerTurn } from '@metal/operator/inventory/server/machine.ts';
import { calmServer } from '@metal/operator/inventory/server/phases.rows.ts';
import { Password } from '@metal/redfish/bmc.ts';
import { startFleet } from '@metal/simulator/fleet.ts';
import { deeds } from './deeds.ts';

const apiVersion = 'metal.ironcore.dev/v1alpha1';

async function openHall() {
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
  const access = stack.use(new BmcAccess(options));
  const { bmcName } = calmServer;
  const object: Server = {
    apiVersion,
    kind: 'Server',
    metadata: { name: 'one', uid: 'one' },
    spec: { systemUUID: node.uuid, systemURI: `/redfish/v1/Systems/${node.machine.systemId}` },
  };
  // The Server is what it was when it was judged.
  const client = { find: async () => object } as unknown as KubeClient;
  const context = { access, clock: systemClock, client };
  const spec = { bmcSecretRef: { name: bmcName }, protocol: { name: 'Redfish', port } } as const;
  const bmc: BMC = { apiVersion, kind: 'BMC', metadata: { name: bmcName }, spec };
  // These actions need nothing else of a turn.
  const turnOf = (signal: AbortSignal, facts: Partial<ServerFacts> = {}, spec: Partial<Server['spec']> = {}) =>
    ({
      object: { ...object, spec: { ...object.spec, ...spec } },
      facts: { ...calmServer, ...facts, connection },
      context,
      signal,
    }) as ServerTurn;
  const bmcTurnOf = (signal: AbortSignal) => ({ object: bmc, facts: { connection }, context, signal }) as BmcTurn;
  return {
    node,
    turnOf,
    bmcTurnOf,
    /** Resolves when the next request is on its way. */
    nextRequest: () => {
      started = Promise.withResolvers();
      return started.promise;
    },
    failure: () => access.memory(bmcName, connection).failure,
    breaker: () => access.line(bmcName, connection).breaker,
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
}

type Hall = Awaited<ReturnType<typeof openHall>>;

const biosAsked = {
  kind: 'asked',
  requestedTime: '2026-01-01T00:00:00Z',
  task: undefined,
  nextLookInMs: 0,
  forMs: 0,
} as const;
const looks: Record<string, (hall: Hall, signal: AbortSignal) => Promise<void>> = {
  'a BMC': ({ bmcTurnOf }, signal) => bmcActions.observe(bmcTurnOf(signal)),
  'a machine': ({ turnOf }, signal) => serverActions.observe(turnOf(signal)),
  'all machines of a BMC, for one without URI': ({ turnOf }, signal) =>
    serverActions.observe(turnOf(signal, {}, { systemURI: undefined })),
  'the hardware of a machine': ({ turnOf }, signal) => serverActions.readInventory(turnOf(signal)),
  'the BIOS of a machine': ({ turnOf }, signal) =>
    serverActions.lookAtBios(turnOf(signal, { cleanup: { ...calmServer.cleanup, bios: biosAsked } })),
};

for (const [what, look] of Object.entries(looks)) {
  test(`a look at ${what} ends with its turn, and the BMC is not blamed`, async () => {
    await using hall = await openHall();
    const never = new AbortController().signal;
    await serverActions.observe(hall.turnOf(never));
    hall.node.bmc.hang();
    const asked = hall.nextRequest();
    const cut = new AbortController();
    const looking = look(hall, cut.signal);
    await asked;
    const reason = new Error('stopping');
    cut.abort(reason);
    await assert.rejects(looking, reason);
    assert.equal(hall.failure(), undefined);
    assert.equal(hall.breaker(), 'closed');
    await hall.node.bmc.heal();
    await serverActions.observe(hall.turnOf(never));
  });
}

for (const [action, facts] of deeds) {
  test(`${action} is carried through though its turn was cut: half of it nobody could tell`, async () => {
    await using hall = await openHall();
    const { node } = hall;
    node.machine.override = { target: 'Hdd', isOnce: true, httpUri: undefined };
    await serverActions.observe(hall.turnOf(new AbortController().signal));
    await serverActions[action](hall.turnOf(AbortSignal.abort(new Error('stopping')), facts));
    const changes = node.bmc.requests.filter(({ method, path }) => method !== 'GET' && path.includes('/Systems/'));
    assert.ok(changes.length > 0);
  });
}
