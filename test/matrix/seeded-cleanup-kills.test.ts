import assert from 'node:assert/strict';
import { test } from 'node:test';
import { labsOfFile } from '@metal/lab/lab.ts';
import { type MomentKind, momentOf, MomentWatch } from '@metal/lab/moments.ts';
import { openRestartingLab } from '@metal/lab/restarting-operator.ts';
import { simulated } from '@metal/lab/simulated.ts';
import type { Node } from '@metal/simulator/fleet.ts';
import { factoryBootOrder } from '@metal/simulator/machine.ts';
import { purge, resetsBios, restoresBootOrder, tamper } from '../stories/cleanup-room.ts';

const openLab = labsOfFile();
const rackSize = 5;
const seedCount = Number(process.env.METAL_SEEDS ?? 10);
const firstSeed = Number(process.env.METAL_FIRST_SEED ?? 1);

/** So many moments of each kind lie between the deletion of a claim and the next offer; fewer are taken than there are. */
const momentsOnTheWay: Readonly<Record<MomentKind, number>> = { write: 18, phase: 4, arrived: 30, answered: 30 };

for (let seed = firstSeed; seed < firstSeed + seedCount; seed += rackSize) {
  const seeds = Array.from({ length: Math.min(rackSize, firstSeed + seedCount - seed) }, (_, index) => seed + index);
  test(`an operator killed on the way back at the moments of seeds ${seeds[0]} to ${seeds.at(-1)} offers nothing unclean`, async () => {
    await using opened = await openRestartingLab(openLab, {
      stepMs: 100,
      eraseMs: 200,
      flags: [purge, resetsBios, restoresBootOrder, '--power-polling-interval=1s', '--cleanup-at-once=2'],
    });
    const { lab, operator } = opened;
    const nodes = await lab.rack({ generic: seeds.length });
    await lab.plugIn(...nodes);
    const uncleanOffers: string[] = [];
    using _following = lab.servers.onChange(({ after }) => {
      const node = nodes.find(({ uuid }) => uuid.toLowerCase() === after?.spec.systemUUID.toLowerCase());
      if (after?.status?.state === 'Available' && node !== undefined && isUnclean(node))
        uncleanOffers.push(after.metadata.name);
    });
    await Promise.all(
      nodes.map(async (node, index) => {
        await lab.server(node).says('Available');
        const claim = await lab.claim({ image: 'registry.test/os:1', on: node });
        await lab.server(node).says('ClaimServed');
        tamper(node);
        const moment = momentOf(seeds[index] ?? 0, momentsOnTheWay);
        using moments = new MomentWatch(lab, node);
        moments.at(moment, () =>
          operator.kill(`seed ${seeds[index]}: ${moment.kind} ${moment.number} of ${node.name}`),
        );
        await claim.delete();
        await claim.isGone();
        await lab.server(node).says('Available');
        moments.atTheLatest();
        await lab.server(node).says('Available');
        assert.equal(isUnclean(node), false);
        const succeeded = [...lab.erasures.all()].filter(
          ({ spec }) => spec.systemUUID === node.uuid.toLowerCase() && spec.state === 'Succeeded',
        );
        assert.equal(succeeded.length, 1, 'and it was erased in one attempt that counts');
        assert.ok(succeeded[0]?.status?.certificate);
      }),
    );
    await operator.started;
    assert.ok(operator.kills > 0);
    assert.deepEqual(uncleanOffers, []);
  });
}

const isUnclean = ({ machine, name }: Node): boolean =>
  simulated({ machine, name }).installed !== undefined ||
  machine.biosAttributes.LogicalProc !== 'Enabled' ||
  machine.bootOrder[0] !== factoryBootOrder[0];
