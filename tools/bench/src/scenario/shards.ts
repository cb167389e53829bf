import { total } from '../counts.ts';
import type { Figures } from '../measurement.ts';
import { isWrite } from '../meter/audit-log.ts';
import { BmcTraffic } from '../meter/bmc-traffic.ts';
import type { Stage } from '../stage.ts';
import { measureBringUp } from './bring-up.ts';
import type { Scenario } from './scenario.ts';
import { untilStable } from './until-stable.ts';

/** Additional replicas of the stage. */
const moreReplicas = 2;
const timeoutMs = 120_000;
const mostViolationsLogged = 3;
/** The cost of a poll depends on the fleet size, and a small fleet is stable soon. */
const pollIntervalPerServerMs = 5;
const mostPollIntervalMs = 1_000;

/**
 *     three replicas ── bring-up: how even they write ── all at rest ── one is killed ── until others request all its BMCs
 *     └── throughout: BMCs with requests of two replicas at once
 */
export const shards: Scenario = {
  name: 'shards',
  summary:
    'a bring-up with three replicas: distribution of writes, BMCs with two owners, and takeover time after a kill',
  needs: [],
  startState: 'unplugged',
  endState: 'available',
  ownStage: { operatorFlags: ['--shards=auto'] },
  onlyWhenNamed: true,
  run: async (stage) => {
    for (let index = 0; index < moreReplicas; index += 1) await stage.startOperator(await stage.newReplicaConfig());
    await using traffic = await BmcTraffic.follow({
      readJournal: () => stage.fleet.journal(),
      pids: () => stage.operators.map(({ pid }) => pid),
      pollIntervalMs: Math.min(mostPollIntervalMs, stage.nodes.length * pollIntervalPerServerMs),
    });
    const outcome = await measureBringUp(stage);
    await untilStable(stage);
    const unevenPercent = await unevennessOf(stage);
    const takeoverSeconds = await takeoverAfterKill(stage, traffic);
    return {
      ...outcome,
      figures: { ...outcome.figures, unevenPercent, takeoverSeconds, ...figuresOf(stage, traffic) },
    };
  },
};

/** The longest time until another replica requests a BMC of the killed one; undefined if it had none. */
async function takeoverAfterKill(stage: Stage, traffic: BmcTraffic): Promise<number | undefined> {
  const victim = stage.operators.at(-1);
  if (victim === undefined) throw new Error('expected operators on the stage, found none; reopen the stage');
  // Its connections have no process after its end.
  await traffic.poll();
  traffic.markEnded(victim.pid, Date.now());
  await stage.endOperator(victim, 'kill');
  const takeover = () => traffic.takeoverFrom(victim.pid);
  await stage.progress.during(
    'BMCs of the killed replica taken over',
    () => `${takeover().afterMs.size} of ${takeover().afterMs.size + takeover().abandoned.length}`,
    () =>
      Promise.race([traffic.until(() => takeover().abandoned.length === 0, timeoutMs), stage.failWhenOperatorExits()]),
  );
  const { afterMs, abandoned } = takeover();
  if (abandoned.length > 0)
    throw new Error(
      `${abandoned.length} BMCs without a request within ${timeoutMs / 1_000} s: ${abandoned.slice(0, 3).join(', ')}`,
    );
  if (afterMs.size > 0) return Math.max(...afterMs.values()) / 1_000;
  stage.progress.log('the killed replica owned no BMC, so no takeover is measured; use more servers');
  return undefined;
}

function figuresOf(
  { progress, nodes }: Stage,
  { ownershipIntervals, connections, requests, undecided }: BmcTraffic,
): Figures {
  const attributedBmcs = [...ownershipIntervals.bmcs()].length;
  if (attributedBmcs < nodes.length) progress.log(`${nodes.length - attributedBmcs} BMCs without a known owner`);
  for (const violation of ownershipIntervals.breaches.slice(0, mostViolationsLogged))
    progress.log(`two replicas at once: ${violation}`);
  progress.log(`${connections.all} connections to BMCs; of ${connections.unattributed} the replica was not found`);
  return {
    bmcsSharedAtOnce: ownershipIntervals.shared.size,
    bmcsUndecided: undecided,
    unknownAskerPercent: (requests.unattributed / requests.all) * 100,
  };
}

/** Excess of the writes of the busiest replica over an equal share. */
async function unevennessOf({ audit, operators }: Stage): Promise<number> {
  const writes = await Promise.all(
    operators.map(async ({ replicaConfig }) => total(await audit.requestsOf(replicaConfig.user), isWrite)),
  );
  const mean = writes.reduce((sum, count) => sum + count, 0) / writes.length;
  return (Math.max(...writes) / mean - 1) * 100;
}
