import { setTimeout as pause } from 'node:timers/promises';
import type { Figures } from '../measurement.ts';
import { untilStable } from './until-stable.ts';
import type { Scenario } from './scenario.ts';

export const steady: Scenario = {
  name: 'steady',
  summary: 'no requests by users: background activity of the operator with all servers at rest',
  needs: [],
  startState: 'available',
  endState: 'available',
  run: async (stage, { steadySeconds }) => {
    await untilStable(stage);
    const spent = await stage.meter.start(stage.nodes.length);
    await stage.progress.during(
      'at rest',
      () => `${steadySeconds} s`,
      () => Promise.race([pause(steadySeconds * 1_000), stage.failWhenOperatorExits()]),
    );
    const { figures, ...requests } = await spent();
    const minutes = steadySeconds / 60;
    return {
      servers: stage.nodes.length,
      seconds: new Map(),
      ...requests,
      figures: { ...rates(figures, minutes), peakMiB: figures.peakMiB, eventLoopP99Ms: figures.eventLoopP99Ms },
    };
  },
};

/** Counts per minute, and processor use. */
const rates = (
  { apiWritesPerServer = 0, redfishPerServer = 0, cpuSeconds = 0 }: Figures,
  minutes: number,
): Figures => ({
  apiWritesPerServerMinute: apiWritesPerServer / minutes,
  redfishPerServerMinute: redfishPerServer / minutes,
  cpuPercent: (cpuSeconds / (minutes * 60)) * 100,
});
