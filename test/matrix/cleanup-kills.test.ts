import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Testenv, testenvsOfFile } from '@metal/testenv/testenv.ts';
import { startRestartingTestenv } from '@metal/testenv/operator/restarting-operator.ts';
import { simulated } from '@metal/testenv/fleet/simulated.ts';
import type { Node } from '@metal/simulator/fleet.ts';
import { factoryBootOrder } from '@metal/simulator/machine.ts';
import {
  claimed,
  follow,
  onlyRecord,
  purge,
  resetsBios,
  restoresBootOrder,
  tamper,
} from '../fixtures/cleanup-fixture.ts';

const startTestenv = testenvsOfFile();

const faultPoints: Record<string, (testenv: Testenv, node: Node) => Promise<unknown>> = {
  'Cleanup begins': (testenv, node) => testenv.server(node).reaches('Cleanup'),
  'the attempt is admitted': (testenv, node) =>
    testenv.server(node).until('is admitted', ({ status }) => status?.cleanup?.attempt === 1),
  'the boot configuration exists': (testenv, node) =>
    testenv
      .server(node)
      .until(
        'refers to it',
        ({ spec, status }) => status?.state === 'Cleanup' && spec.bootConfigurationRef !== undefined,
      ),
  'the machine erases': (testenv, node) => testenv.machine(node).until('erases', () => node.running?.role === 'eraser'),
  'the disks are empty': (testenv, node) =>
    testenv.machine(node).until('is empty', () => simulated(node).installed === undefined),
};

for (const [faultPoint, reach] of Object.entries(faultPoints)) {
  test(`an operator killed when ${faultPoint} completes the cleanup, and makes no unclean server Available`, async () => {
    await using opened = await startRestartingTestenv(startTestenv, {
      stepMs: 300,
      flags: [purge, '--power-polling-interval=1s'],
    });
    const { testenv, operator } = opened;
    const { node, claim, server } = await claimed(testenv);
    using seen = follow(testenv, node);
    await claim.delete();
    await reach(testenv, node);
    operator.kill(faultPoint);
    await operator.started;
    await server.hasReason('Available');
    assert.deepEqual(seen.uncleanReleases, []);
    assert.equal(simulated(node).installed, undefined);
    assert.equal(seen.states.filter((state) => state === 'Cleanup').length, 1);
  });
}

const settingsFaultPoints: Record<string, (testenv: Testenv, node: Node) => Promise<unknown>> = {
  'the BIOS accepted the reset': (testenv, node) =>
    testenv.machine(node).until('has a reset', () => node.machine.biosReset === 'pending'),
  'the machine has started': (testenv, node) =>
    testenv.machine(node).until('runs the agent', () => node.running?.role === 'eraser'),
  'its boot order is restored': (testenv, node) =>
    testenv.machine(node).until('is restored', () => node.machine.bootOrder[0] === factoryBootOrder[0]),
};
for (const [faultPoint, reach] of Object.entries(settingsFaultPoints)) {
  test(`an operator killed when ${faultPoint} resets every setting`, async () => {
    await using opened = await startRestartingTestenv(startTestenv, {
      stepMs: 300,
      flags: [resetsBios, restoresBootOrder, '--power-polling-interval=1s'],
    });
    const { testenv, operator } = opened;
    const { node, claim, name, server } = await claimed(testenv);
    tamper(node);
    await claim.delete();
    await reach(testenv, node);
    operator.kill(faultPoint);
    await operator.started;
    await server.hasReason('Available');
    assert.deepEqual(node.machine.biosAttributes, node.machine.factoryBios);
    assert.equal(node.machine.bootOrder[0], factoryBootOrder[0]);
    assert.ok((await onlyRecord(testenv, name)).status?.certificate);
  });
}

test('an operator killed right after it cleared the claim reference leaves the mark for cleanup', async () => {
  await using testenv = await startTestenv({
    operator: 'none',
    speed: 1,
    fleet: { powerOnMs: 200, powerOffMs: 200, bootMs: 300, eraseMs: 300 },
    flags: [purge, '--power-polling-interval=1s'],
  });
  const first = await testenv.startOperatorProcess();
  const { node, name, server } = await claimed(testenv);
  await first.kill();
  using seen = follow(testenv, node);
  // The patch of dropClaimRef; no status write follows it.
  await testenv.servers.patch(name, { spec: { serverClaimRef: null, bootConfigurationRef: null, power: 'Off' } });
  assert.equal(server.now?.status?.state, 'Reserved');
  await using _second = await testenv.startOperatorProcess();
  await server.hasReason('Available');
  assert.deepEqual(seen.uncleanReleases, []);
  assert.equal(simulated(node).installed, undefined);
});
