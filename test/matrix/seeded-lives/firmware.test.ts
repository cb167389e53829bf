import assert from 'node:assert/strict';
import type { BIOSVersion } from '@metal/api/v1alpha1/bios-version.ts';
import type { LifeRun } from '@metal/testenv/operator/life-run.ts';
import { type Life, type NamedFaultPoint, testLives } from '@metal/testenv/operator/lives.ts';
import { testenvsOfFile } from '@metal/testenv/testenv.ts';
import type { Vendor } from '@metal/simulator/profiles.ts';
import { createVersion, type FirmwareKind, version, versionOf } from '../../fixtures/firmware-versions.ts';
import { startsSince } from '../../fixtures/update-fixture.ts';

type Status = NonNullable<BIOSVersion['status']>;

/** An update of a server that has no claim. */
interface Update {
  readonly kind: FirmwareKind;
  readonly vendor: Vendor;
  /** Starts of the machine. */
  readonly starts: number;
}

const updates: readonly Update[] = [
  { kind: 'BIOS', vendor: 'generic', starts: 2 },
  { kind: 'BIOS', vendor: 'dell', starts: 2 },
  { kind: 'BIOS', vendor: 'supermicro', starts: 2 },
  { kind: 'BMC', vendor: 'dell', starts: 1 },
  { kind: 'NIC', vendor: 'generic', starts: 2 },
];

const lifeOf = ({ kind, vendor, starts }: Update): Life => ({
  title: `a ${kind} update of ${vendor}`,
  isNamedOnly: true,
  isOneTest: true,
  node: { vendor },
  begin: (run) => run.becomesAvailable(),
  live: async (run) => {
    const { node, server } = run;
    const before = node.powerLog.length;
    await createVersion(run, kind);
    await versionOf(run, kind).reaches('Completed');
    await server.hasReason('Available');
    assert.equal(startsSince(node, before), starts);
  },
  verify: async ({ node, server }) => {
    await server.hasReason('Available');
    const flashed = node.bmc.flashes.map((flash) => flash.version);
    assert.deepEqual(flashed, [version]);
    assert.equal(node.machine.isBroken, false);
  },
  faultPoints: faultPointsOf(kind),
});

function faultPointsOf(kind: FirmwareKind): Record<string, NamedFaultPoint> {
  const statusOf = (run: LifeRun) => versionOf(run, kind).now?.status;
  const whenRecorded = (name: keyof NonNullable<Status['attempt']>) => (run: LifeRun) =>
    statusOf(run)?.attempt?.[name] !== undefined;
  const requests = [4, 8, 12, 16, 20, 28].map(
    (number) => [`request ${number} is answered`, { kind: 'answered', number }] as const,
  );
  return {
    'it has its maintenance': whenRecorded('startTime'),
    'it is about to send': whenRecorded('sendTime'),
    // The operator does not know it yet.
    'the BMC has accepted': ({ node }) => node.bmc.requests.at(-1)?.path.endsWith('SimpleUpdate') === true,
    'the acceptance is recorded': whenRecorded('acceptTime'),
    'the installation is recorded': whenRecorded('installTime'),
    // An update of a BMC does not turn the machine off.
    ...(kind === 'BMC' ? {} : { 'the machine is off': whenRecorded('powerOffTime') }),
    'the restart is recorded': whenRecorded('resetTime'),
    'it is complete': (run) => statusOf(run)?.state === 'Completed',
    ...Object.fromEntries(requests),
  };
}

testLives(testenvsOfFile(), {
  outcome: 'flashes once, and reaches the same end',
  environment: {
    stepMs: 100,
    // After a kill an update is searched for a minute, and each start of an operator takes seconds.
    timeoutMs: 300_000,
    flags: () => ['--power-polling-interval=1s', '--bmc-reset-waiting-interval=1s', '--bmc-reset-resync-interval=1s'],
  },
  lives: updates.map(lifeOf),
});
