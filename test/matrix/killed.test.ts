import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Lab } from '@metal/lab/lab.ts';
import { labsOfFile } from '@metal/lab/lab.ts';
import { openRestartingLab } from '@metal/lab/restarting-operator.ts';
import type { Node } from '@metal/simulator/fleet.ts';

const openLab = labsOfFile();

const pace = { stepMs: 200, flags: ['--power-polling-interval=1s'] };

/** Moments at which the operator is killed, each told by what can be seen of the server. */
const moments: Record<string, (lab: Lab, node: Node) => Promise<unknown>> = {
  'the BMC is there': (lab, node) => lab.bmc(node).exists(),
  'the Server is there': (lab, node) => lab.server(node).exists(),
  'Discovery begins': (lab, node) => lab.server(node).reaches('Discovery'),
  'the machine powers on for its probe': (lab, node) =>
    lab.machine(node).until('powers on', () => node.power !== 'Off'),
  'the probe runs': (lab, node) => lab.machine(node).until('runs the probe', () => node.running?.role === 'probe'),
  'the report is there': (lab, node) => lab.inventoryOf(node).exists(),
  'the server is Available and on its way off': (lab, node) => lab.server(node).reaches('Available'),
};

for (const [moment, happens] of Object.entries(moments)) {
  test(`an operator killed when ${moment} goes on where it was`, async () => {
    await using opened = await openRestartingLab(openLab, pace);
    const { lab, operator } = opened;
    const [node] = await lab.rack({ generic: 1 });
    assert.ok(node);
    await lab.plugIn(node);
    await happens(lab, node);
    operator.kill(moment);
    await operator.started;

    await lab.server(node).says('Available');
    assert.deepEqual(node.powerLog.slice(-2), ['On', 'Off']);
    assert.ok(node.powerLog.length <= 4, `at most one start more than undisturbed: ${node.powerLog.join(' ')}`);
    assert.equal([...lab.servers.all()].length, 1);
  });
}

test('a machine that gave up while no operator was there is discovered anew when its time is over', async () => {
  await using lab = await openLab({
    operator: 'none',
    speed: 1,
    fleet: { powerOnMs: 200, powerOffMs: 200, bootMs: 300 },
    flags: ['--power-polling-interval=1s', '--discovery-timeout=20s'],
  });
  const [node] = await lab.rack({ generic: 1 });
  assert.ok(node);
  const first = await lab.startOperatorProcess();
  await lab.plugIn(node);
  await lab.machine(node).until('powers on', () => node.power !== 'Off');
  await first.kill();
  await lab.machine(node).until('gives up', () => node.boots.at(-1)?.outcome === 'no bootable device');

  await using _second = await lab.startOperatorProcess();
  await lab.server(node).says('Available');
  assert.deepEqual(node.powerLog, ['On', 'Off', 'On', 'Off']);
});

const claimMoments: Record<string, (lab: Lab, node: Node) => Promise<unknown>> = {
  'the server is Reserved': (lab, node) => lab.server(node).reaches('Reserved'),
  'the machine powers on for its claim': (lab, node) =>
    lab.machine(node).until('powers on', () => node.power !== 'Off'),
  'the claim is served': (lab, node) => lab.server(node).says('ClaimServed'),
};

for (const [moment, happens] of Object.entries(claimMoments)) {
  test(`an operator killed when ${moment} keeps the claim and its machine`, async () => {
    await using opened = await openRestartingLab(openLab, pace);
    const { lab, operator } = opened;
    const [node] = await lab.rack({ generic: 1 });
    assert.ok(node);
    await lab.plugIn(node);
    await lab.server(node).says('Available');
    const claim = await lab.claim({ image: 'registry.test/os:1' });
    await happens(lab, node);
    operator.kill(moment);
    await operator.started;

    await claim.reaches('Bound');
    await lab.server(node).says('ClaimServed');
    assert.deepEqual(node.powerLog, ['On', 'Off', 'On'], 'no power action that the tenant would notice');
    await claim.delete();
    await claim.isGone();
    await lab.server(node).says('Available');
    assert.equal(node.power, 'Off');
  });
}

test('an operator killed while it takes a server back finishes that', async () => {
  await using lab = await openLab({
    operator: 'none',
    speed: 1,
    fleet: { powerOnMs: 200, powerOffMs: 1_000, bootMs: 300 },
    flags: ['--power-polling-interval=1s'],
  });
  const [node] = await lab.rack({ generic: 1 });
  assert.ok(node);
  const first = await lab.startOperatorProcess();
  await lab.plugIn(node);
  await lab.server(node).says('Available');
  const claim = await lab.claim({ image: 'registry.test/os:1' });
  await lab.server(node).says('ClaimServed');
  await claim.delete();
  await lab.machine(node).until('goes off', () => node.power === 'PoweringOff');
  await first.kill();

  await using _second = await lab.startOperatorProcess();
  await claim.isGone();
  await lab.server(node).says('Available');
  assert.deepEqual(node.powerLog, ['On', 'Off', 'On', 'Off']);
});
