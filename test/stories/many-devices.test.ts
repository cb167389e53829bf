import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Endpoint } from '@metal/api/v1alpha1/endpoint.ts';
import { seconds } from '@metal/kube/runtime/durations.ts';
import { startTestenv } from '@metal/testenv/testenv.ts';
import type { Fleet } from '@metal/simulator/fleet.ts';

const atOnce = 10;
/** Each counts for so long at most: packages/kube/src/runtime/in-flight-limiter.ts. */
const countsForMs = seconds(30);
/** Enough that one behind them waits for longer than the two minutes after which it is told why. */
const unresponsiveCount = 6 * atOnce;
const unresponsivePrefix = '0200DE';

/** The credentials have to be tried: nothing is created for a device that does not answer. */
const withUnresponsiveDevices = (fleet: Fleet): string => `${fleet.macPrefixFile()}
  - macPrefix: "${unresponsivePrefix}"
    protocol: Redfish
    protocolScheme: http
    port: ${fleet.port}
    type: bmc
    defaultCredentials: [{ username: root, password: calvin }, { username: ADMIN, password: ADMIN }]
`;

test('a device behind many that do not answer is told that others are first, and becomes a server when it is its turn', async () => {
  // The operator finds all of them when it starts, so that it is known who is first.
  await using testenv = await startTestenv({
    operator: 'none',
    // For longer than the story, which is about those that wait for their turn.
    flags: ['--registry-port=0', '--boot-port=0', '--bmc-call-timeout=10m'],
    maxInFlight: atOnce,
    speed: 60,
    macPrefixes: withUnresponsiveDevices,
  });
  const [unresponsive, last] = await testenv.addNodes({ generic: 2 });
  assert.ok(unresponsive && last);
  unresponsive.bmc.hang();
  await Promise.all(
    Array.from({ length: unresponsiveCount }, (_, index) => {
      const number = String(index).padStart(6, '0');
      // In the order of their names, before those of the fleet.
      const metadata = { name: `a-silent-${number}` };
      return testenv.client.create(Endpoint, {
        metadata,
        spec: { macAddress: `${unresponsivePrefix}${number}`, ip: unresponsive.bmc.address },
      });
    }),
  );
  await testenv.plugIn(last);

  const startedAt = testenv.clock.now();
  await testenv.startOperator();
  const { status } = await testenv.endpoint(last).hasReason('OthersFirst');
  assert.match(status?.conditions?.[0]?.message ?? '', /it begins by itself/);
  await testenv.secret(last.name).exists();
  const waitedMs = testenv.clock.now() - startedAt;
  assert.ok(
    waitedMs >= (unresponsiveCount / atOnce) * countsForMs,
    `those before it had their time; it waited ${waitedMs} ms`,
  );
  await testenv.server(last).hasReason('Available');
  await testenv.endpoint(last).hasReason('BMCCreated');
});
