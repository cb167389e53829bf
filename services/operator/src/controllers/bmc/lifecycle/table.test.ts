import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { BmcFacts, BmcPhase } from './facts.ts';
import { bmcTable } from './table.ts';
import type { ResetFacts } from '../reset/resets.ts';

const seen = { at: 0, manager: undefined, systems: [] };
const connected: BmcFacts = {
  ip: '192.0.2.1',
  macAddress: undefined,
  connection: undefined,
  blocker: undefined,
  failure: undefined,
  rejectedLogin: undefined,
  observation: seen,
  nextPollInMs: 60_000,
  managerRecorded: true,
  isNew: false,
  systems: { create: [], update: [], rejected: [] },
  rejection: undefined,
  operation: undefined,
  reset: noReset(),
  sshHostKey: undefined,
};
function noReset(reset: Partial<ResetFacts> = {}): ResetFacts {
  return {
    record: undefined,
    pending: undefined,
    isSent: false,
    wanted: undefined,
    outcome: undefined,
    quietForMs: 0,
    nextTryInMs: 60_000,
    hasResponded: false,
    automaticInMs: undefined,
    ...reset,
  };
}
const graceful = { kind: 'reset', value: 'graceful-restart-bmc', method: 'Redfish' } as const;
const park = { kind: 'unsupported', value: 'park' } as const;
const record = { requestedBy: 'User', method: 'Redfish', since: '2026-01-01T00:00:00Z', attempts: 0 } as const;
const wanted = { requestedBy: 'User', method: 'Redfish', attempts: 0, why: 'UserRequested' } as const;
const fallback = { ...wanted, method: 'SSH', why: 'FallbackToSSH' } as const;
const automatic = { ...wanted, requestedBy: 'Automatic', why: 'AutoResetting' } as const;
const of = record.since;
const failure = (retryInMs: number, needsHuman = false): BmcFacts['failure'] => ({
  reason: 'Unreachable',
  message: 'away',
  needsHuman,
  mayRepeat: !needsHuman,
  retryInMs,
});
const failed = { reason: 'TlsUntrusted', message: 'who is it', needsHuman: true, mayRepeat: true } as const;
const blocker = { reason: 'BMCSecretNotFound', message: 'create it' } as const;
const system = { name: 'bmc-system-0', systemUUID: 'u', systemURI: '/redfish/v1/Systems/1', annotations: {} };

const lines: [title: string, phase: BmcPhase, facts: Partial<BmcFacts>, decided: string][] = [
  ['a BMC that was never seen is looked at', 'Pending', { observation: undefined }, 'act observe'],
  ['a BMC that answered is Enabled', 'Pending', {}, 'go Enabled'],
  ['a BMC without credentials waits for a person', 'Pending', { blocker }, 'go Error'],
  ['a failure is waited out', 'Pending', { failure: failure(5_000) }, 'wait Unreachable'],
  ['a failure that is over is tried again', 'Pending', { failure: failure(0) }, 'act observe'],
  ['a refusal is not tried again', 'Pending', { failure: failure(0, true) }, 'go Error'],
  ['an enabled BMC that fails is Pending', 'Enabled', { failure: failure(5_000) }, 'go Pending'],
  ['an enabled BMC that refuses us is in Error', 'Enabled', { failure: failure(5_000, true) }, 'go Error'],
  ['an enabled BMC is looked at now and then', 'Enabled', { nextPollInMs: 0 }, 'act observe'],
  ['the manager is recorded before anything is said', 'Pending', { managerRecorded: false }, 'act recordManager'],
  ['the manager that was found is recorded', 'Enabled', { managerRecorded: false }, 'act recordManager'],
  [
    'new systems become Servers',
    'Enabled',
    { systems: { create: [system], update: [], rejected: [] } },
    'act createServers',
  ],
  [
    'systems that are refused are told by an event',
    'Enabled',
    { rejection: { reason: 'TooManySystems', message: 'too many', isReported: false } },
    'act recordRejectionEvent',
  ],
  [
    '… once',
    'Enabled',
    { rejection: { reason: 'TooManySystems', message: 'too many', isReported: true } },
    'wait Connected',
  ],
  ['a calm BMC waits for its next look', 'Enabled', {}, 'wait Connected'],
  ['Error says what a person can do', 'Error', { failure: failure(0, true) }, 'wait Unreachable'],
  ['a certificate may have been put right', 'Error', { failure: { ...failed, retryInMs: 0 } }, 'act observe'],
  ['it is looked at slowly', 'Error', { failure: { ...failed, retryInMs: 5_000 } }, 'wait TlsUntrusted'],
  ['Error ends when the obstacle does', 'Error', {}, 'go Pending'],
  ['Error stays while the obstacle does', 'Error', { blocker }, 'wait BMCSecretNotFound'],
  ['what a BMC does not do is taken off', 'Enabled', { operation: park }, 'act dropOperation'],
  ['… also while it fails', 'Pending', { operation: park, failure: failure(5_000) }, 'act dropOperation'],
  ['… and in Error', 'Error', { operation: park, blocker }, 'act dropOperation'],
  ['… and while it resets', 'Resetting', { operation: park }, 'act dropOperation'],
  ['… and before it resets', 'ResetRequested', { operation: park }, 'act dropOperation'],
  ['a reset is begun when somebody asks', 'Enabled', { reset: noReset({ wanted }) }, 'go ResetRequested'],
  [
    '… also of a BMC that does not answer',
    'Pending',
    { failure: failure(5_000), reset: noReset({ wanted }) },
    'go ResetRequested',
  ],
  [
    '… and of one that refuses us',
    'Error',
    { failure: failure(5_000, true), reset: noReset({ wanted }) },
    'go ResetRequested',
  ],
  [
    'a failing BMC is reset by itself when that is due',
    'Pending',
    { failure: failure(5_000), reset: noReset({ wanted: automatic }) },
    'go ResetRequested',
  ],
  [
    'the wish is written down first',
    'ResetRequested',
    { operation: graceful, reset: noReset({ wanted }) },
    'act acceptReset',
  ],
  [
    'a wish without annotation is written down at the end of the turn',
    'ResetRequested',
    { reset: noReset({ wanted: fallback }) },
    'wait FallbackToSSH',
  ],
  [
    'after a reset that failed the BMC is looked at anew',
    'Pending',
    { observation: undefined, reset: noReset({ record: { ...record, sentAt: of, failedAt: of } }) },
    'act observe',
  ],
  [
    'after a crash the annotation still goes first',
    'ResetRequested',
    { operation: graceful, reset: noReset({ record, pending: record }) },
    'act acceptReset',
  ],
  [
    'what is written down is sent next',
    'ResetRequested',
    { reset: noReset({ record, pending: record }) },
    'go Resetting',
  ],
  ['a reset that nobody wants any more is dropped', 'ResetRequested', {}, 'go Pending'],
  ['a reset is sent when it is marked', 'Resetting', { reset: noReset({ record, pending: record }) }, 'act sendReset'],
  [
    'a BMC that restarts is left alone',
    'Resetting',
    { reset: noReset({ isSent: true, quietForMs: 9_000 }) },
    'wait WaitingForReset',
  ],
  [
    '… and not restarted a second time',
    'Resetting',
    { operation: graceful, reset: noReset({ isSent: true, quietForMs: 9_000, wanted }) },
    'act dropOperation',
  ],
  [
    '… but when it stays away, it is when somebody asks',
    'Resetting',
    { operation: graceful, reset: noReset({ isSent: true, wanted }) },
    'go ResetRequested',
  ],
  ['then it is tried', 'Resetting', { reset: noReset({ isSent: true, nextTryInMs: 0 }) }, 'act observe'],
  ['… now and then', 'Resetting', { reset: noReset({ isSent: true }) }, 'wait WaitingForReset'],
  ['… until it answers', 'Resetting', { reset: noReset({ isSent: true, hasResponded: true }) }, 'go Pending'],
  [
    'a BMC that is too sick for Redfish is reset by SSH',
    'Resetting',
    { reset: noReset({ isSent: true, wanted: fallback, outcome: { of, kind: 'noRedfish', message: 'away' } }) },
    'go ResetRequested',
  ],
  [
    'a reset that cannot be carried out ends',
    'Resetting',
    { reset: noReset({ outcome: { of, kind: 'failed', reason: 'InternalServerError', message: 'SSH reset failed' } }) },
    'go Pending',
  ],
];

for (const [title, phase, facts, decided] of lines) {
  test(`${phase}: ${title}`, () => {
    const decision = bmcTable[phase].decide({ ...connected, ...facts });
    const field = { go: 'phase', act: 'action', wait: 'reason', rest: 'kind' }[decision.kind];
    assert.equal(`${decision.kind} ${String(Reflect.get(decision, field))}`, decided);
  });
}
