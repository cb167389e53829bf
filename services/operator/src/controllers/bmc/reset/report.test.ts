import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { BMC } from '@metal/api/v1alpha1/bmc.ts';
import type { BmcFacts, BmcPhase } from '../lifecycle/facts.ts';
import { resetCondition } from './report.ts';
import type { ResetFacts } from './resets.ts';

const sentAt = '2026-01-01T00:00:00Z';
const record = { requestedBy: 'User', method: 'Redfish', since: sentAt, sentAt, attempts: 1 } as const;
const rejected = {
  kind: 'failed',
  of: sentAt,
  reason: 'ResetRefused',
  message:
    'BMC reset refused: /redfish/v1/Managers/1 does not offer reset type GracefulRestart; it offers ForceRestart',
} as const;

/** The condition Reset of a BMC with this earlier status of it. */
function reportedReset(
  before: 'True' | 'False' | undefined,
  phase: BmcPhase,
  reset: Partial<ResetFacts>,
): string | undefined {
  const previous = {
    type: 'Reset',
    status: before ?? 'True',
    reason: 'Earlier',
    message: '',
    lastTransitionTime: sentAt,
  };
  const bmc: BMC = {
    apiVersion: 'metal.ironcore.dev/v1alpha1',
    kind: 'BMC',
    metadata: { name: 'bmc' },
    spec: { bmcSecretRef: { name: 'bmc' }, protocol: { name: 'Redfish', port: 443 } },
    status: { conditions: before === undefined ? [] : [previous] },
  };
  const none = { record: undefined, pending: undefined, isSent: false, wanted: undefined, outcome: undefined };
  const facts = { reset: { ...none, ...reset } } as unknown as BmcFacts; // the report of resets reads nothing else
  const [condition] = resetCondition(bmc, facts, { phase, phaseSince: sentAt, decision: { kind: 'wait' } });
  return condition && `${condition.status} ${condition.reason}: ${condition.message}`;
}

test('a BMC has no condition Reset before the first reset', () =>
  assert.equal(reportedReset(undefined, 'Enabled', {}), undefined));

test('a running reset is reported, and its completion when the BMC is back', () => {
  assert.match(reportedReset(undefined, 'Resetting', { record, isSent: true }) ?? '', /^True UserRequested/);
  assert.match(reportedReset('True', 'Pending', { record, isSent: true }) ?? '', /^False ResetComplete/);
  assert.match(reportedReset('True', 'Enabled', {}) ?? '', /^False ResetComplete/);
});

test('a rejected reset reports the supported reset types, and does not become complete when the BMC answers', () => {
  assert.equal(
    reportedReset('True', 'Pending', { record, isSent: true, outcome: rejected }),
    `False ResetRefused: ${rejected.message}`,
  );
  assert.equal(
    reportedReset('False', 'Pending', { record: { ...record, failedAt: sentAt } }),
    undefined,
    'it stays as it is',
  );
  assert.equal(reportedReset('False', 'Enabled', {}), undefined, 'it stays as it is');
});
