import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Endpoint } from '@metal/api/v1alpha1/endpoint.ts';
import { seconds } from '@metal/kube/runtime/durations.ts';
import { startTestenv } from '@metal/testenv/testenv.ts';
import type { Fleet } from '@metal/simulator/fleet.ts';

const atOnce = 10;
/** A slot is released after this time at the latest: packages/kube/src/runtime/in-flight-limiter.ts. */
const countsForMs = seconds(30);
/** Enough that a device behind them waits longer than the two minutes after which the wait is reported. */
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

test('a device behind many unresponsive ones reports OthersFirst, and later becomes a server', async () => {
  // The operator finds all of them when it starts, so the order is known.
  await using testenv = await startTestenv({
    operator: 'none',
    // Longer than the story, which is about the waiting devices.
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
      // Ordered by name, before those of the fleet.
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
  assert.match(status?.conditions?.[0]?.message ?? '', /became known earlier/);
  await testenv.secrets.named(last.name).exists();
  const waitedMs = testenv.clock.now() - startedAt;
  assert.ok(
    waitedMs >= (unresponsiveCount / atOnce) * countsForMs,
    `each device before it used its time slot; it waited ${waitedMs} ms`,
  );
  await testenv.server(last).hasReason('Available');
  await testenv.endpoint(last).hasReason('BMCCreated');
});
