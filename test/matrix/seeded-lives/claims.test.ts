import assert from 'node:assert/strict';
import { ServerClaim } from '@metal/api/v1alpha1/server-claim.ts';
import { ServerMaintenance } from '@metal/api/v1alpha1/server-maintenance.ts';
import { endStateOf, repeatedDiscoveries, secretsOf } from '@metal/testenv/assertions/end-state.ts';
import type { LifeRun } from '@metal/testenv/operator/life-run.ts';
import { type Life, testLives } from '@metal/testenv/operator/lives.ts';
import { testenvsOfFile } from '@metal/testenv/testenv.ts';
import type { Node } from '@metal/simulator/fleet.ts';

const startTestenv = testenvsOfFile();
const flags = ['--power-polling-interval=1s', '--bmc-reset-waiting-interval=1s', '--bmc-reset-resync-interval=1s'];

interface Variation {
  readonly title: string;
  /** What happens while the claim is served. */
  readonly vary?: (run: LifeRun) => Promise<unknown>;
  /** The server is kept for review after its claim. */
  readonly isRetained?: boolean;
}

/** From the Endpoint to a claim that is served, and returned. */
const lifeOf = ({ title, vary, isRetained = false }: Variation): Life => ({
  title,
  live: async (run) => {
    const { testenv, node, server } = run;
    await run.becomesAvailable();
    const { powerLog } = node;
    const discovered = powerLog.length;
    assert.deepEqual(powerLog.slice(-2), ['On', 'Off']);
    assert.ok(discovered <= 2 + 2 * run.operator.kills, `at most one more start for each kill: ${powerLog.join(' ')}`);
    if (isRetained) await testenv.servers.patch(run.serverName, { spec: { reclaimPolicy: 'Retain' } });
    const claim = await run.isClaimed();
    await claim.reaches('Bound');
    assert.deepEqual(powerLog.slice(discovered), ['On'], 'no power action that the tenant would notice');
    await vary?.(run);
    await run.hasEndState('the served claim');
    await claim.delete();
    await claim.isGone();
    if (isRetained) {
      await server.reaches('Released');
      await testenv.servers.patch(run.serverName, { spec: { serverClaimRef: null } });
    }
    await server.hasReason('Available');
    assert.equal(node.power, 'Off');
  },
  verify: async (run) => {
    const { testenv, node, operator } = run;
    const goal = await run.hasEndState('the returned server');
    run.isSame('Secrets', await secretsOf(testenv, node));
    // On and off again.
    const repeated = 2 * repeatedDiscoveries(goal, endStateOf(testenv, node)).length;
    const most = run.withoutKills('resets', resetsOf(node)) + operator.kills + repeated;
    assert.ok(resetsOf(node) <= most, `${resetsOf(node)} resets were requested, expected at most ${most}`);
  },
});

const stateOf = ({ server }: LifeRun): string | undefined => server.now?.status?.state;
const isStarted = ({ node }: LifeRun): boolean => node.power !== 'Off';

const lives: readonly Life[] = [
  {
    ...lifeOf({ title: 'a claim' }),
    faultPoints: {
      'the BMC exists': ({ testenv, node }) => testenv.bmc(node).now !== undefined,
      'the Server exists': ({ server }) => server.now !== undefined,
      'Discovery begins': (run) => stateOf(run) === 'Discovery',
      'the machine powers on for its probe': isStarted,
      'the probe runs': ({ node }) => node.running?.role === 'probe',
      'the report exists': ({ testenv, node }) => testenv.inventoryOf(node).now !== undefined,
      'the server is Available and powering off': (run) => stateOf(run) === 'Available',
      'the server is Reserved': (run) => stateOf(run) === 'Reserved',
      'the machine powers on for its claim': (run) => stateOf(run) === 'Reserved' && isStarted(run),
      'the claim is served': ({ server }) => server.showsReason('ClaimServed'),
      'the machine of a deleted claim goes off': ({ node, testenv, claimName }) =>
        node.power === 'PoweringOff' && testenv.claims.named(claimName).now?.metadata.deletionTimestamp !== undefined,
    },
  },
  lifeOf({
    title: 'a claim whose server is parked',
    vary: async ({ testenv, server }) => {
      await testenv.servers.requestOperation(await server.exists(), 'park');
      await testenv.servers.requestOperation(await server.reaches('Parked'), 'unpark');
      await server.reaches('Reserved');
      await server.hasReason('ClaimServed');
    },
  }),
  lifeOf({
    title: 'a claim whose server is maintained, and kept for review',
    isRetained: true,
    vary: async ({ testenv, node, server, serverName }) => {
      const ref = { namespace: 'default', name: `${node.name}-swap` };
      await testenv.client.create(ServerMaintenance, {
        metadata: ref,
        spec: { policy: 'Enforced', serverRef: { name: serverName }, serverPower: 'Off' },
      });
      await server.hasReason('MaintenanceServed');
      await testenv.client.delete(ServerMaintenance, ref);
      await server.reaches('Reserved');
      await server.hasReason('ClaimServed');
    },
  }),
  lifeOf({
    title: 'a claim that is provisioned again',
    vary: async ({ testenv, server, claimName: name }) => {
      const annotations = { 'metal.ironcore.dev/operation': 'reprovision' };
      await testenv.client.mergePatch(ServerClaim, { namespace: 'default', name }, { metadata: { annotations } });
      await server.until('has served the request', ({ status }) => status?.servedReprovision !== undefined);
      await server.hasReason('ClaimServed');
    },
  }),
  lifeOf({
    title: 'a claim whose BMC is restarted, and whose server is kept for review',
    isRetained: true,
    vary: async ({ testenv, node, server }) => {
      const annotations = { 'metal.ironcore.dev/operation': 'graceful-restart-bmc' };
      await testenv.bmcs.patch(node.name, { metadata: { annotations } });
      await testenv.bmc(node).hasCondition('Reset', 'False');
      await testenv.bmc(node).hasReason('Connected');
      await server.hasReason('ClaimServed');
    },
  }),
];

testLives(startTestenv, {
  outcome: 'reaches the same end state',
  environment: { stepMs: 100, flags: () => flags },
  lives,
});

testLives(startTestenv, {
  outcome: 'discovers it again after the timeout if it stopped booting meanwhile',
  environment: {
    stepMs: 200,
    // Machines do not wait for the next operator, and do not try again.
    fleet: { bootRetryMs: undefined, fetch: (...request) => fetch(...request) },
    flags: () => ['--power-polling-interval=1s', '--discovery-timeout=20s'],
  },
  lives: [
    {
      title: 'a machine that finds nothing to boot while the operator is down',
      isNamedOnly: true,
      faultPoints: {
        'a machine has powered on for its probe': {
          isReached: isStarted,
          meanwhile: ({ testenv, node }) =>
            testenv
              .machine(node)
              .until('finds no bootable device', () => node.boots.at(-1)?.outcome === 'no bootable device'),
        },
      },
      live: (run) => run.becomesAvailable(),
      verify: ({ node }) => Promise.resolve(assert.deepEqual(node.powerLog, ['On', 'Off', 'On', 'Off'])),
    },
  ],
});

const resetsOf = ({ bmc }: Node): number =>
  [...bmc.traffic.byRoute].reduce(
    (sum, [route, count]) => (route.endsWith('ComputerSystem.Reset') ? sum + count : sum),
    0,
  );
