import assert from 'node:assert/strict';
import type { LifeRun } from '@metal/testenv/operator/life-run.ts';
import { testLives } from '@metal/testenv/operator/lives.ts';
import { testenvsOfFile } from '@metal/testenv/testenv.ts';
import { approve, endMaintenance, maintain, toolTemplate } from '../../fixtures/maintenance-fixture.ts';

testLives(testenvsOfFile(), {
  outcome: 'starts the image once, and gives the machine back to the tenant',
  environment: { stepMs: 100, flags: () => ['--power-polling-interval=1s'] },
  lives: [
    {
      title: 'a window of two maintenances',
      isOneTest: true,
      begin: async (run) => {
        await run.becomesAvailable();
        await run.isClaimed();
      },
      live: isMaintained,
      faultPoints: {
        'the server is given to the maintenance': ({ server }) => server.now?.spec.serverMaintenanceRef !== undefined,
        'the boot is recorded': ({ server }) => server.now?.status?.maintenance?.bootConfigurationUID !== undefined,
        'the server is given to the next one': (run) =>
          run.server.now?.spec.serverMaintenanceRef?.name === namesOf(run).next,
        'no maintenance has it': ({ server: { now } }) =>
          now?.status?.state === 'Maintenance' && !now.spec.serverMaintenanceRef,
      },
    },
  ],
});

const namesOf = ({ node: { name } }: LifeRun) => ({ tool: `${name}-tool`, next: `${name}-next` });

async function isMaintained(run: LifeRun): Promise<void> {
  const { testenv, node, server, claimName } = run;
  const { tool, next } = namesOf(run);
  const starts = node.boots.length;
  await maintain(testenv, node, tool, { serverBootConfigurationTemplate: toolTemplate });
  await maintain(testenv, node, next, { serverPower: 'On', priority: -1 });
  await approve(testenv, claimName);
  await testenv
    .machine(node)
    .until('runs the image', () => node.boots.length > starts && node.running?.from === 'network');
  await testenv.maintenances.named(tool).hasReason('InMaintenance');
  await endMaintenance(testenv, tool);
  await testenv.maintenances.named(next).hasReason('InMaintenance');
  assert.equal(node.boots.length, starts + 1, 'the image was started once');
  await endMaintenance(testenv, next);
  await testenv.maintenances.named(next).isGone();
  await server.reaches('Reserved');
  await server.hasReason('ClaimServed');
  await testenv.machine(node).until("runs the tenant's installed system", () => node.running?.from === 'disk');
  assert.equal(node.boots.length, starts + 2);
  const claim = testenv.claims.named(claimName);
  await claim.until('has no label', ({ metadata }) => metadata.labels === undefined);
}
