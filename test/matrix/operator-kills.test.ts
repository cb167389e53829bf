import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Testenv } from '@metal/testenv/testenv.ts';
import { testenvsOfFile } from '@metal/testenv/testenv.ts';
import { startRestartingTestenv } from '@metal/testenv/operator/restarting-operator.ts';
import type { Node } from '@metal/simulator/fleet.ts';

const startTestenv = testenvsOfFile();

const testenvOptions = { stepMs: 200, flags: ['--power-polling-interval=1s'] };

/** Fault points at which the operator is killed, each identified by the state of the server. */
const faultPoints: Record<string, (testenv: Testenv, node: Node) => Promise<unknown>> = {
  'the BMC exists': (testenv, node) => testenv.bmc(node).exists(),
  'the Server exists': (testenv, node) => testenv.server(node).exists(),
  'Discovery begins': (testenv, node) => testenv.server(node).reaches('Discovery'),
  'the machine powers on for its probe': (testenv, node) =>
    testenv.machine(node).until('powers on', () => node.power !== 'Off'),
  'the probe runs': (testenv, node) =>
    testenv.machine(node).until('runs the probe', () => node.running?.role === 'probe'),
  'the report exists': (testenv, node) => testenv.inventoryOf(node).exists(),
  'the server is Available and powering off': (testenv, node) => testenv.server(node).reaches('Available'),
};

for (const [faultPoint, reach] of Object.entries(faultPoints)) {
  test(`an operator killed when ${faultPoint} continues from there`, async () => {
    await using opened = await startRestartingTestenv(startTestenv, testenvOptions);
    const { testenv, operator } = opened;
    const [node] = await testenv.addNodes({ generic: 1 });
    assert.ok(node);
    await testenv.plugIn(node);
    await reach(testenv, node);
    operator.kill(faultPoint);
    await operator.started;

    await testenv.server(node).hasReason('Available');
    assert.deepEqual(node.powerLog.slice(-2), ['On', 'Off']);
    assert.ok(node.powerLog.length <= 4, `at most one more start than without a kill: ${node.powerLog.join(' ')}`);
    assert.equal([...testenv.servers.all()].length, 1);
  });
}

test('a machine that stopped booting during an operator outage is discovered again after the timeout', async () => {
  await using testenv = await startTestenv({
    operator: 'none',
    speed: 1,
    fleet: { powerOnMs: 200, powerOffMs: 200, bootMs: 300 },
    flags: ['--power-polling-interval=1s', '--discovery-timeout=20s'],
  });
  const [node] = await testenv.addNodes({ generic: 1 });
  assert.ok(node);
  const first = await testenv.startOperatorProcess();
  await testenv.plugIn(node);
  await testenv.machine(node).until('powers on', () => node.power !== 'Off');
  await first.kill();
  await testenv
    .machine(node)
    .until('finds no bootable device', () => node.boots.at(-1)?.outcome === 'no bootable device');

  await using _second = await testenv.startOperatorProcess();
  await testenv.server(node).hasReason('Available');
  assert.deepEqual(node.powerLog, ['On', 'Off', 'On', 'Off']);
});

const claimFaultPoints: Record<string, (testenv: Testenv, node: Node) => Promise<unknown>> = {
  'the server is Reserved': (testenv, node) => testenv.server(node).reaches('Reserved'),
  'the machine powers on for its claim': (testenv, node) =>
    testenv.machine(node).until('powers on', () => node.power !== 'Off'),
  'the claim is served': (testenv, node) => testenv.server(node).hasReason('ClaimServed'),
};

for (const [faultPoint, reach] of Object.entries(claimFaultPoints)) {
  test(`an operator killed when ${faultPoint} keeps the claim and its machine`, async () => {
    await using opened = await startRestartingTestenv(startTestenv, testenvOptions);
    const { testenv, operator } = opened;
    const [node] = await testenv.addNodes({ generic: 1 });
    assert.ok(node);
    await testenv.plugIn(node);
    await testenv.server(node).hasReason('Available');
    const claim = await testenv.claim({ image: 'registry.test/os:1' });
    await reach(testenv, node);
    operator.kill(faultPoint);
    await operator.started;

    await claim.reaches('Bound');
    await testenv.server(node).hasReason('ClaimServed');
    assert.deepEqual(node.powerLog, ['On', 'Off', 'On'], 'no power action that the tenant would notice');
    await claim.delete();
    await claim.isGone();
    await testenv.server(node).hasReason('Available');
    assert.equal(node.power, 'Off');
  });
}

test('an operator killed while it releases a server completes the release', async () => {
  await using testenv = await startTestenv({
    operator: 'none',
    speed: 1,
    fleet: { powerOnMs: 200, powerOffMs: 1_000, bootMs: 300 },
    flags: ['--power-polling-interval=1s'],
  });
  const [node] = await testenv.addNodes({ generic: 1 });
  assert.ok(node);
  const first = await testenv.startOperatorProcess();
  await testenv.plugIn(node);
  await testenv.server(node).hasReason('Available');
  const claim = await testenv.claim({ image: 'registry.test/os:1' });
  await testenv.server(node).hasReason('ClaimServed');
  await claim.delete();
  await testenv.machine(node).until('goes off', () => node.power === 'PoweringOff');
  await first.kill();

  await using _second = await testenv.startOperatorProcess();
  await claim.isGone();
  await testenv.server(node).hasReason('Available');
  assert.deepEqual(node.powerLog, ['On', 'Off', 'On', 'Off']);
});
