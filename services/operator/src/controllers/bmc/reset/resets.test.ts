import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { BMC } from '@metal/api/v1alpha1/bmc.ts';
import { RedfishError, type RedfishErrorCode } from '@metal/redfish/errors.ts';
import { ObservedBmc, type ResetOutcome } from '../../../bmc-connections/observed-bmc.ts';
import { operationOf, type ResetRecord, resetFactsOf } from './resets.ts';

const minute = 60_000;
const start = Date.parse('2026-01-01T00:00:00Z');
const at = (minutes: number): string => new Date(start + minutes * minute).toISOString().replace(/\.\d+Z$/, 'Z');

interface Scene {
  readonly operation?: string;
  readonly record?: Partial<ResetRecord>;
  readonly failing?: { readonly code: RedfishErrorCode; readonly status?: number; readonly sinceMinute: number };
  readonly seenAtMinute?: number;
  readonly triedAtMinute?: number;
  readonly outcome?: ResetOutcome;
  readonly delayMinutes?: number;
  readonly nowMinute?: number;
}

function bmcOf({ operation, record }: Scene): BMC {
  const whole = { requestedBy: 'User', method: 'Redfish', since: at(0), attempts: 1, ...record } as const;
  return {
    apiVersion: 'metal.ironcore.dev/v1alpha1',
    kind: 'BMC',
    metadata: {
      name: 'bmc',
      ...(operation === undefined ? {} : { annotations: { 'metal.ironcore.dev/operation': operation } }),
    },
    spec: { bmcSecretRef: { name: 'bmc' }, protocol: { name: 'Redfish', port: 443 } },
    status: record === undefined ? {} : { reset: whole },
  };
}

function factsOf(scene: Scene) {
  const observed = new ObservedBmc(undefined);
  const { failing, seenAtMinute, triedAtMinute, outcome, delayMinutes = 0, nowMinute = 0 } = scene;
  if (seenAtMinute !== undefined)
    observed.record({ at: start + seenAtMinute * minute, manager: undefined, systems: [] });
  if (failing !== undefined) {
    const error = new RedfishError({ code: failing.code, message: 'it fails', status: failing.status });
    observed.recordFailure(error, start + failing.sinceMinute * minute, 0);
  }
  if (triedAtMinute !== undefined) observed.triedAt = start + triedAtMinute * minute;
  observed.resetOutcome = outcome;
  const limits = {
    bmcFailureResetDelayMs: delayMinutes * minute,
    bmcResetWaitingMs: 2 * minute,
    bmcResetResyncMs: minute,
  };
  return resetFactsOf(bmcOf(scene), observed, limits, start + nowMinute * minute);
}

for (const [value, kind] of [
  ['graceful-restart-bmc', 'reset'],
  ['force-ssh-reset-bmc', 'reset'],
  ['graceful-restart-server', 'unsupported'],
  ['hard-restart-server', 'unsupported'],
  ['rotate-credentials', 'unsupported'],
  ['retry', 'unsupported'],
  ['no-such-thing', 'unsupported'],
  ['ignore', undefined],
  ['ignore-child', undefined],
  ['ignore-child-and-self', undefined],
  ['ignore-propagated', undefined],
  ['', undefined],
] as const) {
  test(`the operation "${value}" is ${kind ?? 'ignored'}`, () => {
    assert.equal(operationOf(bmcOf({ operation: value }))?.kind, kind);
  });
}

const service = { code: 'Busy', status: 503, sinceMinute: 0 } as const;
const cases: [title: string, scene: Scene, wanted: string | undefined][] = [
  ['a BMC in steady state needs no reset', {}, undefined],
  ['an annotation requests a graceful restart', { operation: 'graceful-restart-bmc' }, 'User Redfish'],
  ['an annotation requests a reset over SSH', { operation: 'force-ssh-reset-bmc' }, 'User SSH'],
  ['a recorded reset is not requested again', { operation: 'graceful-restart-bmc', record: {} }, undefined],
  [
    'a BMC without working Redfish is reset over SSH',
    { record: { sentAt: at(1) }, outcome: { of: at(1), kind: 'noRedfish', message: '' } },
    'User SSH',
  ],
  [
    '… with the requester of the first attempt',
    { record: { sentAt: at(1), requestedBy: 'Automatic' }, outcome: { of: at(1), kind: 'noRedfish', message: '' } },
    'Automatic SSH',
  ],
  [
    '… once',
    { record: { sentAt: at(1), method: 'SSH' }, outcome: { of: at(1), kind: 'noRedfish', message: '' } },
    undefined,
  ],
  [
    'the outcome of an earlier reset is ignored',
    { record: { sentAt: at(2) }, outcome: { of: at(1), kind: 'noRedfish', message: '' } },
    undefined,
  ],
  ['a failing BMC is never reset automatically without a delay', { failing: service, nowMinute: 600 }, undefined],
  ['a failing BMC is not reset before the delay', { failing: service, delayMinutes: 10, nowMinute: 9 }, undefined],
  [
    'a failing BMC is reset after the delay',
    { failing: service, delayMinutes: 10, nowMinute: 11 },
    'Automatic Redfish',
  ],
  [
    'an unreachable BMC is reset after the delay',
    { failing: { code: 'Unreachable', sinceMinute: 0 }, delayMinutes: 10, nowMinute: 11 },
    'Automatic Redfish',
  ],
  [
    'a BMC that times out is reset after the delay',
    { failing: { code: 'TimedOut', sinceMinute: 0 }, delayMinutes: 10, nowMinute: 11 },
    'Automatic Redfish',
  ],
  [
    'a rejected login never causes a reset',
    { failing: { code: 'AuthenticationFailed', status: 401, sinceMinute: 0 }, delayMinutes: 10, nowMinute: 600 },
    undefined,
  ],
  [
    'an untrusted certificate never causes a reset',
    { failing: { code: 'TlsUntrusted', sinceMinute: 0 }, delayMinutes: 10, nowMinute: 600 },
    undefined,
  ],
  [
    'an automatic reset is repeated after a pause',
    { failing: service, delayMinutes: 10, nowMinute: 20, record: { sentAt: at(11), attempts: 1 } },
    undefined,
  ],
  [
    '… which ends',
    { failing: service, delayMinutes: 10, nowMinute: 22, record: { sentAt: at(11), attempts: 1 } },
    'Automatic Redfish',
  ],
  [
    'each pause is twice the previous one',
    { failing: service, delayMinutes: 10, nowMinute: 40, record: { sentAt: at(11), attempts: 3 } },
    undefined,
  ],
  [
    'a failed reset is repeated after a pause, too',
    { failing: service, delayMinutes: 10, nowMinute: 20, record: { sentAt: at(11), failedAt: at(12), attempts: 1 } },
    undefined,
  ],
];

for (const [title, scene, wanted] of cases) {
  test(title, () => {
    const facts = factsOf(scene);
    assert.equal(facts.wanted && `${facts.wanted.requestedBy} ${facts.wanted.method}`, wanted);
  });
}

const sent = { sentAt: at(0) };
const returns: [title: string, scene: Scene, hasResponded: boolean][] = [
  ['an observation before the reset is no response after it', { record: sent, seenAtMinute: 0, nowMinute: 3 }, false],
  [
    'a response in the quiet time may be the last before the restart',
    { record: sent, seenAtMinute: 1, nowMinute: 3 },
    false,
  ],
  ['a response after the quiet time ends the reset', { record: sent, seenAtMinute: 2, nowMinute: 3 }, true],
  [
    'a rejected login after the quiet time is a response',
    {
      record: sent,
      triedAtMinute: 3,
      nowMinute: 3,
      failing: { code: 'AuthenticationFailed', status: 401, sinceMinute: 3 },
    },
    true,
  ],
  [
    'a failure of the service is no response',
    { record: sent, triedAtMinute: 3, nowMinute: 3, failing: { ...service, sinceMinute: 3 } },
    false,
  ],
];

for (const [title, scene, hasResponded] of returns) {
  test(title, () => assert.equal(factsOf(scene).hasResponded, hasResponded));
}

test('a resetting BMC gets no request in the quiet time, then one per interval', () => {
  assert.equal(factsOf({ record: sent, nowMinute: 1 }).quietForMs, minute);
  assert.equal(factsOf({ record: sent, nowMinute: 2 }).nextTryInMs, 0);
  assert.equal(factsOf({ record: sent, nowMinute: 2, triedAtMinute: 2 }).nextTryInMs, minute);
});

for (const value of ['constructor', 'toString', '__proto__', 'hasOwnProperty'])
  test(`the operation ${value} is unsupported: it is no name of a reset`, () => {
    assert.deepEqual(operationOf(bmcOf({ operation: value })), { kind: 'unsupported', value });
  });
