import assert from 'node:assert/strict';
import { maintenanceApprovedLabel } from '@metal/api/wire/contract.ts';
import type { LifeRun } from '@metal/testenv/operator/life-run.ts';
import { type Life, testLives } from '@metal/testenv/operator/lives.ts';
import { testenvsOfFile } from '@metal/testenv/testenv.ts';
import type { Node } from '@metal/simulator/fleet.ts';
import type { Vendor } from '@metal/simulator/profiles.ts';
import { createVersion, updateNameOf, version, versionOf } from '../../fixtures/firmware-versions.ts';
import { approve, createBiosSettings, createBmcSettings } from '../../fixtures/settings-fixture.ts';

/** Updates of one server that runs for its claim, in one maintenance. */
interface Update {
  readonly title: string;
  readonly vendor: Vendor;
  readonly create: (run: LifeRun) => Promise<unknown>;
  /** The last object to be done, and the others. */
  readonly isDone: (run: LifeRun) => Promise<unknown>;
  /** The maintenance that asks for the approval. */
  readonly maintenance: (run: LifeRun) => string;
  /** Versions and values of the machine or its BMC in the end. */
  readonly result: (node: Node) => unknown;
}

const biosSettings: Update = {
  title: 'an update of BIOS settings',
  vendor: 'generic',
  create: (run) =>
    createBiosSettings(
      run.testenv,
      { node: run.node, name: updateNameOf(run) },
      { QuietBoot: 'false' },
      { MemoryTest: 'Enabled' },
    ),
  isDone: (run) => run.testenv.updates.biosSettings.named(updateNameOf(run)).reaches('Applied'),
  maintenance: updateNameOf,
  result: ({ machine }) => [machine.biosAttributes.QuietBoot, machine.biosAttributes.MemoryTest],
};

const biosVersion: Update = {
  title: 'an update of the BIOS',
  // A machine that loses power while its BMC writes the BIOS is broken.
  vendor: 'supermicro',
  create: (run) => createVersion(run, 'BIOS'),
  isDone: (run) => versionOf(run, 'BIOS').reaches('Completed'),
  maintenance: updateNameOf,
  result: ({ machine }) => machine.biosVersion,
};

const bmcSettings: Update = {
  title: 'an update of BMC settings',
  vendor: 'generic',
  create: (run) =>
    createBmcSettings(run.testenv, { node: run.node, name: updateNameOf(run) }, { abc: 'rack 7', fooreboot: '7' }),
  isDone: (run) => run.testenv.updates.bmcSettings.named(updateNameOf(run)).reaches('Applied'),
  maintenance: (run) => `bmc-settings-${updateNameOf(run)}-${run.serverName}`,
  result: ({ bmc }) => {
    const [set] = Object.values(bmc.profile.managerAttributes);
    return set && bmc.settings.stateOf('', set).current;
  },
};

const bmcVersion: Update = {
  title: 'an update of the BMC',
  vendor: 'dell',
  create: (run) => createVersion(run, 'BMC'),
  isDone: (run) => versionOf(run, 'BMC').reaches('Completed'),
  maintenance: (run) => `bmc-version-${updateNameOf(run)}-${run.serverName}`,
  result: ({ bmc }) => bmc.firmwareVersion,
};

const biosVersionWithSettings: Update = {
  ...biosVersion,
  title: 'an update of the BIOS with settings for it',
  vendor: 'generic',
  create: async (run) => {
    const { testenv, node } = run;
    await createBiosSettings(testenv, { node, name: updateNameOf(run), version }, { QuietBoot: 'false' });
    await biosVersion.create(run);
  },
  isDone: async (run) => {
    await biosVersion.isDone(run);
    await biosSettings.isDone(run);
  },
  result: ({ machine }) => [machine.biosVersion, machine.biosAttributes.QuietBoot],
};

/** From a running machine of a claim, with an approval, to one whose updates are done. */
const lifeOf = (update: Update): Life => ({
  title: update.title,
  node: { vendor: update.vendor },
  begin: async (run) => {
    await run.becomesAvailable();
    await run.isClaimed();
  },
  live: async (run) => {
    const { testenv, node } = run;
    const before = [...node.powerLog];
    await update.create(run);
    const maintenance = testenv.maintenances.named(update.maintenance(run));
    await maintenance.hasReason('WaitingForApproval');
    assert.deepEqual(node.powerLog, before, 'no restart without approval');
    await approve(testenv, run.claimName);
    await update.isDone(run);
    await maintenance.isGone();
    await isServedAgain(run);
  },
  verify: async (run) => {
    await run.hasEndState('the updated server');
    run.isSame('effects on the machine', effectsOn(run.node));
    run.isSame('result', update.result(run.node));
  },
});

async function isServedAgain({ testenv, node, server, serverName, claimName }: LifeRun): Promise<void> {
  await server.hasReason('ClaimServed');
  const { machine, bmc } = node;
  await server.until(
    'reports the versions',
    ({ status }) => status?.biosVersion === machine.biosVersion && status.bmcVersion === bmc.firmwareVersion,
  );
  const claim = testenv.claims.named(claimName);
  await claim.until('has no approval', ({ metadata }) => metadata.labels?.[maintenanceApprovedLabel] === undefined);
  const left = [...testenv.maintenances.all()].filter(({ spec }) => spec.serverRef.name === serverName);
  assert.deepEqual(left, []);
}

const effectsOn = ({ bmc, machine }: Node) => ({
  posts: [...bmc.traffic.byRoute].reduce(
    (sum, [route, count]) => (/^(POST|PUT) .*UpdateService/.test(route) ? sum + count : sum),
    0,
  ),
  flashes: bmc.flashes.map(({ component, version: flashed }) => `${component} ${flashed}`),
  bmcResets: bmc.resets.length,
  isBroken: machine.isBroken,
});

testLives(testenvsOfFile(), {
  outcome: 'updates claimed servers as without kills, after their approval',
  environment: {
    stepMs: 100,
    // After a kill an image is searched for a minute, and each start of an operator takes seconds.
    timeoutMs: 300_000,
    flags: () => [
      '--power-polling-interval=1s',
      '--server-resync-interval=5s',
      '--bmc-reset-waiting-interval=1s',
      '--bmc-reset-resync-interval=1s',
    ],
  },
  lives: [biosSettings, biosVersion, bmcSettings, bmcVersion, biosVersionWithSettings].map(lifeOf),
});
