import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { allowInterruptionAnnotation } from '@metal/api/wire/contract.ts';
import { ServerClaim } from '@metal/api/v1alpha1/server-claim.ts';
import { minutes } from '@metal/kube/runtime/durations.ts';
import type { ClaimHandle } from '@metal/testenv/cluster/claim-handle.ts';
import { type Testenv, startTestenv } from '@metal/testenv/testenv.ts';
import { untilChanged } from '@metal/testenv/cluster/watched-object.ts';
import type { Node } from '@metal/simulator/fleet.ts';
import { type FaultEntry, faultEntries, type FaultPhase, phases, wrongPassword } from './fault-entries.ts';

/** By then each step has reported what it waits for: a refresh every 10 s, and three attempts of 10 s each. */
const deadlineMs = minutes(2);
/** The same, after a discovery. */
const laterDeadlineMs = minutes(4);
/** As many machines at once as do not slow each other down. */
export const maxConcurrentCells = 30;

const entries: Readonly<Record<string, FaultEntry>> = { ...faultEntries, wrongPassword };

/** One fault in one phase. */
export interface FaultCell {
  readonly title: string;
  readonly entry: FaultEntry;
  readonly phase: FaultPhase;
}

/** Every fault in every phase; with METAL_CELL those whose title contains it. */
export const faultCells: readonly FaultCell[] = Object.entries(entries)
  .flatMap(([name, entry]) => phases.map((phase) => ({ entry, phase, title: `${name} ${phase}` })))
  .filter(({ title }) => title.includes(process.env.METAL_CELL ?? ''));

/** Every fault once, each in the next of its reported phases after the one of the fault before. */
export const oneCellPerFault: readonly FaultCell[] = Object.entries(entries).flatMap(([name, entry], index) => {
  const reporting = phases.filter((phase) => entry.expectedReasons[phase] !== undefined);
  const phase = reporting[index % reporting.length];
  return phase === undefined ? [] : [{ entry, phase, title: `${name} ${phase}` }];
});

/** A subtest for each cell, all in one test environment. */
export async function surviveAll(t: TestContext, cells: readonly FaultCell[]): Promise<void> {
  await using testenv = await startTestenv({
    // Slow enough that a busy host is not mistaken for a late operator.
    speed: 3,
    bmcCa: true,
    fleet: { https: true },
    flags: [
      '--protocol=https',
      '--server-resync-interval=10s',
      '--bmc-resync-interval=10s',
      '--bmc-call-timeout=10s',
      '--power-polling-timeout=20s',
      '--discovery-timeout=2m',
    ],
  });
  const nodes = await testenv.addNodes({ generic: cells.length });
  await Promise.all(
    cells.map(({ entry, phase, title }, index) =>
      t.test(`${title} is survived`, async () => {
        const node = nodes[index];
        assert.ok(node);
        await survive(testenv, node, phase, entry);
      }),
    ),
  );
}

async function survive(testenv: Testenv, node: Node, phase: FaultPhase, entry: FaultEntry): Promise<void> {
  const stage = stages[phase];
  const claim = await stage.reach(testenv, node);
  await entry.inject(node, phase);
  const startedAt = testenv.clock.now();
  await stage.proceed(testenv, node, claim);
  const reasons = entry.expectedReasons[phase];
  if (reasons !== undefined) {
    await untilReported(testenv, node, reasons);
    if (claim !== undefined && entry.isTolerated !== true) await untilReportedOnClaim(testenv, claim, reasons);
    const tookMs = testenv.clock.now() - startedAt;
    const most = entry.isDetectedLate === true ? laterDeadlineMs : deadlineMs;
    assert.ok(tookMs <= most, `${reasons.join(' or ')} was reported after ${Math.round(tookMs / 1_000)} s`);
    if (entry.isTolerated !== true) await node.bmc.heal();
    await entry.intervene?.(testenv, node, phase);
  }
  await stage.assertEnd(testenv, node, claim);
}

/** Some condition of the BMC or of the Server has one of the reasons. */
function untilReported(testenv: Testenv, node: Node, reasons: readonly string[]): Promise<void> {
  const follow = (check: () => void) => testenv.onChange(check);
  return untilChanged(
    node.name,
    `reports ${reasons.join(' or ')}`,
    () =>
      [testenv.bmc(node).now?.status?.conditions, testenv.server(node).now?.status?.conditions]
        .flatMap((conditions) => conditions ?? [])
        .some(({ reason }) => reasons.includes(reason)),
    follow,
    testenv.timeline,
  );
}

/** The claim names the cause, for a tenant who can read nothing else. */
async function untilReportedOnClaim(testenv: Testenv, claim: ClaimHandle, reasons: readonly string[]): Promise<void> {
  await untilChanged(
    claim.name,
    `is not Ready and names ${reasons.join(' or ')}`,
    () => {
      const { status, reason = '', message = '' } = claim.watched.condition('Ready') ?? {};
      const names = (cause: string) => reason === cause || message.includes(`(${cause})`);
      return status === 'False' && reasons.some(names);
    },
    (check) => testenv.onChange(check),
    testenv.timeline,
  );
}

interface Stage {
  /** Reaches the phase in which the fault is injected. */
  readonly reach: (testenv: Testenv, node: Node) => Promise<ClaimHandle | undefined>;
  /** The next action of a user, if there is one. */
  readonly proceed: (testenv: Testenv, node: Node, claim: ClaimHandle | undefined) => Promise<void>;
  /** The state to be reached in the end. */
  readonly assertEnd: (testenv: Testenv, node: Node, claim: ClaimHandle | undefined) => Promise<void>;
}

const nothing = async (): Promise<undefined> => undefined;

async function isFree(testenv: Testenv, node: Node): Promise<void> {
  await testenv
    .server(node)
    .until(
      'is Available, on a BMC that answers',
      ({ status }) =>
        (status?.conditions?.some(({ type, reason }) => type === 'Ready' && reason === 'Available') ?? false) &&
        testenv.bmc(node).now?.status?.state === 'Enabled',
    );
  assert.equal(node.power, 'Off');
}

async function isServed(testenv: Testenv, node: Node): Promise<void> {
  await testenv.server(node).hasReason('ClaimServed');
  await testenv.bmc(node).reaches('Enabled');
}

async function becomesFree(testenv: Testenv, node: Node): Promise<undefined> {
  await testenv.plugIn(node);
  await isFree(testenv, node);
}

async function becomesReserved(testenv: Testenv, node: Node, power: 'On' | 'Off'): Promise<ClaimHandle> {
  await becomesFree(testenv, node);
  const claim = await testenv.claim({ image: 'registry.test/os:1', on: node, power });
  await testenv.server(node).hasReason('ClaimServed');
  return claim;
}

const stages: Readonly<Record<FaultPhase, Stage>> = {
  'before its BMC is known': { reach: nothing, proceed: (testenv, node) => testenv.plugIn(node), assertEnd: isFree },
  'in Initial': {
    reach: async (testenv, node) => {
      node.machine.turnOn();
      await testenv.machine(node).until('runs', () => node.power === 'On');
      await testenv.plugIn(node);
      await testenv.server(node).hasReason('RunningServerLeftAlone');
      return undefined;
    },
    proceed: async (testenv, node) => {
      const { metadata } = await testenv.server(node).exists();
      await testenv.servers.patch(metadata.name, {
        metadata: { annotations: { [allowInterruptionAnnotation]: 'true' } },
      });
    },
    assertEnd: isFree,
  },
  'in Discovery': {
    reach: async (testenv, node) => {
      await testenv.plugIn(node);
      await testenv.machine(node).until('is on for its probe', () => node.power === 'On');
      return undefined;
    },
    proceed: nothing,
    assertEnd: isFree,
  },
  'in Available': { reach: becomesFree, proceed: nothing, assertEnd: isFree },
  'Reserved and off': {
    reach: (testenv, node) => becomesReserved(testenv, node, 'Off'),
    proceed: async (testenv, _node, claim) => {
      assert.ok(claim);
      await testenv.client.mergePatch(
        ServerClaim,
        { namespace: 'default', name: claim.name },
        { spec: { power: 'On' } },
      );
    },
    assertEnd: async (testenv, node) => {
      await testenv.machine(node).until('runs its image', () => node.running?.role === 'os');
      await isServed(testenv, node);
    },
  },
  'Reserved and running': {
    reach: (testenv, node) => becomesReserved(testenv, node, 'On'),
    proceed: nothing,
    assertEnd: async (testenv, node) => {
      await isServed(testenv, node);
      assert.equal(node.running?.role, 'os', "the tenant's machine was not disturbed");
      assert.deepEqual(node.powerLog, ['On', 'Off', 'On']);
    },
  },
  'on release': {
    reach: (testenv, node) => becomesReserved(testenv, node, 'On'),
    proceed: async (_testenv, _node, claim) => claim?.delete(),
    assertEnd: async (testenv, node, claim) => {
      await claim?.isGone();
      await isFree(testenv, node);
    },
  },
};
