import type { FleetNode } from '../fleet-process.ts';
import { percentile } from '../figures.ts';
import type { Figures } from '../measurement.ts';
import { pickBySeed } from '../pick-by-seed.ts';
import { measureBringUp } from './bring-up.ts';
import type { Scenario } from './scenario.ts';

/** Of a hundred BMCs, one of each at least. */
const percentOfEach = 5;
const slowMs = 5_000;

/** The same servers come up beside BMCs that hang and BMCs that are slow, and are held against those of a calm bring-up. */
export const weather: Scenario = {
  name: 'weather',
  summary: `a bring-up where ${percentOfEach} % of the BMCs hang and ${percentOfEach} % need ${slowMs / 1_000} s for an answer: how much slower the healthy are`,
  needs: ['bring-up'],
  begins: 'unplugged',
  ends: 'available',
  ownStage: {},
  run: async (stage, { measured }) => {
    const each = Math.max(1, Math.round((stage.nodes.length * percentOfEach) / 100));
    const struck = pickBySeed(stage.nodes, 2 * each, stage.seed);
    await Promise.all(struck.slice(0, each).map(({ name }) => stage.fleet.injure(name, { hang: true })));
    await Promise.all(struck.slice(each).map(({ name }) => stage.fleet.injure(name, { latencyMs: slowMs })));
    const healthy = stage.nodes.filter((node) => !struck.includes(node));
    const outcome = await measureBringUp(stage, { expected: healthy });
    const calm = measured('bring-up')?.seconds ?? new Map<string, number>();
    return { ...outcome, figures: { ...slowerThan(calm, outcome.seconds, healthy), ...outcome.figures } };
  },
};

function slowerThan(
  calm: ReadonlyMap<string, number>,
  stormy: ReadonlyMap<string, number>,
  healthy: readonly FleetNode[],
): Figures {
  const timesIn = (seconds: ReadonlyMap<string, number>) =>
    healthy.flatMap(({ systemUUID }) => seconds.get(systemUUID) ?? []);
  const slower = (percent: number) =>
    (percentile(timesIn(stormy), percent) / percentile(timesIn(calm), percent) - 1) * 100;
  return { slowerPercent: slower(50), slowerP90Percent: slower(90) };
}
