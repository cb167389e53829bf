import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Endpoint } from '@metal/api/v1alpha1/endpoint.ts';
import { seconds } from '@metal/kube/decide.ts';
import { openLab } from '@metal/lab/lab.ts';
import type { Fleet } from '@metal/simulator/fleet.ts';

const atOnce = 10;
/** Each counts for so long at most: services/operator/src/pace.ts. */
const countsForMs = seconds(30);
/** Enough that one behind them waits for longer than the two minutes after which it is told why. */
const silentCount = 6 * atOnce;
const silentPrefix = '0200DE';

/** The credentials have to be tried: nothing is created for a device that does not answer. */
const withSilentDevices = (fleet: Fleet): string => `${fleet.macPrefixFile()}
  - macPrefix: "${silentPrefix}"
    protocol: Redfish
    protocolScheme: http
    port: ${fleet.port}
    type: bmc
    defaultCredentials: [{ username: root, password: calvin }, { username: ADMIN, password: ADMIN }]
`;

test('a device behind many that do not answer is told that others are first, and becomes a server when it is its turn', async () => {
  // The operator finds all of them when it starts, so that it is known who is first.
  await using lab = await openLab({
    operator: 'none',
    // For longer than the story, which is about those that wait for their turn.
    flags: ['--registry-port=0', '--boot-port=0', '--bmc-call-timeout=10m'],
    maxInFlight: atOnce,
    speed: 60,
    macPrefixes: withSilentDevices,
  });
  const [silent, last] = await lab.rack({ generic: 2 });
  assert.ok(silent && last);
  silent.bmc.hang();
  await Promise.all(
    Array.from({ length: silentCount }, (_, index) => {
      const number = String(index).padStart(6, '0');
      // In the order of their names, before those of the fleet.
      const metadata = { name: `a-silent-${number}` };
      return lab.client.create(Endpoint, {
        metadata,
        spec: { macAddress: `${silentPrefix}${number}`, ip: silent.bmc.address },
      });
    }),
  );
  await lab.plugIn(last);

  const startedAt = lab.clock.now();
  await lab.startOperator();
  const { status } = await lab.endpoint(last).says('OthersFirst');
  assert.match(status?.conditions?.[0]?.message ?? '', /it begins by itself/);
  await lab.secret(last.name).exists();
  const waitedMs = lab.clock.now() - startedAt;
  assert.ok(
    waitedMs >= (silentCount / atOnce) * countsForMs,
    `those before it had their time; it waited ${waitedMs} ms`,
  );
  await lab.server(last).says('Available');
  await lab.endpoint(last).says('BMCCreated');
});
