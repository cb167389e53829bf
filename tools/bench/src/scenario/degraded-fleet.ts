import type { FleetNode } from '../fleet-process.ts';
import { percentile } from '../figures.ts';
import { type Figures, figuresOfTimes } from '../measurement.ts';
import { pickBySeed } from '../pick-by-seed.ts';
import type { Stage } from '../stage.ts';
import { measureBringUp } from './bring-up.ts';
import type { Outcome, Scenario } from './scenario.ts';

/** Per hundred BMCs, at least one of each. */
const percentOfEach = 5;
const slowMs = 5_000;
/** Upper limit: more degraded BMCs do not change the result. */
const mostPerRound = 1_000;

/**
 * Alternates healthy and degraded fleets, so that other load on the machine affects both. The first fleet is a warm-up and is
 * ignored.
 */
const rounds = ['warm-up', 'healthy', 'degraded-fleet', 'healthy', 'degraded-fleet'] as const;

export const degradedFleet: Scenario = {
  name: 'degraded-fleet',
  summary: `bring-ups in calm and, by turns, where ${percentOfEach} % of the BMCs hang and ${percentOfEach} % need ${slowMs / 1_000} s for an answer: how much slower the healthy are`,
  needs: [],
  startState: 'unplugged',
  endState: 'available',
  ownStage: { servers: (requested) => rounds.length * Math.min(requested, mostPerRound) },
  run: async (stage) => {
    const perRound = stage.nodes.length / rounds.length;
    const outcomes: { readonly kind: (typeof rounds)[number]; readonly outcome: Outcome }[] = [];
    for (const [index, kind] of rounds.entries()) {
      const plugged = stage.nodes.slice(index * perRound, (index + 1) * perRound);
      const degradedNodes = kind === 'degraded-fleet' ? await degradeNodes(stage, plugged) : [];
      const expected = plugged.filter((node) => !degradedNodes.includes(node));
      outcomes.push({ kind, outcome: await measureBringUp(stage, { plugged, expected }) });
    }
    const secondsIn = (wanted: (typeof rounds)[number]) =>
      new Map(outcomes.flatMap(({ kind, outcome }) => (kind === wanted ? [...outcome.seconds] : [])));
    return compareRounds(
      secondsIn('healthy'),
      secondsIn('degraded-fleet'),
      outcomes.map(({ outcome }) => outcome).at(-1),
    );
  },
};

/** The requests are those of the last round. */
function compareRounds(
  healthySeconds: Outcome['seconds'],
  degradedSeconds: Outcome['seconds'],
  last: Outcome | undefined,
): Outcome {
  const { peakMiB, eventLoopP99Ms } = last?.figures ?? {};
  const slower = slowerThan([...healthySeconds.values()], [...degradedSeconds.values()]);
  return {
    servers: degradedSeconds.size,
    seconds: degradedSeconds,
    apiRequests: last?.apiRequests ?? new Map(),
    redfishRequests: last?.redfishRequests ?? new Map(),
    figures: { ...slower, ...figuresOfTimes(degradedSeconds.values()), peakMiB, eventLoopP99Ms },
  };
}

/** Makes half of the returned BMCs hang and half slow, permanently. */
async function degradeNodes(stage: Stage, nodes: readonly FleetNode[]): Promise<readonly FleetNode[]> {
  const each = Math.max(1, Math.round((nodes.length * percentOfEach) / 100));
  const degradedNodes = pickBySeed(nodes, 2 * each, stage.seed);
  await Promise.all(degradedNodes.slice(0, each).map(({ name }) => stage.fleet.injectFaults(name, { hang: true })));
  await Promise.all(degradedNodes.slice(each).map(({ name }) => stage.fleet.injectFaults(name, { latencyMs: slowMs })));
  return degradedNodes;
}

function slowerThan(healthySeconds: readonly number[], degradedSeconds: readonly number[]): Figures {
  const slower = (percent: number) =>
    (percentile(degradedSeconds, percent) / percentile(healthySeconds, percent) - 1) * 100;
  return { slowerPercent: slower(50), slowerP90Percent: slower(90) };
}
