import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { allowInterruptionAnnotation } from '@metal/api/wire/contract.ts';
import { ServerClaim } from '@metal/api/v1alpha1/server-claim.ts';
import { minutes } from '@metal/kube/decide.ts';
import type { ClaimHandle } from '@metal/lab/claim-handle.ts';
import { type Lab, openLab } from '@metal/lab/lab.ts';
import { untilChanged } from '@metal/lab/subject.ts';
import type { Node } from '@metal/simulator/fleet.ts';
import { type FaultEntry, faultEntries, type PhaseWord, phases, wrongPassword } from './fault-cells.ts';

/** By then each step has said what it waits for: a look every 10 s, and three tries of 10 s each. */
const deadlineMs = minutes(2);
/** The same, after a discovery. */
const laterDeadlineMs = minutes(4);
/** So many machines at once that the others do not make them late. */
export const cellsAtOnce = 30;

const entries: Readonly<Record<string, FaultEntry>> = { ...faultEntries, wrongPassword };

/** One fault that strikes in one phase. */
export interface FaultCell {
  readonly title: string;
  readonly entry: FaultEntry;
  readonly phase: PhaseWord;
}

/** Every fault in every phase; with METAL_CELL those whose title contains it. */
export const faultCells: readonly FaultCell[] = Object.entries(entries)
  .flatMap(([name, entry]) => phases.map((phase) => ({ entry, phase, title: `${name} ${phase}` })))
  .filter(({ title }) => title.includes(process.env.METAL_CELL ?? ''));

/** Every fault once, each in another of the phases in which it is reported than the one before. */
export const oneCellPerFault: readonly FaultCell[] = Object.entries(entries).flatMap(([name, entry], index) => {
  const reporting = phases.filter((phase) => entry.says[phase] !== undefined);
  const phase = reporting[index % reporting.length];
  return phase === undefined ? [] : [{ entry, phase, title: `${name} ${phase}` }];
});

/** A test of its own for each cell, all on one rack. */
export async function surviveAll(t: TestContext, cells: readonly FaultCell[]): Promise<void> {
  await using lab = await openLab({
    // Slow enough that a busy host is not taken for a late operator.
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
  const nodes = await lab.rack({ generic: cells.length });
  await Promise.all(
    cells.map(({ entry, phase, title }, index) =>
      t.test(`${title} is survived`, async () => {
        const node = nodes[index];
        assert.ok(node);
        await survive(lab, node, phase, entry);
      }),
    ),
  );
}

async function survive(lab: Lab, node: Node, phase: PhaseWord, entry: FaultEntry): Promise<void> {
  const stage = stages[phase];
  const claim = await stage.reach(lab, node);
  await entry.begin(node, phase);
  const begunAt = lab.clock.now();
  await stage.goOn(lab, node, claim);
  const reasons = entry.says[phase];
  if (reasons !== undefined) {
    await isSaid(lab, node, reasons);
    const tookMs = lab.clock.now() - begunAt;
    const most = entry.metLater === true ? laterDeadlineMs : deadlineMs;
    assert.ok(tookMs <= most, `${reasons.join(' or ')} was said after ${Math.round(tookMs / 1_000)} s`);
    if (entry.overcome !== true) await node.bmc.heal();
    await entry.person?.(lab, node, phase);
  }
  await stage.ends(lab, node, claim);
}

/** Some condition of the BMC or of the Server has one of the reasons. */
function isSaid(lab: Lab, node: Node, reasons: readonly string[]): Promise<void> {
  const follow = (check: () => void) => lab.onChange(check);
  return untilChanged(
    node.name,
    `says ${reasons.join(' or ')}`,
    () =>
      [lab.bmc(node).now?.status?.conditions, lab.server(node).now?.status?.conditions]
        .flatMap((conditions) => conditions ?? [])
        .some(({ reason }) => reasons.includes(reason)),
    follow,
    lab.timeline,
  );
}

interface Stage {
  /** Until the fault strikes. */
  readonly reach: (lab: Lab, node: Node) => Promise<ClaimHandle | undefined>;
  /** What a person does then, if anything. */
  readonly goOn: (lab: Lab, node: Node, claim: ClaimHandle | undefined) => Promise<void>;
  /** Where it is to arrive. */
  readonly ends: (lab: Lab, node: Node, claim: ClaimHandle | undefined) => Promise<void>;
}

const nothing = async (): Promise<undefined> => undefined;

async function isFree(lab: Lab, node: Node): Promise<void> {
  await lab
    .server(node)
    .until(
      'is free, on a BMC that answers',
      ({ status }) =>
        (status?.conditions?.some(({ type, reason }) => type === 'Ready' && reason === 'Available') ?? false) &&
        lab.bmc(node).now?.status?.state === 'Enabled',
    );
  assert.equal(node.power, 'Off');
}

async function isServed(lab: Lab, node: Node): Promise<void> {
  await lab.server(node).says('ClaimServed');
  await lab.bmc(node).reaches('Enabled');
}

async function becomesFree(lab: Lab, node: Node): Promise<undefined> {
  await lab.plugIn(node);
  await isFree(lab, node);
}

async function becomesReserved(lab: Lab, node: Node, power: 'On' | 'Off'): Promise<ClaimHandle> {
  await becomesFree(lab, node);
  const claim = await lab.claim({ image: 'registry.test/os:1', on: node, power });
  await lab.server(node).says('ClaimServed');
  return claim;
}

const stages: Readonly<Record<PhaseWord, Stage>> = {
  'before its BMC is known': { reach: nothing, goOn: (lab, node) => lab.plugIn(node), ends: isFree },
  'in Initial': {
    reach: async (lab, node) => {
      node.machine.turnOn();
      await lab.machine(node).until('runs', () => node.power === 'On');
      await lab.plugIn(node);
      await lab.server(node).says('RunningServerLeftAlone');
      return undefined;
    },
    goOn: async (lab, node) => {
      const { metadata } = await lab.server(node).exists();
      await lab.patchServer(metadata.name, { metadata: { annotations: { [allowInterruptionAnnotation]: 'true' } } });
    },
    ends: isFree,
  },
  'in Discovery': {
    reach: async (lab, node) => {
      await lab.plugIn(node);
      await lab.machine(node).until('is on for its probe', () => node.power === 'On');
      return undefined;
    },
    goOn: nothing,
    ends: isFree,
  },
  'in Available': { reach: becomesFree, goOn: nothing, ends: isFree },
  'Reserved and off': {
    reach: (lab, node) => becomesReserved(lab, node, 'Off'),
    goOn: async (lab, _node, claim) => {
      assert.ok(claim);
      await lab.client.mergePatch(ServerClaim, { namespace: 'default', name: claim.name }, { spec: { power: 'On' } });
    },
    ends: async (lab, node) => {
      await lab.machine(node).until('runs its image', () => node.running?.role === 'os');
      await isServed(lab, node);
    },
  },
  'Reserved and running': {
    reach: (lab, node) => becomesReserved(lab, node, 'On'),
    goOn: nothing,
    ends: async (lab, node) => {
      await isServed(lab, node);
      assert.equal(node.running?.role, 'os', 'the tenant noticed nothing');
      assert.deepEqual(node.powerLog, ['On', 'Off', 'On']);
    },
  },
  'on release': {
    reach: (lab, node) => becomesReserved(lab, node, 'On'),
    goOn: async (_lab, _node, claim) => claim?.delete(),
    ends: async (lab, node, claim) => {
      await claim?.isGone();
      await isFree(lab, node);
    },
  },
};
