import { availableParallelism } from 'node:os';
import type { FleetNode } from '../fleet-process.ts';
import type { Stage } from '../stage.ts';
import { isAtRest, measureLoad, uuidOf } from './measure-load.ts';
import type { Outcome, Scenario } from './scenario.ts';

interface BringUpOptions {
  /** All, if left out. */
  readonly plugged?: readonly FleetNode[];
  /** All that are plugged in, if left out. */
  readonly expected?: readonly FleetNode[];
}

/** From Endpoints that are all created at once until the expected servers are Available and off. */
export function measureBringUp(stage: Stage, options: BringUpOptions = {}): Promise<Outcome> {
  const { plugged = stage.nodes } = options;
  const { expected = plugged } = options;
  return measureLoad(stage, {
    title: 'servers Available and off',
    expected: expected.map(({ systemUUID }) => systemUUID),
    follow: (arrive) => stage.onServer((server) => isAtRest(server) && arrive(uuidOf(server))),
    start: () => stage.plugIn(plugged),
  });
}

export const bringUp: Scenario = {
  name: 'bring-up',
  summary: 'Endpoints of all servers are created at once, until all are Available and off',
  needs: ['one-server'],
  startState: 'unplugged',
  endState: 'available',
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
  startState: 'unplugged',
  endState: 'available',
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
