import assert from 'node:assert/strict';
import { test } from 'node:test';
import { MembershipSimulation } from './membership-simulation.ts';

const seedCount = Number(process.env.METAL_SEEDS ?? 20) * 2;
const firstSeed = Number(process.env.METAL_FIRST_SEED ?? 1);

for (let seed = firstSeed; seed < firstSeed + seedCount; seed += 10) {
  const last = Math.min(seed + 9, firstSeed + seedCount - 1);
  test(`no two replicas act on one key under faults, and in the end each key has an owner (seeds ${seed} to ${last})`, async () => {
    for (let one = seed; one <= last; one += 1) {
      const simulation = new MembershipSimulation(one);
      await simulation.live(180_000);
      // Pauses and network faults end, and leases of killed replicas expire.
      await simulation.live(90_000, { isQuiet: true });
      assert.deepEqual(simulation.breaches, [], `seed ${one}`);
      assert.deepEqual(simulation.orphans, [], `seed ${one}: keys without an owner`);
    }
  });
}
