import { setTimeout as pause } from 'node:timers/promises';
import { total } from '../counts.ts';
import { isWrite } from '../meter/audit-log.ts';
import type { Stage } from '../stage.ts';

const quietMs = 3_000;
const lookEveryMs = 250;
/** A fleet that never comes to rest is measured as it is: that is a figure too. */
const patienceMs = 60_000;

/** Resolves when the operators have neither written nor asked a BMC for a while, at the latest after a minute. */
export async function settled(stage: Stage): Promise<void> {
  const begunAt = performance.now();
  let last = { count: -1, at: begunAt };
  const quietForMs = () => performance.now() - last.at;
  const settle = async () => {
    while (quietForMs() < quietMs && performance.now() - begunAt < patienceMs) {
      const count = await activityOf(stage);
      if (count !== last.count) last = { count, at: performance.now() };
      await Promise.race([pause(lookEveryMs), stage.operatorGone()]);
    }
  };
  await stage.progress.during('until all is at rest', () => `quiet for ${(quietForMs() / 1_000).toFixed(0)} s`, settle);
}

async function activityOf({ audit, fleet }: Stage): Promise<number> {
  return total(await audit.requests(), isWrite) + total(await fleet.requests());
}
