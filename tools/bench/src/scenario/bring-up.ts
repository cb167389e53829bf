import { availableParallelism } from 'node:os';
import type { FleetNode } from '../fleet-process.ts';
import type { Stage } from '../stage.ts';
import { isAtRest, measureLoad, uuidOf } from './measure-load.ts';
import type { Outcome, Scenario } from './scenario.ts';

interface BringUpOptions {
  /** Default: all. */
  readonly plugged?: readonly FleetNode[];
  /** Default: all connected ones. */
  readonly expected?: readonly FleetNode[];
}

/** From the concurrent creation of Endpoints until the expected servers are Available and off. */
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
 * A power change takes half a second, and so does the first poll after it: whether this poll observes the change is random, and the
 * next poll follows a second later.
 */
const tries = 3;

export const oneServer: Scenario = {
  name: 'one-server',
  summary: 'the same with a single server: the fastest of three runs in sequence',
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
