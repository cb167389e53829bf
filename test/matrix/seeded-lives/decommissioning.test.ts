import assert from 'node:assert/strict';
import { resetBmcAnnotation } from '@metal/api/wire/contract.ts';
import { simulated } from '@metal/testenv/fleet/simulated.ts';
import type { LifeRun } from '@metal/testenv/operator/life-run.ts';
import { testLives } from '@metal/testenv/operator/lives.ts';
import { testenvsOfFile } from '@metal/testenv/testenv.ts';
import { reportsOf } from '../../fixtures/cleanup-fixture.ts';

testLives(testenvsOfFile(), {
  outcome: 'decommissions the server once, with evidence of its erasure',
  environment: {
    stepMs: 100,
    flags: () => ['--power-polling-interval=1s', '--eviction-grace-period=2s', '--cleanup-disks=Clear'],
  },
  lives: [
    {
      title: 'a claimed server that is decommissioned, and its BMC reset',
      begin: async (run) => {
        await run.becomesAvailable();
        await run.isClaimed();
      },
      live: async ({ testenv, node, server, serverName }) => {
        const annotations = { [resetBmcAnnotation]: 'true', 'metal.ironcore.dev/operation': 'force-decommission' };
        await testenv.servers.patch(serverName, { metadata: { annotations } });
        await server.hasReason('Decommissioned');
        await testenv.bmc(node).hasReason('BMCDecommissioned');
      },
      verify: isDecommissioned,
    },
  ],
});

async function isDecommissioned({ testenv, node, server, serverName }: LifeRun): Promise<void> {
  const { spec, status } = await server.exists();
  assert.equal(status?.state, 'Decommissioned');
  assert.equal(spec.serverClaimRef, undefined);
  assert.equal(node.power, 'Off');
  assert.equal(simulated(node).installed, undefined);
  assert.equal(status.decommission?.cleanup, 'Cleaned');
  const reports = await reportsOf(testenv, serverName);
  const report = reports.find(({ metadata }) => metadata.name === status.decommission?.erasureReport);
  assert.ok(report?.status?.certificate);
  const { resets, access } = node.bmc;
  assert.ok(resets.length <= 1, resets.join(', '));
  // An interrupted request is not repeated, and a process that did not get the response does not know of it.
  assert.ok(resets.length === 1 || status.decommission?.bmcReset === 'Unknown');
  assert.equal(access.failedLogins, 0);
}
