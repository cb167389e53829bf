import { setTimeout as pause } from 'node:timers/promises';
import { total } from '../counts.ts';
import { isWrite } from '../meter/audit-log.ts';
import type { Stage } from '../stage.ts';

const stableAfterMs = 3_000;
const pollIntervalMs = 250;
/** A fleet that never becomes stable is measured nevertheless. */
const timeoutMs = 60_000;

/** Resolves when the operators have sent no writes and no BMC requests for a while, at the latest after a minute. */
export async function untilStable(stage: Stage): Promise<void> {
  const startedAt = performance.now();
  let last = { count: -1, at: startedAt };
  const stableForMs = () => performance.now() - last.at;
  const pollActivity = async () => {
    while (stableForMs() < stableAfterMs && performance.now() - startedAt < timeoutMs) {
      const count = await activityOf(stage);
      if (count !== last.count) last = { count, at: performance.now() };
      await Promise.race([pause(pollIntervalMs), stage.failWhenOperatorExits()]);
    }
  };
  await stage.progress.during(
    'until all is at rest',
    () => `quiet for ${(stableForMs() / 1_000).toFixed(0)} s`,
    pollActivity,
  );
}

async function activityOf({ audit, fleet }: Stage): Promise<number> {
  return total(await audit.requests(), isWrite) + total(await fleet.requests());
}
