import { ServerClaim } from '@metal/api/v1alpha1/server-claim.ts';
import type { Figures } from '../measurement.ts';
import { isAtRest, measureLoad, uuidOf } from './measure-load.ts';
import type { ScenarioContext, Scenario } from './scenario.ts';

export const releaseStorm: Scenario = {
  name: 'release-storm',
  summary: 'all claims are deleted at once, until their servers are cleaned up, Available and off',
  needs: [],
  startState: 'claimed',
  endState: 'available',
  run: async (stage, { measured }) => {
    const outcome = await measureLoad(stage, {
      title: 'servers released',
      expected: stage.nodes.map(({ systemUUID }) => systemUUID),
      // An available server has no claim; its status may be from before the release.
      follow: (arrive) =>
        stage.onServer(
          (server) => isAtRest(server) && server.spec.serverClaimRef === undefined && arrive(uuidOf(server)),
        ),
      start: async () => {
        const claims = [...stage.caches.claims.all()];
        await Promise.all(claims.map(({ metadata }) => stage.client.delete(ServerClaim, metadata)));
      },
    });
    return { ...outcome, figures: { ...outcome.figures, ...beyondClaims(outcome.figures, measured) } };
  },
};

/** Only without a restart in between: a new process has less memory. */
function beyondClaims({ peakMiB }: Figures, measured: ScenarioContext['measured']): Figures {
  const before = measured('claim-storm')?.figures.peakMiB;
  if (before === undefined || peakMiB === undefined || measured('restart') !== undefined) return {};
  return { beyondClaimsPercent: (peakMiB / before - 1) * 100 };
}
