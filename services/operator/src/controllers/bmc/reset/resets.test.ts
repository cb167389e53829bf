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
  test(`the operation "${value}" is ${kind ?? 'left alone'}`, () => {
    assert.equal(operationOf(bmcOf({ operation: value }))?.kind, kind);
  });
}

const service = { code: 'Busy', status: 503, sinceMinute: 0 } as const;
const cases: [title: string, scene: Scene, wanted: string | undefined][] = [
  ['nothing is wanted of a calm BMC', {}, undefined],
  ['a person wants a graceful restart', { operation: 'graceful-restart-bmc' }, 'User Redfish'],
  ['a person wants SSH', { operation: 'force-ssh-reset-bmc' }, 'User SSH'],
  ['what is recorded is not wanted again', { operation: 'graceful-restart-bmc', record: {} }, undefined],
  [
    'a BMC too sick for Redfish is to be reset by SSH',
    { record: { sentAt: at(1) }, outcome: { of: at(1), kind: 'noRedfish', message: '' } },
    'User SSH',
  ],
  [
    '… by whoever asked for it first',
    { record: { sentAt: at(1), requestedBy: 'Automatic' }, outcome: { of: at(1), kind: 'noRedfish', message: '' } },
    'Automatic SSH',
  ],
  [
    '… once',
    { record: { sentAt: at(1), method: 'SSH' }, outcome: { of: at(1), kind: 'noRedfish', message: '' } },
    undefined,
  ],
  [
    'what came of an earlier reset does not matter',
    { record: { sentAt: at(2) }, outcome: { of: at(1), kind: 'noRedfish', message: '' } },
    undefined,
  ],
  ['without a delay nothing is reset by itself', { failing: service, nowMinute: 600 }, undefined],
  ['before the delay nothing is reset by itself', { failing: service, delayMinutes: 10, nowMinute: 9 }, undefined],
  ['after the delay it is', { failing: service, delayMinutes: 10, nowMinute: 11 }, 'Automatic Redfish'],
  [
    'a BMC that cannot be reached is, too',
    { failing: { code: 'Unreachable', sinceMinute: 0 }, delayMinutes: 10, nowMinute: 11 },
    'Automatic Redfish',
  ],
  [
    'a BMC that does not answer in time is, too',
    { failing: { code: 'TimedOut', sinceMinute: 0 }, delayMinutes: 10, nowMinute: 11 },
    'Automatic Redfish',
  ],
  [
    'wrong credentials are never a reason for a reset',
    { failing: { code: 'AuthenticationFailed', status: 401, sinceMinute: 0 }, delayMinutes: 10, nowMinute: 600 },
    undefined,
  ],
  [
    'an untrusted certificate is never a reason for a reset',
    { failing: { code: 'TlsUntrusted', sinceMinute: 0 }, delayMinutes: 10, nowMinute: 600 },
    undefined,
  ],
  [
    'a reset that did not help is cooled down first',
    { failing: service, delayMinutes: 10, nowMinute: 20, record: { sentAt: at(11), attempts: 1 } },
    undefined,
  ],
  [
    '… and then repeated',
    { failing: service, delayMinutes: 10, nowMinute: 22, record: { sentAt: at(11), attempts: 1 } },
    'Automatic Redfish',
  ],
  [
    'each pause is twice the one before',
    { failing: service, delayMinutes: 10, nowMinute: 40, record: { sentAt: at(11), attempts: 3 } },
    undefined,
  ],
  [
    'a reset that failed is cooled down, too',
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
  ['a look before the reset is no answer after it', { record: sent, seenAtMinute: 0, nowMinute: 3 }, false],
  [
    'an answer in the quiet time may be the last before the restart',
    { record: sent, seenAtMinute: 1, nowMinute: 3 },
    false,
  ],
  ['an answer after the quiet time is one', { record: sent, seenAtMinute: 2, nowMinute: 3 }, true],
  [
    'a refusal after the quiet time is one, too',
    {
      record: sent,
      triedAtMinute: 3,
      nowMinute: 3,
      failing: { code: 'AuthenticationFailed', status: 401, sinceMinute: 3 },
    },
    true,
  ],
  [
    'a failure is none',
    { record: sent, triedAtMinute: 3, nowMinute: 3, failing: { ...service, sinceMinute: 3 } },
    false,
  ],
];

for (const [title, scene, hasResponded] of returns) {
  test(title, () => assert.equal(factsOf(scene).hasResponded, hasResponded));
}

test('a resetting BMC is left alone, then tried, then tried again after the interval', () => {
  assert.equal(factsOf({ record: sent, nowMinute: 1 }).quietForMs, minute);
  assert.equal(factsOf({ record: sent, nowMinute: 2 }).nextTryInMs, 0);
  assert.equal(factsOf({ record: sent, nowMinute: 2, triedAtMinute: 2 }).nextTryInMs, minute);
});
