import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Lab, labsOfFile } from '@metal/lab/lab.ts';
import { openRestartingLab } from '@metal/lab/restarting-operator.ts';
import { simulated } from '@metal/lab/simulated.ts';
import type { Node } from '@metal/simulator/fleet.ts';
import { factoryBios, factoryBootOrder } from '@metal/simulator/machine.ts';
import { claimed, follow, onlyRecord, purge, resetsBios, restoresBootOrder, tamper } from '../stories/cleanup-room.ts';

const openLab = labsOfFile();

const moments: Record<string, (lab: Lab, node: Node) => Promise<unknown>> = {
  'Cleanup begins': (lab, node) => lab.server(node).reaches('Cleanup'),
  'the attempt is let in': (lab, node) =>
    lab.server(node).until('is let in', ({ status }) => status?.cleanup?.attempt === 1),
  'the boot is there': (lab, node) =>
    lab
      .server(node)
      .until(
        'refers to it',
        ({ spec, status }) => status?.state === 'Cleanup' && spec.bootConfigurationRef !== undefined,
      ),
  'the machine erases': (lab, node) => lab.machine(node).until('erases', () => node.running?.role === 'eraser'),
  'the disks are empty': (lab, node) =>
    lab.machine(node).until('is empty', () => simulated(node).installed === undefined),
};

for (const [moment, happens] of Object.entries(moments)) {
  test(`an operator killed when ${moment} goes on, and offers nothing unclean`, async () => {
    await using opened = await openRestartingLab(openLab, {
      stepMs: 300,
      flags: [purge, '--power-polling-interval=1s'],
    });
    const { lab, operator } = opened;
    const { node, claim, server } = await claimed(lab);
    using seen = follow(lab, node);
    await claim.delete();
    await happens(lab, node);
    operator.kill(moment);
    await operator.started;
    await server.says('Available');
    assert.deepEqual(seen.uncleanOffers, []);
    assert.equal(simulated(node).installed, undefined);
    assert.equal(seen.states.filter((state) => state === 'Cleanup').length, 1);
  });
}

const settingsMoments: Record<string, (lab: Lab, node: Node) => Promise<unknown>> = {
  'the BIOS took the reset': (lab, node) =>
    lab.machine(node).until('has a reset', () => node.machine.biosReset === 'pending'),
  'the machine has started': (lab, node) =>
    lab.machine(node).until('runs the agent', () => node.running?.role === 'eraser'),
  'its boot order is restored': (lab, node) =>
    lab.machine(node).until('is restored', () => node.machine.bootOrder[0] === factoryBootOrder[0]),
};
for (const [moment, happens] of Object.entries(settingsMoments)) {
  test(`an operator killed when ${moment} leaves no setting as it was`, async () => {
    await using opened = await openRestartingLab(openLab, {
      stepMs: 300,
      flags: [resetsBios, restoresBootOrder, '--power-polling-interval=1s'],
    });
    const { lab, operator } = opened;
    const { node, claim, name, server } = await claimed(lab);
    tamper(node);
    await claim.delete();
    await happens(lab, node);
    operator.kill(moment);
    await operator.started;
    await server.says('Available');
    assert.deepEqual(node.machine.biosAttributes, factoryBios);
    assert.equal(node.machine.bootOrder[0], factoryBootOrder[0]);
    assert.ok(onlyRecord(lab, name).status?.certificate);
  });
}

test('an operator that ends right after it took the server from its claim left the mark that it is unclean', async () => {
  await using lab = await openLab({
    operator: 'none',
    speed: 1,
    fleet: { powerOnMs: 200, powerOffMs: 200, bootMs: 300, eraseMs: 300 },
    flags: [purge, '--power-polling-interval=1s'],
  });
  const first = await lab.startOperatorProcess();
  const { node, name, server } = await claimed(lab);
  await first.kill();
  using seen = follow(lab, node);
  // What dropClaimRef writes; no status follows it.
  await lab.patchServer(name, { spec: { serverClaimRef: null, bootConfigurationRef: null, power: 'Off' } });
  assert.equal(server.now?.status?.state, 'Reserved');
  await using _second = await lab.startOperatorProcess();
  await server.says('Available');
  assert.deepEqual(seen.uncleanOffers, []);
  assert.equal(simulated(node).installed, undefined);
});
