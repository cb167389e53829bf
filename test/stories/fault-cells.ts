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
  readonly begin: (node: Node) => void | Promise<void>;
  readonly says: Readonly<Record<PhaseWord, Expectation>>;
  /** Goes on although the fault stays: the operator has a way around it. */
  readonly overcome?: true;
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
  dripMs: { begin: ({ bmc }) => bmc.drip(30_000), says: everywhere('TimedOut') },
  truncates: { begin: ({ bmc }) => bmc.truncate(), says: everywhere('BadAnswer') },
  talksRubbish: { begin: ({ bmc }) => bmc.talkRubbish(), says: everywhere('BadAnswer') },
  untrusted: { begin: ({ bmc }) => bmc.showUntrustedCertificate(), says: everywhere('TlsUntrusted') },
  uuid: {
    begin: ({ bmc }) => bmc.reportUuid('11111111-2222-4333-8444-555555555555'),
    says: { ...everywhere('StaleDecision'), 'before its BMC is known': undefined },
  },
  ignoresOverride: {
    begin: ({ bmc }) => bmc.ignoreOverride(),
    says: only({
      'before its BMC is known': ['WaitingForProbe'],
      'in Initial': ['WaitingForProbe'],
      'Reserved and off': ['WaitingForBoot'],
    }),
  },
  powerNeverChanges: {
    begin: ({ bmc }) => bmc.freezePower(),
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
    overcome: true,
    says: only({
      'before its BMC is known': ['WaitingForPowerOff'],
      'in Initial': ['WaitingForPowerOff'],
      'in Discovery': ['WaitingForPowerOff'],
      'on release': ['WaitingForPowerOff'],
    }),
  },
};
