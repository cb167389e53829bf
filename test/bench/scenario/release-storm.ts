import { ServerClaim } from '@metal/api/v1alpha1/server-claim.ts';
import { isAtRest, measureCrowd, uuidOf } from './crowd.ts';
import type { Scenario } from './scenario.ts';

export const releaseStorm: Scenario = {
  name: 'release-storm',
  summary: 'all claims are deleted at once, until their servers are clean, Available and off',
  needs: [],
  begins: 'claimed',
  ends: 'available',
  run: (stage) =>
    measureCrowd(stage, {
      title: 'servers given back',
      expected: stage.nodes.map(({ systemUUID }) => systemUUID),
      // A server that is free has no claim: that its status says so already means nothing.
      follow: (arrive) =>
        stage.onServer(
          (server) => isAtRest(server) && server.spec.serverClaimRef === undefined && arrive(uuidOf(server)),
        ),
      begin: async () => {
        const claims = [...stage.caches.claims.all()];
        await Promise.all(claims.map(({ metadata }) => stage.client.delete(ServerClaim, metadata)));
      },
    }),
};
