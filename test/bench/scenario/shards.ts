import { total } from '../counts.ts';
import type { Figures } from '../measurement.ts';
import { isWrite } from '../meter/audit-log.ts';
import { BmcTraffic } from '../meter/bmc-traffic.ts';
import type { Stage } from '../stage.ts';
import { measureBringUp } from './bring-up.ts';
import type { Scenario } from './scenario.ts';
import { untilStable } from './until-stable.ts';

/** Beside the one that every stage has. */
const moreReplicas = 2;
const timeoutMs = 120_000;
const mostViolationsLogged = 3;
/** A look costs by the size of the fleet, and a small one is soon at rest. */
const pollIntervalPerServerMs = 5;
const mostPollIntervalMs = 1_000;

/**
 *     three replicas ── bring-up: how even they write ── all at rest ── one is killed ── until others ask all its BMCs
 *     └── all the time: whether a BMC hears two at once
 */
export const shards: Scenario = {
  name: 'shards',
  summary:
    'a bring-up that three replicas share: how evenly, whether two ask one BMC at once, and how long the BMCs of one that is killed are left alone',
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

/** The longest time until another replica asks a BMC that the killed one was the last to ask; undefined when it had none. */
async function takeoverAfterKill(stage: Stage, traffic: BmcTraffic): Promise<number | undefined> {
  const victim = stage.operators.at(-1);
  if (victim === undefined) throw new Error('expected operators on the stage, found none; open the stage anew');
  // Its connections are nobody's when it is gone.
  await traffic.poll();
  traffic.markEnded(victim.pid, Date.now());
  await stage.endOperator(victim, 'kill');
  const takeover = () => traffic.takeoverFrom(victim.pid);
  await stage.progress.during(
    'BMCs of the killed replica asked by others',
    () => `${takeover().afterMs.size} of ${takeover().afterMs.size + takeover().abandoned.length}`,
    () =>
      Promise.race([traffic.until(() => takeover().abandoned.length === 0, timeoutMs), stage.failWhenOperatorExits()]),
  );
  const { afterMs, abandoned } = takeover();
  if (abandoned.length > 0)
    throw new Error(
      `nobody has asked ${abandoned.length} BMCs within ${timeoutMs / 1_000} s: ${abandoned.slice(0, 3).join(', ')}`,
    );
  if (afterMs.size > 0) return Math.max(...afterMs.values()) / 1_000;
  stage.progress.log('the killed replica was the last to ask no BMC: no takeover is measured; take more servers');
  return undefined;
}

function figuresOf(
  { progress, nodes }: Stage,
  { ownershipIntervals, connections, requests, undecided }: BmcTraffic,
): Figures {
  const attributedBmcs = [...ownershipIntervals.bmcs()].length;
  if (attributedBmcs < nodes.length)
    progress.log(`of ${nodes.length - attributedBmcs} BMCs nobody knows who asks them`);
  for (const violation of ownershipIntervals.breaches.slice(0, mostViolationsLogged))
    progress.log(`two replicas at once: ${violation}`);
  progress.log(`${connections.all} connections to BMCs; of ${connections.unattributed} the replica was not found`);
  return {
    bmcsSharedAtOnce: ownershipIntervals.shared.size,
    bmcsUndecided: undecided,
    unknownAskerPercent: (requests.unattributed / requests.all) * 100,
  };
}

/** How much more the busiest replica wrote than each would in equal parts. */
async function unevennessOf({ audit, operators }: Stage): Promise<number> {
  const writes = await Promise.all(
    operators.map(async ({ replicaConfig }) => total(await audit.requestsOf(replicaConfig.user), isWrite)),
  );
  const mean = writes.reduce((sum, count) => sum + count, 0) / writes.length;
  return (Math.max(...writes) / mean - 1) * 100;
}
