import { minutes, seconds } from '@metal/kube/decide.ts';
import type { BootFacts } from './boot-facts.ts';
import type { ServerFacts, ServerPhase } from './facts.ts';
import { serverPhases } from './phases.ts';

/** What the tables about servers start from. */

export const readyBoot: BootFacts = {
  uid: 'boot-1',
  state: 'Ready',
  referenced: true,
  bootSeen: false,
  fetchedWhileOff: undefined,
  explanation: 'nothing yet',
  request: '',
  attempt: 1,
  stuck: undefined,
};
export const heldClaim = {
  standing: 'held',
  uid: 'claim-1',
  name: 'team/one',
  wantsPower: 'On',
  boot: readyBoot,
  bootPolicy: 'networkOnce',
  provisioned: false,
  reprovision: false,
  stopped: false,
  powerRecorded: true,
  uidRecorded: true,
  firstBootOwed: false,
} as const;

export const emptyQueue = {
  ahead: 0,
  running: 0,
  atOnce: 10,
  startedInHour: 0,
  perHour: 60,
  hourFreesInMs: minutes(60),
  room: 200,
} as const;

/** A fresh, switched-off server that everything is known of and nothing is wanted from. */
export const calmServer: ServerFacts = {
  duplicate: undefined,
  bmcName: 'rack1-bmc1',
  connection: undefined,
  bmc: { answers: true, exists: true, reason: 'Connected', message: '' },
  power: 'Off',
  powerSeenMsAgo: 100,
  nextLookInMs: minutes(2),
  transition: undefined,
  powerTimeoutMs: minutes(2),
  maxPowerAttempts: 5,
  powerForMs: minutes(10),
  powerCause: 'asked',
  hardware: undefined,
  hardwareIncomplete: false,
  hardwareSeenMsAgo: undefined,
  led: undefined,
  bootTargets: undefined,
  bootMethod: undefined,
  light: { wish: undefined, settled: true, refusal: undefined },
  bootOrder: { wish: undefined, settled: true, refusal: undefined },
  seenBootOrder: undefined,
  overrideSeen: false,
  inventoryRead: true,
  mayInterrupt: false,
  inPhaseForMs: seconds(5),
  discoveryTimeoutMs: minutes(30),
  discoveryAttempts: 0,
  maxDiscoveryAttempts: 5,
  operation: { kind: 'none' },
  parked: false,
  parkDeferralTold: false,
  maintenance: { standing: 'none', name: '', wantsPower: undefined, boot: undefined, missingBoot: undefined },
  stateBeforeMaintenance: undefined,
  failure: undefined,
  probeBoot: undefined,
  bootReferenced: false,
  foreignProbeBoot: 'none',
  report: 'absent',
  inventory: undefined,
  pendingBootUid: undefined,
  bootRenewedMsAgo: undefined,
  cleanup: {
    policy: { disks: 'None', bios: 'None', bootOrder: 'None' },
    needed: false,
    marksEarlierServer: false,
    clearance: undefined,
    attempt: 0,
    failedAttempts: 0,
    maxAttempts: 3,
    admitted: false,
    isAdmittedByLeader: false,
    queue: undefined,
    boot: undefined,
    otherBootLeft: false,
    hasRun: 'yes',
    poweredOnTime: undefined,
    report: undefined,
    record: undefined,
    bios: { kind: 'none' },
    bootOrder: { kind: 'none' },
    progress: '',
    withdrawn: false,
    heldTold: undefined,
    silentForMs: 0,
    timeoutMs: minutes(30),
    disksKnown: true,
    sharedDisk: undefined,
    overrideCleared: true,
    waiver: undefined,
  },
  claim: { standing: 'none' },
  reclaim: 'Recycle',
  enforcePowerOff: false,
  eviction: undefined,
  deletion: { heldByMaintenance: false, bootsLeft: false, saidFarewell: false },
};

export const turningOff = (sinceRequestMs: number, forced = false): ServerFacts['transition'] => ({
  target: 'Off',
  since: '2026-01-01T00:00:00.000Z',
  sinceRequestMs,
  attempts: 1,
  forced,
});
export const turningOn = (sinceRequestMs: number): ServerFacts['transition'] => ({
  target: 'On',
  since: '2026-01-01T00:00:00.000Z',
  sinceRequestMs,
  attempts: 1,
  forced: false,
});

/** The decision in two words: `act powerOff`, `go Reserved`, `wait Available`. */
export function decide(phase: ServerPhase, facts: ServerFacts): string {
  const decision = serverPhases[phase].judge(facts);
  const word = { go: 'phase', act: 'action', wait: 'reason', rest: 'kind' }[decision.kind];
  return `${decision.kind} ${String(Reflect.get(decision, word))}`;
}
