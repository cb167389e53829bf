import type { Server } from '@metal/api/v1alpha1/server.ts';
import { ServerClaim } from '@metal/api/v1alpha1/server-claim.ts';
import type { Stage } from '../stage.ts';
import { measureLoad, readyReasonOf, uuidOf } from './measure-load.ts';
import type { Scenario } from './scenario.ts';

export const namespace = 'default';

export const claimStorm: Scenario = {
  name: 'claim-storm',
  summary: 'as many claims as servers are created at once, until all servers have booted for them',
  needs: [],
  startState: 'available',
  endState: 'claimed',
  run: (stage) =>
    measureLoad(stage, {
      title: 'servers booted for a claim',
      expected: stage.nodes.map(({ systemUUID }) => systemUUID),
      follow: (arrive) => stage.onServer((server) => hasBooted(stage, server) && arrive(uuidOf(server))),
      start: () => claimAll(stage),
    }),
};

/** One claim for each server, without a selector. */
export async function claimAll(stage: Stage): Promise<void> {
  await Promise.all(stage.nodes.map((_, index) => claim(stage, `claim-${index}`)));
}

const claim = (stage: Stage, name: string): Promise<ServerClaim> =>
  stage.client.create(ServerClaim, { metadata: { name, namespace }, spec: { power: 'On', image: 'bench/os' } });

/** Only the operator of this checkout reports a boot; for others, power on for the claim counts. */
function hasBooted({ operatorChoice }: Stage, server: Server): boolean {
  if (operatorChoice.flagSet.isOurs) return readyReasonOf(server) === 'ClaimServed';
  return server.status?.state === 'Reserved' && server.status.powerState === 'On';
}
