import { availableParallelism } from 'node:os';
import type { FleetNode } from '../fleet-process.ts';
import type { Stage } from '../stage.ts';
import { isAtRest, measureCrowd, uuidOf } from './crowd.ts';
import type { Outcome, Scenario } from './scenario.ts';

interface BringUpWish {
  /** All, if left out. */
  readonly plugged?: readonly FleetNode[];
  /** All that are plugged in, if left out. */
  readonly expected?: readonly FleetNode[];
}

/** From Endpoints that are all created at once until the expected servers are Available and off. */
export function measureBringUp(stage: Stage, wish: BringUpWish = {}): Promise<Outcome> {
  const { plugged = stage.nodes } = wish;
  const { expected = plugged } = wish;
  return measureCrowd(stage, {
    title: 'servers Available and off',
    expected: expected.map(({ systemUUID }) => systemUUID),
    follow: (arrive) => stage.onServer((server) => isAtRest(server) && arrive(uuidOf(server))),
    begin: () => stage.plugIn(plugged),
  });
}

export const bringUp: Scenario = {
  name: 'bring-up',
  summary: 'Endpoints of all servers are created at once, until all are Available and off',
  needs: ['one-server'],
  begins: 'unplugged',
  ends: 'available',
  run: async (stage, { measured }) => {
    const outcome = await measureBringUp(stage);
    const alone = measured('one-server')?.figures.wallSeconds;
    const { wallSeconds, apiServerCpuSeconds = 0, etcdCpuSeconds = 0 } = outcome.figures;
    if (alone === undefined || wallSeconds === undefined) return outcome;
    const floorSeconds = (apiServerCpuSeconds + etcdCpuSeconds) / availableParallelism();
    const times = { timesOneServer: wallSeconds / alone, floorTimesOneServer: floorSeconds / alone };
    return { ...outcome, figures: { ...outcome.figures, ...times } };
  },
};

/**
 * Whether a look that comes half a second after a change of power was asked for sees it, where it takes half a second, is
 * chance, and the next look comes a second later.
 */
const tries = 3;

export const oneServer: Scenario = {
  name: 'one-server',
  summary: 'the same with one server, which nobody keeps waiting: the quickest of three, one after another',
  needs: [],
  begins: 'unplugged',
  ends: 'available',
  ownStage: { servers: () => tries },
  run: async (stage) => {
    const outcomes: Outcome[] = [];
    for (const node of stage.nodes) outcomes.push(await measureBringUp(stage, { plugged: [node] }));
    return quickestOf(outcomes);
  },
};

const secondsOf = ({ figures }: Outcome): number => figures.wallSeconds ?? Number.POSITIVE_INFINITY;

const quickestOf = (outcomes: readonly Outcome[]): Outcome =>
  outcomes.reduce((best, next) => (secondsOf(next) < secondsOf(best) ? next : best));
