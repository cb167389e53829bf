import assert from 'node:assert/strict';
import { test } from 'node:test';
import { testenvsOfFile } from '@metal/testenv/testenv.ts';
import { type FaultPointKind, faultPointOf, FaultPointWatch } from '@metal/testenv/operator/fault-points.ts';
import { startRestartingTestenv } from '@metal/testenv/operator/restarting-operator.ts';
import { simulated } from '@metal/testenv/fleet/simulated.ts';
import type { Node } from '@metal/simulator/fleet.ts';
import { factoryBootOrder } from '@metal/simulator/machine.ts';
import { purge, reportsOf, resetsBios, restoresBootOrder, tamper } from '../fixtures/cleanup-fixture.ts';

const startTestenv = testenvsOfFile();
const rackSize = 5;
const seedCount = Number(process.env.METAL_SEEDS ?? 10);
const firstSeed = Number(process.env.METAL_FIRST_SEED ?? 1);

/** At most as many fault points of each kind as occur between the deletion of a claim and the next Available. */
const faultPointCounts: Readonly<Record<FaultPointKind, number>> = { write: 18, phase: 4, arrived: 30, answered: 30 };

for (let seed = firstSeed; seed < firstSeed + seedCount; seed += rackSize) {
  const seeds = Array.from({ length: Math.min(rackSize, firstSeed + seedCount - seed) }, (_, index) => seed + index);
  test(`an operator killed during the release at seeds ${seeds[0]} to ${seeds.at(-1)} makes no unclean server Available`, async () => {
    await using opened = await startRestartingTestenv(startTestenv, {
      stepMs: 100,
      eraseMs: 200,
      flags: [purge, resetsBios, restoresBootOrder, '--power-polling-interval=1s', '--cleanup-at-once=2'],
    });
    const { testenv, operator } = opened;
    const nodes = await testenv.addNodes({ generic: seeds.length });
    await testenv.plugIn(...nodes);
    const uncleanReleases: string[] = [];
    using _following = testenv.servers.onChange(({ after }) => {
      const node = nodes.find(({ uuid }) => uuid.toLowerCase() === after?.spec.systemUUID.toLowerCase());
      if (after?.status?.state === 'Available' && node !== undefined && isUnclean(node))
        uncleanReleases.push(after.metadata.name);
    });
    await Promise.all(
      nodes.map(async (node, index) => {
        await testenv.server(node).hasReason('Available');
        const claim = await testenv.claim({ image: 'registry.test/os:1', on: node });
        await testenv.server(node).hasReason('ClaimServed');
        tamper(node);
        const faultPoint = faultPointOf(seeds[index] ?? 0, faultPointCounts);
        using faultPoints = new FaultPointWatch(testenv, node);
        faultPoints.at(faultPoint, () =>
          operator.kill(`seed ${seeds[index]}: ${faultPoint.kind} ${faultPoint.number} of ${node.name}`),
        );
        await claim.delete();
        await claim.isGone();
        await testenv.server(node).hasReason('Available');
        faultPoints.fireIfPending();
        await testenv.server(node).hasReason('Available');
        assert.equal(isUnclean(node), false);
        const reports = await reportsOf(testenv, `${node.name}-system-0`);
        const succeeded = reports.filter(({ spec }) => spec.state === 'Succeeded');
        assert.equal(succeeded.length, 1, 'erased in one successful attempt');
        assert.ok(succeeded[0]?.status?.certificate);
      }),
    );
    await operator.started;
    assert.ok(operator.kills > 0);
    assert.deepEqual(uncleanReleases, []);
  });
}

const isUnclean = ({ machine, name }: Node): boolean =>
  simulated({ machine, name }).installed !== undefined ||
  machine.biosAttributes.LogicalProc !== machine.factoryBios.LogicalProc ||
  machine.bootOrder[0] !== factoryBootOrder[0];
