import { total } from '../counts.ts';
import type { Figures } from '../measurement.ts';
import { isWrite } from '../meter/audit-log.ts';
import { BmcTalk } from '../meter/bmc-talk.ts';
import type { Stage } from '../stage.ts';
import { measureBringUp } from './bring-up.ts';
import type { Scenario } from './scenario.ts';
import { settled } from './settled.ts';

/** Beside the one that every stage has. */
const moreReplicas = 2;
const patienceMs = 120_000;
const mostBreachesTold = 3;
/** A look costs by the size of the fleet, and a small one is soon at rest. */
const lookPerServerMs = 5;
const mostLookEveryMs = 1_000;

/**
 *     three replicas ── bring-up: how even they write ── all at rest ── one is killed ── until others ask all its BMCs
 *     └── all the time: whether a BMC hears two at once
 */
export const shards: Scenario = {
  name: 'shards',
  summary:
    'a bring-up that three replicas share: how evenly, whether two ask one BMC at once, and how long the BMCs of one that is killed are left alone',
  needs: [],
  begins: 'unplugged',
  ends: 'available',
  ownStage: { operatorFlags: ['--shards=auto'] },
  onlyWhenNamed: true,
  run: async (stage) => {
    for (let index = 0; index < moreReplicas; index += 1) await stage.startOperator(await stage.seat());
    await using talk = await BmcTalk.follow({
      tearOff: () => stage.fleet.journal(),
      pids: () => stage.operators.map(({ pid }) => pid),
      lookEveryMs: Math.min(mostLookEveryMs, stage.nodes.length * lookPerServerMs),
    });
    const outcome = await measureBringUp(stage);
    await settled(stage);
    const unevenPercent = await unevennessOf(stage);
    const takeoverSeconds = await takeoverAfterKill(stage, talk);
    return { ...outcome, figures: { ...outcome.figures, unevenPercent, takeoverSeconds, ...figuresOf(stage, talk) } };
  },
};

/** The longest time until another replica asks a BMC that the killed one was the last to ask; undefined when it had none. */
async function takeoverAfterKill(stage: Stage, talk: BmcTalk): Promise<number | undefined> {
  const victim = stage.operators.at(-1);
  if (victim === undefined) throw new Error('expected operators on the stage, found none; open the stage anew');
  // Its connections are nobody's when it is gone.
  await talk.look();
  talk.ended(victim.pid, Date.now());
  await stage.endOperator(victim, 'kill');
  const taken = () => talk.takeoverFrom(victim.pid);
  await stage.progress.during(
    'BMCs of the killed replica asked by others',
    () => `${taken().afterMs.size} of ${taken().afterMs.size + taken().left.length}`,
    () => Promise.race([talk.until(() => taken().left.length === 0, patienceMs), stage.operatorGone()]),
  );
  const { afterMs, left } = taken();
  if (left.length > 0)
    throw new Error(
      `nobody has asked ${left.length} BMCs within ${patienceMs / 1_000} s: ${left.slice(0, 3).join(', ')}`,
    );
  if (afterMs.size > 0) return Math.max(...afterMs.values()) / 1_000;
  stage.progress.say('the killed replica was the last to ask no BMC: no takeover is measured; take more servers');
  return undefined;
}

function figuresOf({ progress, nodes }: Stage, { reigns, connections, requests, undecided }: BmcTalk): Figures {
  const heard = [...reigns.bmcs()].length;
  if (heard < nodes.length) progress.say(`of ${nodes.length - heard} BMCs nobody knows who asks them`);
  for (const breach of reigns.breaches.slice(0, mostBreachesTold)) progress.say(`two replicas at once: ${breach}`);
  progress.say(`${connections.all} connections to BMCs; of ${connections.ofNobody} the replica was not found`);
  return {
    bmcsSharedAtOnce: reigns.shared.size,
    bmcsUndecided: undecided,
    unknownAskerPercent: (requests.ofNobody / requests.all) * 100,
  };
}

/** How much more the busiest replica wrote than each would in equal parts. */
async function unevennessOf({ audit, operators }: Stage): Promise<number> {
  const writes = await Promise.all(
    operators.map(async ({ seat }) => total(await audit.requestsOf(seat.user), isWrite)),
  );
  const mean = writes.reduce((sum, count) => sum + count, 0) / writes.length;
  return (Math.max(...writes) / mean - 1) * 100;
}
