import { setTimeout as pause } from 'node:timers/promises';
import { type Counts, total } from '../counts.ts';
import { isPowerAction } from '../fleet-process.ts';
import type { Figures } from '../measurement.ts';
import { isWrite } from '../meter/audit-log.ts';
import { untilStable } from './until-stable.ts';
import type { Scenario } from './scenario.ts';

/** Later writes belong to the steady state. */
const mostWatchedSeconds = 30;

export const restart: Scenario = {
  name: 'restart',
  summary: `the operator ends and starts again while every server runs for its claim: what it does in the ${mostWatchedSeconds} s after`,
  needs: [],
  startState: 'claimed',
  endState: 'claimed',
  run: async (stage, { steadySeconds }) => {
    const [operator] = stage.operators;
    if (operator === undefined) throw new Error('expected an operator on the stage, found none; reopen the stage');
    await untilStable(stage);
    await stage.endOperator(operator, 'stop');
    const spent = await stage.meter.start(stage.nodes.length);
    const watchedSeconds = Math.min(mostWatchedSeconds, steadySeconds);
    const { warmAfterSeconds } = await stage.startOperator(operator.replicaConfig);
    await stage.progress.during(
      'after the restart',
      () => `of ${watchedSeconds} s`,
      () => Promise.race([pause(watchedSeconds * 1_000), stage.failWhenOperatorExits()]),
    );
    const { figures, ...requests } = await spent();
    const servers = stage.nodes.length;
    return {
      servers,
      seconds: new Map(),
      ...requests,
      figures: { ...figures, warmSeconds: warmAfterSeconds, ...redone(requests, servers) },
    };
  },
};

function redone(
  { apiRequests, redfishRequests }: { apiRequests: Counts; redfishRequests: Counts },
  servers: number,
): Figures {
  const ofStatus = total(apiRequests, isServerStatusWrite);
  return {
    powerActions: total(redfishRequests, isPowerAction),
    statusWritesPerServer: ofStatus / servers,
    otherWrites: total(apiRequests, isWrite) - ofStatus,
  };
}

const isServerStatusWrite = (name: string): boolean => /^(?:update|patch) servers\/status$/.test(name);
