import { ServerClaim } from '@metal/api/v1alpha1/server-claim.ts';
import type { Testenv } from '@metal/testenv/testenv.ts';
import type { Faults, UpdateFaults } from '@metal/simulator/faults.ts';
import type { Node } from '@metal/simulator/fleet.ts';

/** The phases of a machine in which a fault is injected. */
export const phases = [
  'before its BMC is known',
  'in Initial',
  'in Discovery',
  'in Available',
  'Reserved and off',
  'Reserved and running',
  'on release',
] as const;
export type FaultPhase = (typeof phases)[number];

/** Reasons to be reported on the BMC or the Server; undefined where the fault has no effect. */
type Expectation = readonly string[] | undefined;

export interface FaultEntry {
  readonly inject: (node: Node, phase: FaultPhase) => void | Promise<void>;
  readonly expectedReasons: Readonly<Record<FaultPhase, Expectation>>;
  /** The machine continues although the fault stays: the operator has a workaround. */
  readonly isTolerated?: true;
  /** Detected only at the next power change, which may be a whole discovery later. */
  readonly isDetectedLate?: true;
  /** An additional action of an administrator, where an automatic retry would be wrong or does not exist. */
  readonly intervene?: (testenv: Testenv, node: Node, phase: FaultPhase) => Promise<void>;
}

const everywhere = (...reasons: string[]): Record<FaultPhase, Expectation> => ({
  'before its BMC is known': reasons,
  'in Initial': reasons,
  'in Discovery': reasons,
  'in Available': reasons,
  'Reserved and off': reasons,
  'Reserved and running': reasons,
  'on release': reasons,
});

const only = (expectedReasons: Partial<Record<FaultPhase, Expectation>>): Record<FaultPhase, Expectation> => ({
  'before its BMC is known': undefined,
  'in Initial': undefined,
  'in Discovery': undefined,
  'in Available': undefined,
  'Reserved and off': undefined,
  'Reserved and running': undefined,
  'on release': undefined,
  ...expectedReasons,
});

/** Every fault of the simulator that concerns these phases; a new one without an entry does not compile. */
export const faultEntries: Readonly<Record<Exclude<keyof Faults, keyof UpdateFaults>, FaultEntry>> = {
  latencyMs: { inject: ({ bmc }) => bmc.latency(60_000), expectedReasons: everywhere('TimedOut') },
  hang: { inject: ({ bmc }) => bmc.hang(), expectedReasons: everywhere('TimedOut') },
  refuses: { inject: ({ bmc }) => bmc.refuse(), expectedReasons: everywhere('Unreachable') },
  status: { inject: ({ bmc }) => bmc.answer(503), expectedReasons: everywhere('ConnectionFailed') },
  cutsConnections: { inject: ({ bmc }) => bmc.cutConnections(), expectedReasons: everywhere('Unreachable') },
  // The request takes effect, which the next refresh observes.
  failsWriteResponses: {
    inject: ({ bmc }) => bmc.failWriteResponses(500),
    expectedReasons: only({}),
  },
  dripMs: { inject: ({ bmc }) => bmc.drip(30_000), expectedReasons: everywhere('TimedOut') },
  truncates: { inject: ({ bmc }) => bmc.truncate(), expectedReasons: everywhere('BadAnswer') },
  answersGarbage: { inject: ({ bmc }) => bmc.answerGarbage(), expectedReasons: everywhere('BadAnswer') },
  untrusted: { inject: ({ bmc }) => bmc.showUntrustedCertificate(), expectedReasons: everywhere('TlsUntrusted') },
  uuid: {
    // Before the first discovery the other UUID is as good as any.
    inject: ({ bmc }, phase) => (phase === 'before its BMC is known' ? undefined : bmc.reportUuid(anotherUuid)),
    expectedReasons: { ...everywhere('StaleDecision'), 'before its BMC is known': undefined },
  },
  anonymous: {
    inject: ({ bmc }) => bmc.set({ anonymous: true }),
    expectedReasons: { ...everywhere('StaleDecision'), 'before its BMC is known': ['SystemWithoutUUID'] },
  },
  // Events only make refreshes happen earlier.
  eventsDisabled: { inject: ({ bmc }) => bmc.set({ eventsDisabled: true }), expectedReasons: only({}) },
  // Health changes conditions and nothing else.
  health: { inject: ({ bmc }) => bmc.reportHealth('Critical'), expectedReasons: only({}) },
  managerHealth: { inject: ({ bmc }) => bmc.set({ managerHealth: 'Critical' }), expectedReasons: only({}) },
  // Accounts are written only for BMCUsers.
  manglesPasswords: { inject: ({ bmc }) => bmc.set({ manglesPasswords: true }), expectedReasons: only({}) },
  // Affects only cleanups that reset settings.
  lacksBiosReset: { inject: ({ bmc }) => bmc.set({ lacksBiosReset: true }), expectedReasons: only({}) },
  biosResetStuck: { inject: ({ bmc }) => bmc.set({ biosResetStuck: true }), expectedReasons: only({}) },
  // No settings are sent in these phases.
  rejectsAttribute: { inject: ({ bmc }) => bmc.rejectAttribute('BootMode'), expectedReasons: only({}) },
  dropsPendingSettings: { inject: ({ bmc }) => bmc.dropPendingSettings(), expectedReasons: only({}) },
  keepsPendingSettings: { inject: ({ bmc }) => bmc.keepPendingSettings(), expectedReasons: only({}) },
  mirrorsSettings: { inject: ({ bmc }) => bmc.mirrorSettings(), expectedReasons: only({}) },
  ignoresBootOrder: { inject: ({ bmc }) => bmc.set({ ignoresBootOrder: true }), expectedReasons: only({}) },
  ignoresOverride: {
    inject: ({ bmc }) => bmc.ignoreOverride(),
    isDetectedLate: true,
    // A tenant's machine that is on without boot progress is not restarted automatically.
    intervene: async (testenv, node, phase) => (phase === 'Reserved and off' ? switchAgain(testenv, node) : undefined),
    expectedReasons: only({
      'before its BMC is known': ['WaitingForProbe'],
      'in Initial': ['WaitingForProbe'],
      'Reserved and off': ['WaitingForBoot'],
    }),
  },
  powerNeverChanges: {
    inject: ({ bmc }) => bmc.freezePower(),
    isDetectedLate: true,
    expectedReasons: only({
      'before its BMC is known': ['WaitingForPowerOn'],
      'in Initial': ['WaitingForPowerOff'],
      'in Discovery': ['WaitingForPowerOff'],
      'Reserved and off': ['WaitingForPowerOn'],
      'on release': ['WaitingForPowerOff'],
    }),
  },
  ignoresShutdown: {
    inject: ({ bmc }) => bmc.ignoreShutdown(),
    isDetectedLate: true,
    isTolerated: true,
    expectedReasons: only({
      'before its BMC is known': ['WaitingForPowerOff', 'ShutdownIgnored'],
      'in Initial': ['WaitingForPowerOff', 'ShutdownIgnored'],
      'in Discovery': ['WaitingForPowerOff', 'ShutdownIgnored'],
      'on release': ['WaitingForPowerOff', 'ShutdownIgnored'],
    }),
  },
};

/** A BMC with a changed password, which is not a fault of the simulator. */
export const wrongPassword: FaultEntry = {
  inject: ({ bmc }) => {
    bmc.password = anotherPassword;
    bmc.dropSessions();
  },
  expectedReasons: everywhere('AuthenticationFailed'),
  // A rejected password is not sent again: that could lock the account.
  intervene: (testenv, { name }) => testenv.secrets.setTexts(name, { password: anotherPassword }),
};

const anotherUuid = '11111111-2222-4333-8444-555555555555';
const anotherPassword = 'changed-at-the-bmc';

async function switchAgain(testenv: Testenv, node: Node): Promise<void> {
  const { spec } = await testenv.server(node).exists();
  const claim = { namespace: 'default', name: spec.serverClaimRef?.name ?? '' };
  await testenv.client.mergePatch(ServerClaim, claim, { spec: { power: 'Off' } });
  await testenv.machine(node).until('is off', () => node.power === 'Off');
  await testenv.client.mergePatch(ServerClaim, claim, { spec: { power: 'On' } });
}
