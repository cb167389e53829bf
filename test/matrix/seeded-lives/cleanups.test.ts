import assert from 'node:assert/strict';
import { ServerClaim } from '@metal/api/v1alpha1/server-claim.ts';
import { simulated } from '@metal/testenv/fleet/simulated.ts';
import type { LifeRun } from '@metal/testenv/operator/life-run.ts';
import { type Life, testLives } from '@metal/testenv/operator/lives.ts';
import { testenvsOfFile } from '@metal/testenv/testenv.ts';
import type { Node } from '@metal/simulator/fleet.ts';
import { factoryBootOrder } from '@metal/simulator/machine.ts';
import {
  follow,
  onlyRecord,
  purge,
  reportsOf,
  resetsBios,
  restoresBootOrder,
  tamper,
} from '../../fixtures/cleanup-fixture.ts';

const startTestenv = testenvsOfFile();
const polling = '--power-polling-interval=1s';

const isEmpty = (node: Node): boolean => simulated(node).installed === undefined;
const isCleaning = ({ server }: LifeRun): boolean => server.now?.status?.state === 'Cleanup';
const erases = ({ node }: LifeRun): boolean => node.running?.role === 'eraser';

/** A tenant that leaves its data and changes settings. */
async function becomesUsed(run: LifeRun): Promise<void> {
  await run.becomesAvailable();
  await run.isClaimed();
  assert.equal(isEmpty(run.node), false, 'the claim left its data');
  tamper(run.node);
}

const hasSettings = ({ machine }: Node): boolean =>
  machine.biosAttributes.LogicalProc !== machine.factoryBios.LogicalProc ||
  machine.bootOrder[0] !== factoryBootOrder[0];
const isUnclean = (node: Node): boolean => !isEmpty(node) || hasSettings(node);

/** Until the server is Available, which it never is while it has what must be cleaned, after one cleanup. */
async function isCleaned({ testenv, node, server }: LifeRun, hasRemains: (node: Node) => boolean): Promise<void> {
  const seen: unknown[] = [];
  using _remains = testenv.servers.onChange(({ after }) => {
    if (after === server.now && after?.status?.state === 'Available' && hasRemains(node)) seen.push(after);
  });
  using followed = follow(testenv, node);
  await server.hasReason('Available');
  assert.deepEqual(seen, []);
  assert.equal(followed.states.filter((state) => state === 'Cleanup').length, 1);
}

async function isReturned(run: LifeRun, hasRemains: (node: Node) => boolean): Promise<void> {
  await run.testenv.client.delete(ServerClaim, { namespace: 'default', name: run.claimName });
  await isCleaned(run, hasRemains);
  await run.testenv.claims.named(run.claimName).isGone();
}

/** Settings as from the factory. */
async function isReset({ node, server }: LifeRun): Promise<void> {
  await server.hasReason('Available');
  assert.deepEqual(node.machine.biosAttributes, node.machine.factoryBios);
  assert.equal(node.machine.bootOrder[0], factoryBootOrder[0]);
}

const returned: Life = {
  title: 'a returned server',
  begin: becomesUsed,
  live: (run) => isReturned(run, isUnclean),
  verify: async (run) => {
    await isReset(run);
    assert.ok(isEmpty(run.node));
    const reports = await reportsOf(run.testenv, run.serverName);
    const [succeeded, ...others] = reports.filter(({ spec }) => spec.state === 'Succeeded');
    assert.deepEqual(others, [], 'erased in one successful attempt');
    assert.ok(succeeded?.status?.certificate);
  },
  faultPoints: {
    'Cleanup begins': isCleaning,
    'the attempt is admitted': ({ server }) => server.now?.status?.cleanup?.attempt === 1,
    'the boot configuration exists': (run) =>
      isCleaning(run) && run.server.now?.spec.bootConfigurationRef !== undefined,
    'the machine erases': erases,
    'the disks are empty': ({ node }) => isEmpty(node),
  },
};

/** The operator ends right after its patch that clears the reference to the claim; no write of the status follows it. */
const unreferenced: Life = {
  title: 'a server without a reference to its claim',
  isNamedOnly: true,
  begin: becomesUsed,
  live: (run) => isCleaned(run, isUnclean),
  verify: ({ node }) => Promise.resolve(assert.ok(isEmpty(node))),
  faultPoints: {
    'it has cleared the reference to the claim': {
      isReached: ({ server }) => server.showsReason('ClaimServed'),
      meanwhile: async ({ testenv, server, serverName }) => {
        await testenv.servers.patch(serverName, {
          spec: { serverClaimRef: null, bootConfigurationRef: null, power: 'Off' },
        });
        assert.equal(server.now?.status?.state, 'Reserved');
      },
    },
  },
};

testLives(startTestenv, {
  outcome: 'completes the cleanup, and makes no unclean server Available',
  environment: {
    stepMs: 100,
    fleet: { eraseMs: 200 },
    flags: () => [purge, resetsBios, restoresBootOrder, polling, '--cleanup-at-once=2'],
  },
  lives: [returned, unreferenced],
});

testLives(startTestenv, {
  outcome: 'resets every setting',
  environment: { stepMs: 100, flags: () => [resetsBios, restoresBootOrder, polling] },
  lives: [
    {
      title: 'settings of a returned server',
      isNamedOnly: true,
      begin: becomesUsed,
      live: (run) => isReturned(run, hasSettings),
      verify: async (run) => {
        await isReset(run);
        assert.ok((await onlyRecord(run.testenv, run.serverName)).status?.certificate);
      },
      faultPoints: {
        'the BIOS accepted the reset': ({ node }) => node.machine.biosReset === 'pending',
        'the machine has started': erases,
        'its boot order is restored': ({ node }) => node.machine.bootOrder[0] === factoryBootOrder[0],
      },
    },
  ],
});
