import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { BMCSecret } from '@metal/api/v1alpha1/bmc-secret.ts';
import type { BMC } from '@metal/api/v1alpha1/bmc.ts';
import type { Endpoint } from '@metal/api/v1alpha1/endpoint.ts';
import type { Server } from '@metal/api/v1alpha1/server.ts';
import { Store } from '@metal/kube/cache/store.ts';
import { createClock } from '@metal/kube/runtime/clock.ts';
import { minutes, seconds } from '@metal/kube/runtime/durations.ts';
import type { SystemState } from '@metal/redfish/resources/systems.ts';
import { BmcConnectionPool } from '../../../bmc-connections/connection-pool.ts';
import { readOperatorConfig } from '../../../options.ts';
import { driftMs } from '../../../bmc-connections/observed-state.ts';
import { bmcFacts } from '../bmc/facts.ts';
import { powerFacts } from './facts.ts';

const apiVersion = 'metal.ironcore.dev/v1alpha1';
const server: Server = {
  apiVersion,
  kind: 'Server',
  metadata: { name: 'one', uid: 'one' },
  spec: { systemUUID: 'a', systemURI: '/redfish/v1/Systems/1', bmcRef: { name: 'bmc' } },
};
// Only the power state is used here.
const systemState = (powerState: 'On' | 'Off') => ({ powerState }) as SystemState;

/** A server with a ready BMC, and a clock that the test advances. */
function behindReadyBmc() {
  let now = 1_000_000;
  let resourceVersion = 0;
  const metadata = (name: string) => ({ name, uid: name, resourceVersion: String((resourceVersion += 1)) });
  const endpoints = new Store<Endpoint>();
  const bmcSecrets = new Store<BMCSecret>();
  const bmcs = new Store<BMC>();
  const hasAddress = (ip: string | undefined) => {
    const spec = { macAddress: '02:00:00:00:00:01', ...(ip === undefined ? {} : { ip }) };
    endpoints.upsertIfNewer({ apiVersion, kind: 'Endpoint', metadata: metadata('endpoint'), spec });
  };
  const hasPassword = (password: string) => {
    const stringData = { username: 'admin', password };
    bmcSecrets.upsertIfNewer({ apiVersion, kind: 'BMCSecret', metadata: metadata('secret'), stringData });
  };
  hasAddress('192.0.2.7');
  hasPassword('first');
  bmcs.upsertIfNewer({
    apiVersion,
    kind: 'BMC',
    metadata: metadata('bmc'),
    spec: {
      endpointRef: { name: 'endpoint' },
      bmcSecretRef: { name: 'secret' },
      protocol: { name: 'Redfish', port: 443 },
    },
    status: { state: 'Enabled' },
  });
  const context = {
    caches: { bmcs, endpoints, bmcSecrets },
    config: readOperatorConfig({}),
    bmcConnections: new BmcConnectionPool({ clock: createClock(), random: () => 0, callDeadlineMs: 1_000 }),
  };
  const memory = context.bmcConnections.observedSystem('one');
  return {
    memory,
    bmcConnections: context.bmcConnections,
    hasAddress,
    hasPassword,
    observes: (powerState: 'On' | 'Off') => memory.record(systemState(powerState), now),
    isStable: (powerState: 'On' | 'Off') => memory.isStableAt(powerState, now),
    pass: (ms: number) => (now += ms),
    facts: () => {
      const bmc = bmcFacts(server, context);
      memory.resetIfConnectionChanged(bmc.connection);
      return { ...bmc, ...powerFacts(server, memory, now, context) };
    },
  };
}

type Rack = ReturnType<typeof behindReadyBmc>;

const otherWays: [what: string, change: (rack: Rack) => void][] = [
  ['another address', ({ hasAddress }) => hasAddress('192.0.2.8')],
  ['another password', ({ hasPassword }) => hasPassword('second')],
  [
    'another address after it had none',
    ({ hasAddress, facts }) => {
      hasAddress(undefined);
      facts();
      hasAddress('192.0.2.8');
    },
  ],
];
for (const [what, change] of otherWays) {
  test(`a machine behind ${what} counts as not observed, although its BMC still reports Enabled`, () => {
    const rack = behindReadyBmc();
    rack.facts();
    rack.observes('Off');
    rack.pass(seconds(2));
    assert.deepEqual([rack.facts().power, rack.facts().powerSeenMsAgo], ['Off', seconds(2)]);
    change(rack);
    const { bmc, power, powerSeenMsAgo, nextPollInMs } = rack.facts();
    assert.deepEqual([bmc.isReachable, power, powerSeenMsAgo, nextPollInMs], [true, 'Unknown', undefined, 0]);
    assert.equal(rack.isStable('Off'), false);
    rack.observes('Off');
    assert.deepEqual([rack.facts().power, rack.facts().powerSeenMsAgo], ['Off', 0]);
  });
}

test('a server stays untouched while its BMC cannot return its system, and its condition reports that', () => {
  const rack = behindReadyBmc();
  const { connection } = rack.facts();
  assert.ok(connection);
  rack.bmcConnections.observedBmc('bmc', connection);
  const lost = { part: 'systems', isMember: true, code: 'HttpError', status: 500, reason: 'broken' } as const;
  const observes = (...paths: string[]) =>
    rack.bmcConnections.recordObservation('bmc', connection, {
      at: 0,
      manager: undefined,
      systems: [],
      missing: paths.map((path) => ({ ...lost, path })),
    });
  observes('/redfish/v1/Systems/2');
  assert.equal(rack.facts().bmc.isReachable, true, 'another one');
  observes('/redfish/v1/Systems/1', '/redfish/v1/Systems/2');
  const { isReachable, exists, reason, message } = rack.facts().bmc;
  assert.deepEqual([isReachable, exists, reason], [false, true, 'SystemUnreadable']);
  assert.match(message, /^BMC "bmc" answers, but cannot give this system \(500\)/);
  observes();
  assert.equal(rack.facts().bmc.isReachable, true);
});

test('the observation survives when the same address disappears and returns', () => {
  const rack = behindReadyBmc();
  rack.facts();
  rack.observes('Off');
  rack.hasAddress(undefined);
  rack.facts();
  rack.hasAddress('192.0.2.7');
  assert.equal(rack.facts().powerSeenMsAgo, 0);
});

test('power state and transition of the same machine survive a change of the connection', () => {
  const rack = behindReadyBmc();
  rack.facts();
  rack.observes('On');
  rack.pass(minutes(5));
  rack.hasPassword('second');
  rack.facts();
  rack.observes('On');
  assert.equal(rack.facts().powerForMs, minutes(5));
  rack.memory.requested('Off', false, 1_000_000);
  rack.hasPassword('third');
  assert.equal(rack.facts().transition?.target, 'Off', 'it is still shutting down');
});

test('a loss of power during a password change counts as unrequested', () => {
  const rack = behindReadyBmc();
  rack.facts();
  rack.observes('On');
  rack.hasPassword('second');
  rack.facts();
  rack.observes('Off');
  assert.equal(rack.facts().powerCause, 'unrequested');
  assert.equal(rack.isStable('Off'), false);
  rack.pass(driftMs);
  assert.equal(rack.isStable('Off'), true);
});

test('the power state of a parked machine stays known when parking ends, after a new observation', () => {
  const rack = behindReadyBmc();
  rack.facts();
  rack.observes('Off');
  rack.pass(minutes(10));
  rack.memory.resumeFromParked();
  assert.deepEqual([rack.facts().power, rack.facts().powerSeenMsAgo], ['Unknown', undefined], 'it is read again first');
  rack.observes('Off');
  assert.equal(rack.facts().powerForMs, minutes(10));
});

for (const [title, before] of [
  ['over another connection', ({ hasAddress, facts }: Rack) => (hasAddress('192.0.2.8'), facts())],
  ['during a requested change', ({ memory }: Rack) => memory.requested('On', false, 0)],
] as const)
  test(`a power state observed ${title} does not count when parking ends`, () => {
    const rack = behindReadyBmc();
    rack.facts();
    rack.observes('Off');
    rack.pass(minutes(10));
    before(rack);
    rack.memory.resumeFromParked();
    rack.observes('Off');
    assert.deepEqual([rack.facts().powerCause, rack.facts().powerForMs], ['unknown', 0]);
  });
