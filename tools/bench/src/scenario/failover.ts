import { Arrivals } from '../arrivals.ts';
import type { Figures } from '../measurement.ts';
import type { Stage } from '../stage.ts';
import { measureBringUp } from './bring-up.ts';
import { untilStable } from './until-stable.ts';
import type { Scenario } from './scenario.ts';

const timeoutMs = 120_000;

/**
 *     one replica leads ── brings all but one server up ── a second waits ── the first is killed
 *                                                                               └─ the last Endpoint: until it has a BMC
 */
export const failover: Scenario = {
  name: 'failover',
  summary: 'the leader of two replicas is killed, until the other one acts on a new Endpoint',
  needs: [],
  startState: 'unplugged',
  endState: 'available',
  ownStage: { moreServers: 1, operatorFlags: ['--leader-elect=true'] },
  run: async (stage) => {
    const [lateNode, ...present] = stage.nodes;
    const [leader] = stage.operators;
    if (lateNode === undefined || leader === undefined)
      throw new Error('expected a server and an operator on the stage; found none');
    await measureBringUp(stage, { plugged: present });
    await stage.startOperator(await stage.newReplicaConfig(), 'follower');
    await untilStable(stage);
    const spent = await stage.meter.start(stage.nodes.length);
    const seconds = await takeover(stage, async () => {
      await stage.endOperator(leader, 'kill');
      await stage.plugIn([lateNode]);
    });
    const { figures, ...requests } = await spent();
    return {
      servers: present.length,
      seconds: new Map(),
      ...requests,
      figures: { ...figures, ...takeoverFigures(seconds, stage.operatorChoice.flagSet.leaseSeconds) },
    };
  },
};

/** Seconds from the moment of the kill until the new Endpoint has its BMC. */
async function takeover(stage: Stage, kill: () => Promise<void>): Promise<number> {
  const known = new Set([...stage.caches.bmcs.all()].map(({ metadata }) => metadata.name));
  const arrivals = new Arrivals(['takeover']);
  using _following = stage.onBmc(({ metadata }) => void (known.has(metadata.name) || arrivals.arrive('takeover')));
  await stage.progress.during(
    'until the other replica acts',
    () => 'waiting',
    () => Promise.all([kill(), arrivals.all(timeoutMs)]),
  );
  return arrivals.seconds.get('takeover') ?? Number.NaN;
}

const takeoverFigures = (takeoverSeconds: number, leaseSeconds: number): Figures => ({
  takeoverSeconds,
  beyondLeaseSeconds: takeoverSeconds - leaseSeconds,
});
