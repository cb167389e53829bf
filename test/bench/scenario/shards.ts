import { total } from '../counts.ts';
import type { Figures } from '../measurement.ts';
import { isWrite } from '../meter/audit-log.ts';
import type { Stage } from '../stage.ts';
import { measureBringUp } from './bring-up.ts';
import { claimAll } from './claim-storm.ts';
import { measureCrowd, uuidOf } from './crowd.ts';
import type { Scenario } from './scenario.ts';
import { settled } from './settled.ts';

/** Beside the one that every stage has. */
const moreReplicas = 2;

/**
 *     three replicas ── bring-up: how even they write ── one is killed ── every server is claimed: until all are on
 */
export const shards: Scenario = {
  name: 'shards',
  summary:
    'three replicas share the servers: how evenly, and how long the servers of one that is killed are left alone',
  needs: [],
  begins: 'unplugged',
  ends: 'claimed',
  ownStage: { operatorFlags: ['--shards=auto'] },
  onlyWhenNamed: true,
  run: async (stage) => {
    for (let index = 0; index < moreReplicas; index += 1) await stage.startOperator(await stage.seat());
    await measureBringUp(stage);
    await settled(stage);
    const unevenPercent = await unevennessOf(stage);
    const outcome = await measureCrowd(stage, {
      title: 'servers on for their claims, one replica gone',
      expected: stage.nodes.map(({ systemUUID }) => systemUUID),
      follow: (arrive) => stage.onServer((server) => server.status?.powerState === 'On' && arrive(uuidOf(server))),
      begin: async () => {
        const last = stage.operators.at(-1);
        if (last !== undefined) await stage.endOperator(last, 'kill');
        await claimAll(stage);
      },
    });
    const figures: Figures = { ...outcome.figures, unevenPercent, takeoverSeconds: outcome.figures.wallSeconds };
    return { ...outcome, figures };
  },
};

/** How much more the busiest replica wrote than each would in equal parts. */
async function unevennessOf({ audit, operators }: Stage): Promise<number> {
  const writes = await Promise.all(
    operators.map(async ({ seat }) => total(await audit.requestsOf(seat.user), isWrite)),
  );
  const mean = writes.reduce((sum, count) => sum + count, 0) / writes.length;
  return (Math.max(...writes) / mean - 1) * 100;
}
