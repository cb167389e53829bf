import { minutes, seconds } from '@metal/kube/runtime/durations.ts';
import type { BootFacts } from './boot/configuration-facts.ts';
import { serverTable } from './table.ts';
import type { ServerFacts, ServerPhase } from './types.ts';

/** Facts and helpers of the table tests. */

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
export const boundClaim = {
  binding: 'bound',
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
  firstBootPending: false,
} as const;

export const emptyQueue = {
  ahead: 0,
  running: 0,
  atOnce: 10,
  startedInHour: 0,
  perHour: 60,
  nextHourlySlotInMs: minutes(60),
  available: 200,
} as const;

/** An available server that is off and needs no action. */
export const calmServer: ServerFacts = {
  duplicate: undefined,
  bmcName: 'rack1-bmc1',
  connection: undefined,
  bmc: { isReachable: true, exists: true, reason: 'Connected', message: '' },
  power: 'Off',
  powerSeenMsAgo: 100,
  nextPollInMs: minutes(2),
  transition: undefined,
  powerTimeoutMs: minutes(2),
  maxPowerAttempts: 5,
  powerForMs: minutes(10),
  powerCause: 'requested',
  hardware: undefined,
  hardwareIncomplete: false,
  hardwareSeenMsAgo: undefined,
  health: undefined,
  unhealthyPartsDue: false,
  healthChange: undefined,
  led: undefined,
  bootTargets: undefined,
  bootMethod: undefined,
  light: { desired: undefined, isDone: true, rejection: undefined },
  bootOrder: { desired: undefined, isDone: true, rejection: undefined },
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
  parkDeferralReported: false,
  maintenance: { state: 'none', name: '', wantsPower: undefined, boot: undefined, missingBoot: undefined },
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
    lastHeldMessage: undefined,
    noProgressForMs: 0,
    timeoutMs: minutes(30),
    disksKnown: true,
    sharedDisk: undefined,
    overrideCleared: true,
    waiver: undefined,
  },
  claim: { binding: 'unbound' },
  reclaim: 'Recycle',
  enforcePowerOff: false,
  eviction: undefined,
  deletion: { heldByMaintenance: false, bootsLeft: false, deletionReported: false },
};

export const poweringOff = (sinceRequestMs: number, forced = false): ServerFacts['transition'] => ({
  target: 'Off',
  since: '2026-01-01T00:00:00.000Z',
  sinceRequestMs,
  attempts: 1,
  forced,
});
export const poweringOn = (sinceRequestMs: number): ServerFacts['transition'] => ({
  target: 'On',
  since: '2026-01-01T00:00:00.000Z',
  sinceRequestMs,
  attempts: 1,
  forced: false,
});

/** The decision as text: `act powerOff`, `go Reserved`, `wait Available`. */
export function decide(phase: ServerPhase, facts: ServerFacts): string {
  const decision = serverTable[phase].decide(facts);
  const field = { go: 'phase', act: 'action', wait: 'reason', rest: 'kind' }[decision.kind];
  return `${decision.kind} ${String(Reflect.get(decision, field))}`;
}
