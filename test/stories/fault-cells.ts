import { ServerClaim } from '@metal/api/v1alpha1/server-claim.ts';
import type { Lab } from '@metal/lab/lab.ts';
import type { Faults } from '@metal/simulator/faults.ts';
import type { Node } from '@metal/simulator/fleet.ts';

/** The way of a machine, and where on it a fault strikes. */
export const phases = [
  'before its BMC is known',
  'in Initial',
  'in Discovery',
  'in Available',
  'Reserved and off',
  'Reserved and running',
  'on release',
] as const;
export type PhaseWord = (typeof phases)[number];

/** What has to be said on the BMC or the Server; undefined where the fault meets nothing and all goes on as ever. */
type Expectation = readonly string[] | undefined;

export interface FaultEntry {
  readonly begin: (node: Node, phase: PhaseWord) => void | Promise<void>;
  readonly says: Readonly<Record<PhaseWord, Expectation>>;
  /** Goes on although the fault stays: the operator has a way around it. */
  readonly overcome?: true;
  /** Met only when the machine changes its power next, which may be a whole discovery later. */
  readonly metLater?: true;
  /** What a person has to do besides, where asking again by itself would be wrong or is not done. */
  readonly person?: (lab: Lab, node: Node, phase: PhaseWord) => Promise<void>;
}

const everywhere = (...reasons: string[]): Record<PhaseWord, Expectation> => ({
  'before its BMC is known': reasons,
  'in Initial': reasons,
  'in Discovery': reasons,
  'in Available': reasons,
  'Reserved and off': reasons,
  'Reserved and running': reasons,
  'on release': reasons,
});

const only = (says: Partial<Record<PhaseWord, Expectation>>): Record<PhaseWord, Expectation> => ({
  'before its BMC is known': undefined,
  'in Initial': undefined,
  'in Discovery': undefined,
  'in Available': undefined,
  'Reserved and off': undefined,
  'Reserved and running': undefined,
  'on release': undefined,
  ...says,
});

/** Every fault of the simulator; a new one without an entry does not compile. */
export const faultEntries: Readonly<Record<keyof Faults, FaultEntry>> = {
  latencyMs: { begin: ({ bmc }) => bmc.latency(60_000), says: everywhere('TimedOut') },
  hang: { begin: ({ bmc }) => bmc.hang(), says: everywhere('TimedOut') },
  refuses: { begin: ({ bmc }) => bmc.refuse(), says: everywhere('Unreachable') },
  status: { begin: ({ bmc }) => bmc.answer(503), says: everywhere('ConnectionFailed') },
  cutsConnections: { begin: ({ bmc }) => bmc.cutConnections(), says: everywhere('Unreachable') },
  // What was asked for happens, and that is seen at the next look.
  spoilsWrites: {
    begin: ({ bmc }) => bmc.spoilWrites(500),
    says: only({}),
  },
  dripMs: { begin: ({ bmc }) => bmc.drip(30_000), says: everywhere('TimedOut') },
  truncates: { begin: ({ bmc }) => bmc.truncate(), says: everywhere('BadAnswer') },
  talksRubbish: { begin: ({ bmc }) => bmc.talkRubbish(), says: everywhere('BadAnswer') },
  untrusted: { begin: ({ bmc }) => bmc.showUntrustedCertificate(), says: everywhere('TlsUntrusted') },
  uuid: {
    // A stranger from the start is a machine like any other.
    begin: ({ bmc }, phase) => (phase === 'before its BMC is known' ? undefined : bmc.reportUuid(anotherUuid)),
    says: { ...everywhere('StaleDecision'), 'before its BMC is known': undefined },
  },
  anonymous: {
    begin: ({ bmc }) => bmc.set({ anonymous: true }),
    says: { ...everywhere('StaleDecision'), 'before its BMC is known': ['SystemWithoutUUID'] },
  },
  // Events only make looks prompter.
  eventsDisabled: { begin: ({ bmc }) => bmc.set({ eventsDisabled: true }), says: only({}) },
  // Accounts are written only for BMCUsers.
  manglesPasswords: { begin: ({ bmc }) => bmc.set({ manglesPasswords: true }), says: only({}) },
  // Met only by cleanups that reset settings.
  lacksBiosReset: { begin: ({ bmc }) => bmc.set({ lacksBiosReset: true }), says: only({}) },
  biosResetStuck: { begin: ({ bmc }) => bmc.set({ biosResetStuck: true }), says: only({}) },
  ignoresBootOrder: { begin: ({ bmc }) => bmc.set({ ignoresBootOrder: true }), says: only({}) },
  ignoresOverride: {
    begin: ({ bmc }) => bmc.ignoreOverride(),
    metLater: true,
    // A tenant's machine that is on and shows no boot is not restarted without being asked.
    person: async (lab, node, phase) => (phase === 'Reserved and off' ? switchAgain(lab, node) : undefined),
    says: only({
      'before its BMC is known': ['WaitingForProbe'],
      'in Initial': ['WaitingForProbe'],
      'Reserved and off': ['WaitingForBoot'],
    }),
  },
  powerNeverChanges: {
    begin: ({ bmc }) => bmc.freezePower(),
    metLater: true,
    says: only({
      'before its BMC is known': ['WaitingForPowerOn'],
      'in Initial': ['WaitingForPowerOff'],
      'in Discovery': ['WaitingForPowerOff'],
      'Reserved and off': ['WaitingForPowerOn'],
      'on release': ['WaitingForPowerOff'],
    }),
  },
  ignoresShutdown: {
    begin: ({ bmc }) => bmc.ignoreShutdown(),
    metLater: true,
    overcome: true,
    says: only({
      'before its BMC is known': ['WaitingForPowerOff', 'ShutdownIgnored'],
      'in Initial': ['WaitingForPowerOff', 'ShutdownIgnored'],
      'in Discovery': ['WaitingForPowerOff', 'ShutdownIgnored'],
      'on release': ['WaitingForPowerOff', 'ShutdownIgnored'],
    }),
  },
};

/** What goes wrong with a BMC without any fault of the simulator. */
export const wrongPassword: FaultEntry = {
  begin: ({ bmc }) => {
    bmc.password = anotherPassword;
    bmc.dropSessions();
  },
  says: everywhere('AuthenticationFailed'),
  // A password that was refused is not sent again: that could lock the account.
  person: (lab, { name }) => lab.patchSecret(name, { password: anotherPassword }),
};

const anotherUuid = '11111111-2222-4333-8444-555555555555';
const anotherPassword = 'changed-at-the-bmc';

async function switchAgain(lab: Lab, node: Node): Promise<void> {
  const { spec } = await lab.server(node).exists();
  const claim = { namespace: 'default', name: spec.serverClaimRef?.name ?? '' };
  await lab.client.mergePatch(ServerClaim, claim, { spec: { power: 'Off' } });
  await lab.machine(node).until('is off', () => node.power === 'Off');
  await lab.client.mergePatch(ServerClaim, claim, { spec: { power: 'On' } });
}
