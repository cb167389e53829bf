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
  certificateToRecord: undefined,
  rejectedLogin: undefined,
  observation: seen,
  nextPollInMs: 60_000,
  managerRecorded: true,
  isNew: false,
  isDecommissioned: false,
  systems: { create: [], update: [], rejected: [], noMachines: [] },
  rejection: undefined,
  health: undefined,
  healthChange: undefined,
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
  ['a new BMC is observed', 'Pending', { observation: undefined }, 'act observe'],
  ['a BMC that answered is Enabled', 'Pending', {}, 'go Enabled'],
  ['a BMC without credentials goes to Error', 'Pending', { blocker }, 'go Error'],
  ['a failure is retried after a pause', 'Pending', { failure: failure(5_000) }, 'wait Unreachable'],
  ['… which ends', 'Pending', { failure: failure(0) }, 'act observe'],
  ['a rejected login is not retried', 'Pending', { failure: failure(0, true) }, 'go Error'],
  ['an enabled BMC that fails is Pending', 'Enabled', { failure: failure(5_000) }, 'go Pending'],
  ['an enabled BMC that rejects the login goes to Error', 'Enabled', { failure: failure(5_000, true) }, 'go Error'],
  ['an enabled BMC is observed periodically', 'Enabled', { nextPollInMs: 0 }, 'act observe'],
  ['the manager is recorded before the first status', 'Pending', { managerRecorded: false }, 'act recordManager'],
  ['a manager that is found later is recorded', 'Enabled', { managerRecorded: false }, 'act recordManager'],
  [
    'new systems become Servers',
    'Enabled',
    { systems: { create: [system], update: [], rejected: [], noMachines: [] } },
    'act createServers',
  ],
  [
    'rejected systems are reported by an event',
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
  ['a BMC in steady state waits for its next observation', 'Enabled', {}, 'wait Connected'],
  ['a failure in Error keeps its reason', 'Error', { failure: failure(0, true) }, 'wait Unreachable'],
  ['an untrusted certificate is retried', 'Error', { failure: { ...failed, retryInMs: 0 } }, 'act observe'],
  ['… after a pause', 'Error', { failure: { ...failed, retryInMs: 5_000 } }, 'wait TlsUntrusted'],
  [
    'the first certificate is recorded before anything else is done',
    'Pending',
    { failure: { ...failed, retryInMs: 5_000 }, certificateToRecord: 'AB:CD' },
    'act recordCertificate',
  ],
  [
    '… also when the record of an enabled BMC was removed',
    'Enabled',
    { failure: { ...failed, retryInMs: 5_000 }, certificateToRecord: 'AB:CD' },
    'act recordCertificate',
  ],
  [
    '… and of a BMC in Error',
    'Error',
    { failure: { ...failed, retryInMs: 5_000 }, certificateToRecord: 'AB:CD' },
    'act recordCertificate',
  ],
  ['Error ends when the blocker is gone', 'Error', {}, 'go Pending'],
  ['Error stays while the blocker exists', 'Error', { blocker }, 'wait BMCSecretNotFound'],
  ['an unsupported operation is removed', 'Enabled', { operation: park }, 'act dropOperation'],
  ['… also while it fails', 'Pending', { operation: park, failure: failure(5_000) }, 'act dropOperation'],
  ['… and in Error', 'Error', { operation: park, blocker }, 'act dropOperation'],
  ['… and while it resets', 'Resetting', { operation: park }, 'act dropOperation'],
  ['… and before it resets', 'ResetRequested', { operation: park }, 'act dropOperation'],
  ['a requested reset starts', 'Enabled', { reset: noReset({ wanted }) }, 'go ResetRequested'],
  [
    '… also on a BMC that does not answer',
    'Pending',
    { failure: failure(5_000), reset: noReset({ wanted }) },
    'go ResetRequested',
  ],
  [
    '… and on a BMC that rejects the login',
    'Error',
    { failure: failure(5_000, true), reset: noReset({ wanted }) },
    'go ResetRequested',
  ],
  [
    'a failing BMC is reset automatically when due',
    'Pending',
    { failure: failure(5_000), reset: noReset({ wanted: automatic }) },
    'go ResetRequested',
  ],
  [
    'the request is recorded before the annotation is removed',
    'ResetRequested',
    { operation: graceful, reset: noReset({ wanted }) },
    'act acceptReset',
  ],
  [
    'a request without annotation is recorded at the end of the reconcile',
    'ResetRequested',
    { reset: noReset({ wanted: fallback }) },
    'wait FallbackToSSH',
  ],
  [
    'the BMC is observed again after a failed reset',
    'Pending',
    { observation: undefined, reset: noReset({ record: { ...record, sentAt: of, failedAt: of } }) },
    'act observe',
  ],
  [
    'the annotation is removed first after a crash, too',
    'ResetRequested',
    { operation: graceful, reset: noReset({ record, pending: record }) },
    'act acceptReset',
  ],
  ['a recorded reset is sent next', 'ResetRequested', { reset: noReset({ record, pending: record }) }, 'go Resetting'],
  ['a reset that is no longer requested is dropped', 'ResetRequested', {}, 'go Pending'],
  [
    'a reset is sent after it is marked as sent',
    'Resetting',
    { reset: noReset({ record, pending: record }) },
    'act sendReset',
  ],
  [
    'a BMC that restarts gets no request',
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
    '… but again on request, when it does not come back',
    'Resetting',
    { operation: graceful, reset: noReset({ isSent: true, wanted }) },
    'go ResetRequested',
  ],
  [
    'the BMC is observed after the quiet time',
    'Resetting',
    { reset: noReset({ isSent: true, nextTryInMs: 0 }) },
    'act observe',
  ],
  ['… periodically', 'Resetting', { reset: noReset({ isSent: true }) }, 'wait WaitingForReset'],
  ['… until it answers', 'Resetting', { reset: noReset({ isSent: true, hasResponded: true }) }, 'go Pending'],
  [
    'a BMC without working Redfish is reset over SSH',
    'Resetting',
    { reset: noReset({ isSent: true, wanted: fallback, outcome: { of, kind: 'noRedfish', message: 'away' } }) },
    'go ResetRequested',
  ],
  [
    'a failed reset ends',
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
