import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ServerReadinessRule } from '@metal/api/v1alpha1/server-readiness-rule.ts';
import { eventAbout } from '@metal/testenv/cluster/event-about.ts';
import { testenvsOfFile } from '@metal/testenv/testenv.ts';

const startTestenv = testenvsOfFile();
const flags = ['--server-resync-interval=30s', '--bmc-resync-interval=1m'];

test('a server with critical health is not claimed while a readiness rule requires Healthy, and is after its repair', async () => {
  await using testenv = await startTestenv({ flags });
  const [node] = await testenv.addNodes({ generic: 1 });
  assert.ok(node);
  await testenv.plugIn(node);
  const server = testenv.server(node);
  await server.hasReason('Available');
  assert.equal(server.condition('Healthy')?.reason, 'HardwareOK');
  await testenv.client.create(ServerReadinessRule, {
    metadata: { name: 'healthy' },
    spec: {
      serverSelector: {},
      conditions: [{ type: 'Healthy', requiredStatus: 'True' }],
      enforcementMode: 'Continuous',
      taint: { key: 'not-healthy', effect: 'NoBind' },
    },
  });

  node.bmc.reportHealth('Critical');
  const { note } = await eventAbout(testenv.client, await server.exists(), 'HardwareCritical');
  assert.equal(note, 'was OK: the BMC reports Critical: DIMM1 (Critical)');
  await server.hasCondition('Healthy', 'False');
  const claim = await testenv.claim({ image: 'registry.test/os:1' });
  await claim.watched.hasMessage(/1 NotReady\(healthy\)/);
  assert.equal(server.now?.spec.serverClaimRef, undefined);

  await node.bmc.heal();
  await server.hasCondition('Healthy', 'True');
  await eventAbout(testenv.client, await server.exists(), 'HardwareOK');
  await claim.reaches('Bound');
});

test('the health of a BMC is reported, and a BMC or machine that reports none is not unhealthy', async () => {
  await using testenv = await startTestenv({ flags });
  const [node] = await testenv.addNodes({ generic: 1 });
  assert.ok(node);
  node.bmc.set({ health: null, managerHealth: 'Warning' });
  await testenv.plugIn(node);
  const bmc = testenv.bmcs.named(node.name);
  await bmc.hasCondition('Healthy', 'False');
  assert.equal(bmc.condition('Healthy')?.reason, 'HardwareWarning');
  await testenv.server(node).hasReason('Available');
  assert.notEqual(testenv.server(node).condition('Healthy')?.status, 'False');

  node.bmc.set({ managerHealth: null });
  await bmc.hasCondition('Healthy', 'Unknown');
  assert.equal(bmc.condition('Healthy')?.reason, 'HealthUnknown');
});

test('health that stays OK costs no request to the BMC beyond the periodic ones', async () => {
  await using testenv = await startTestenv({ flags });
  const [node] = await testenv.addNodes({ generic: 1 });
  assert.ok(node);
  await testenv.plugIn(node);
  await testenv.server(node).hasReason('Available');
  const paths = node.bmc.requests.map(({ path }) => path);
  assert.deepEqual(
    paths.filter((path) => /Chassis|Thermal|Power$|\/Memory/.test(path)),
    [],
  );
});
