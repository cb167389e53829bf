import { minutes } from '@metal/kube/runtime/durations.ts';
import type { UpdatePhase } from '../../src/update-engine/decisions.ts';
import type { Attempt, Comparison, UpdateFacts, WindowFacts } from '../../src/update-engine/types.ts';

/** Facts of updates for the tables of tests. */

/** Each row: a title, the phase, the facts that differ from a new object, and what is decided. */
export type Line = [title: string, phase: UpdatePhase | 'deleted', facts: Partial<UpdateFacts>, decided: string];

const server = { apiVersion: '', kind: 'Server', metadata: { name: 'one' }, spec: { systemUUID: 'a' } };
const maintenance = {
  apiVersion: '',
  kind: 'ServerMaintenance',
  metadata: { name: 'bios', namespace: 'default' },
  spec: { serverRef: { name: 'one' } },
};
export const target = { bmcName: 'bmc', bmc: undefined, connection: undefined, servers: [server], blocker: undefined };
export const twoServers = { ...target, servers: [server, { ...server, metadata: { name: 'two' } }] };
export const blocked = { ...target, blocker: { reason: 'BMCNotReady', message: 'it does not answer' } };
const awaited = { reason: 'NoServer', message: '/2 has no Server yet' };
export const incomplete = { ...target, awaited };

export const noWindow: WindowFacts = {
  state: 'none',
  maintenances: [],
  own: [],
  missing: [server],
  held: [],
  explanation: 'Server one gets a ServerMaintenance',
  isEnding: false,
  power: undefined,
};
export const requested: WindowFacts = {
  ...noWindow,
  state: 'requested',
  maintenances: [maintenance],
  own: [maintenance],
  missing: [],
  power: 'On',
};
export const granted: WindowFacts = { ...requested, state: 'granted', held: [server] };
export const off: WindowFacts = { ...granted, power: 'Off' };

export const open: Comparison = {
  desired: 'new',
  steps: [{ name: '', changes: [{ name: 'BIOS', to: '2' }], restart: 'Host' }],
};
export const same: Comparison = { desired: 'new', steps: [] };
export const invalid: Comparison = { ...same, problem: { reason: 'ImageRefused', message: 'no image' } };
export const held: Comparison = { ...open, hold: { reason: 'OtherUpdateRuns', message: 'task 1' } };
export const early: Comparison = { ...open, hold: { reason: 'VersionUpgradePending', message: 'for 2', version: '2' } };

export const time = '2026-01-01T00:00:00Z';
export const begun: Attempt = { desired: 'new', startTime: time };
export const sent: Attempt = { ...begun, step: '', restart: 'Host', sendTime: time };
export const accepted: Attempt = { ...sent, acceptTime: time };
export const installed: Attempt = { ...accepted, installTime: time };
export const wasOff: Attempt = { ...installed, powerOffTime: time };
export const restarted: Attempt = { ...wasOff, resetTime: time };
export const task = { URI: '/task', state: 'Running', percentageComplete: 40 };
export const failure = { reason: 'UpgradeTaskFailed', message: 'wrong checksum', time };
export const overdue = { ...failure, reason: 'TaskOverdue', holdsMaintenance: true };

/** A new object, not compared yet. */
export const created: UpdateFacts = {
  target,
  rival: undefined,
  reference: 'none',
  retry: undefined,
  isDryRun: false,
  rolloutWait: undefined,
  holdsForRollout: false,
  comparison: undefined,
  comparedMsAgo: 0,
  isUnreadable: false,
  nextDriftCheckInMs: minutes(50),
  nextVariablesReadInMs: Infinity,
  window: noWindow,
  joinsWindow: false,
  hasVersionArrived: false,
  attempt: {},
  isRecorded: true,
  sending: undefined,
  task: undefined,
  nextPollInMs: 5_000,
  unhealthy: undefined,
  isHostOn: true,
  isHostOff: false,
  needsHostOn: true,
  restartsOnlyIfNeeded: false,
  isFlash: true,
  bmcReset: { isWanted: false, isUnderWay: false },
  failure: undefined,
  failedGeneration: undefined,
  failedAttempts: 0,
  maxAttempts: 0,
  nextAttemptInMs: 60_000,
  isCorrected: false,
  retriedBy: undefined,
  sentMsAgo: 0,
  startedMsAgo: 0,
  installedMsAgo: 0,
  restartedMsAgo: 0,
  timeoutMs: minutes(120),
  reservedBy: undefined,
  maintenanceLimit: 0,
  isDrift: false,
};

export const differs: Partial<UpdateFacts> = { comparison: open };
export const inWindow: Partial<UpdateFacts> = { comparison: open, window: granted, attempt: begun };
export const following = (attempt: Attempt, more: Partial<UpdateFacts> = {}): Partial<UpdateFacts> => ({
  ...inWindow,
  attempt,
  ...more,
});
export const lateSettings: Partial<UpdateFacts> = { isFlash: false, startedMsAgo: minutes(121) };
export const heldBy = 'metal.ironcore.dev/operation=ignore';
export const late: Partial<UpdateFacts> = { sentMsAgo: minutes(121) };
