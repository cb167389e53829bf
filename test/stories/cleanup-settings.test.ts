import assert from 'node:assert/strict';
import { test } from 'node:test';
import { testenvsOfFile } from '@metal/testenv/testenv.ts';
import { simulated } from '@metal/testenv/fleet/simulated.ts';
import type { Node } from '@metal/simulator/fleet.ts';
import { factoryBootOrder } from '@metal/simulator/machine.ts';
import {
  claimed,
  onlyRecord,
  purge,
  reportsOf,
  resetsBios,
  restoresBootOrder,
  tamper,
} from '../fixtures/cleanup-fixture.ts';
import { testFailingReset } from '../fixtures/failing-reset-fixture.ts';

const startTestenv = testenvsOfFile();

const resetBios = 'Actions/Bios.ResetBios';
const factoryOrder = [...factoryBootOrder];

/** Requests since the given index that changed something on the system. */
const changes = ({ bmc }: Node, since: number): string[] =>
  bmc.requests
    .slice(since)
    .filter(({ method, path }) => method !== 'GET' && path.includes('/Systems/') && !path.endsWith('System.Reset'))
    .map(({ method, path }) => `${method} ${path.replace(/.*\/Systems\/[^/]+\/?/, '')}`);

for (const [vendor, result] of [
  ['generic', 'Confirmed'],
  ['dell', 'Confirmed'],
  ['supermicro', 'Accepted'],
] as const) {
  test(`settings of a ${vendor} machine are reset with the same start that erases its disks`, async () => {
    await using testenv = await startTestenv({ flags: [purge, resetsBios, restoresBootOrder] });
    const { node, claim, name, server } = await claimed(testenv, vendor);
    assert.deepEqual(server.now?.status?.bootOrder, factoryOrder, 'recorded at the first discovery');
    const [powerBefore, requestsBefore] = [node.powerLog.length, node.bmc.requests.length];
    tamper(node);
    await claim.delete();
    await claim.isGone();
    await server.hasReason('Available');

    assert.deepEqual(node.machine.biosAttributes, node.machine.factoryBios);
    assert.equal(node.machine.bootOrder[0], factoryOrder[0]);
    assert.equal(node.machine.override, undefined);
    assert.equal(simulated(node).installed, undefined);
    assert.deepEqual(node.powerLog.slice(powerBefore), ['Off', 'On', 'Off']);
    assert.equal(changes(node, requestsBefore).filter((change) => change.endsWith(resetBios)).length, 1);
    const { spec, status } = await onlyRecord(testenv, name);
    assert.deepEqual([spec.state, spec.mode], ['Succeeded', 'Purge']);
    assert.equal(status?.bios?.result, result);
    assert.deepEqual(status?.bootOrder, { devices: factoryOrder, result: 'AsWanted' });
    assert.ok(status?.certificate);
  });
}

test('a boot order changed by a BIOS reset is restored afterwards', async () => {
  await using testenv = await startTestenv({ flags: [resetsBios, restoresBootOrder] });
  const { node, claim, name, server } = await claimed(testenv);
  await testenv.servers.patch(name, { spec: { bootOrder: [{ name: 'network', priority: 1, device: 'Boot0002' }] } });
  await testenv.machine(node).until('has it', () => node.machine.bootOrder[0] === 'Boot0002');
  await claim.delete();
  await claim.isGone();
  await server.hasReason('Available');
  assert.deepEqual(node.machine.bootOrder, ['Boot0002', 'Boot0001']);
});

test("a BIOS is reset without an erasure by a start that does not boot the claim's system", async () => {
  await using testenv = await startTestenv({ flags: [resetsBios] });
  const { node, claim, name, server } = await claimed(testenv);
  const bootsBefore = node.boots.length;
  tamper(node);
  await claim.delete();
  await claim.isGone();
  await server.hasReason('Available');
  assert.deepEqual(node.machine.biosAttributes, node.machine.factoryBios);
  assert.notEqual(simulated(node).installed, undefined, 'no disk was touched');
  assert.deepEqual(
    node.boots.slice(bootsBefore).map(({ override, from }) => [override, from]),
    [['Pxe', 'network']],
  );
  assert.equal(node.power, 'Off');
  const { spec, status } = await onlyRecord(testenv, name);
  assert.deepEqual([spec.state, spec.mode, spec.disks], ['Succeeded', 'None', []]);
  assert.equal(status?.bios?.result, 'Confirmed');
  assert.equal(status?.bootOrder, undefined, 'no policy requires it');
});

test('a boot order is restored without a start, and an unchanged one needs no write', async () => {
  await using testenv = await startTestenv({ flags: [restoresBootOrder] });
  const { node, claim, name, server } = await claimed(testenv);
  const [powerBefore, requestsBefore] = [node.powerLog.length, node.bmc.requests.length];
  await claim.delete();
  await claim.isGone();
  await server.hasReason('Available');
  assert.deepEqual(node.powerLog.slice(powerBefore), ['Off']);
  assert.deepEqual(changes(node, requestsBefore), []);
  assert.deepEqual((await onlyRecord(testenv, name)).status?.bootOrder, { devices: factoryOrder, result: 'AsWanted' });

  await testenv.servers.patch(name, { spec: { bootOrder: [{ name: 'network', priority: 1, device: 'Boot0002' }] } });
  const next = await testenv.claim({ image: 'registry.test/os:1', on: node });
  await server.hasReason('ClaimServed');
  tamper(node);
  await next.delete();
  await next.isGone();
  await server.hasReason('Available');
  assert.equal(node.machine.bootOrder[0], 'Boot0002', 'spec.bootOrder has priority over the recorded order');
  assert.deepEqual(
    (await reportsOf(testenv, name)).map(({ spec }) => `${spec.state} ${spec.formerClaim?.name}`).toSorted(),
    [claim, next].map((one) => `Succeeded ${one.name}`),
  );
});

test('an override left by a claim is cleared without any policy, and no other write reaches the BMC', async () => {
  await using testenv = await startTestenv();
  const { node, claim, server } = await claimed(testenv);
  const requestsBefore = node.bmc.requests.length;
  tamper(node);
  await claim.delete();
  await claim.isGone();
  await server.until(
    'has no override',
    ({ status }) => status?.state === 'Available' && node.machine.override === undefined,
  );
  await testenv.untilStable(5_000);
  assert.deepEqual(changes(node, requestsBefore), ['PATCH ']);
  assert.equal(node.machine.biosAttributes.LogicalProc, 'Disabled');
});

testFailingReset(startTestenv, {
  title: 'that never takes effect',
  fault: ({ bmc }) => bmc.set({ biosResetStuck: true }),
  message: /BIOS reset was accepted and is still pending/,
});

test('a settings reset that the machine cannot perform is waived with a reason, and nothing is certified', async () => {
  await using testenv = await startTestenv({ flags: ['--cleanup-attempts=1'] });
  const { node, claim, name, server } = await claimed(testenv, 'supermicro-x10');
  await testenv.servers.patch(name, { spec: { cleanup: { bios: 'Reset' } } });
  await claim.delete();
  await claim.isGone();
  await server.hasReason('CleanupFailed');
  const text = 'Ada: its settings were looked at by hand';
  await testenv.servers.patch(name, { metadata: { annotations: { 'metal.ironcore.dev/waive-cleanup': text } } });
  await server.hasReason('Available');
  const { spec, status } = await onlyRecord(testenv, name);
  assert.deepEqual([spec.state, spec.message, status?.certificate], ['Waived', text, undefined]);
  assert.equal(node.power, 'Off');
});
