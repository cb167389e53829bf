import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Server } from '@metal/api/v1alpha1/server.ts';
import { healthChangeOf, healthCondition, type ObservedHealth, reportedHealthOf } from './health-condition.ts';

const server = (reason?: string, message = ''): Server => ({
  apiVersion: 'metal.ironcore.dev/v1alpha1',
  kind: 'Server',
  metadata: { name: 'one' },
  spec: { systemUUID: 'a' },
  status: {
    conditions:
      reason === undefined
        ? []
        : [{ type: 'Healthy', status: 'False', reason, message, lastTransitionTime: '2026-01-01T00:00:00Z' }],
  },
});
const psu = { name: 'PSU 2', health: 'Critical' } as const;
const fan = { name: 'Fan 4', health: 'Warning' } as const;

const rows: [title: string, observed: ObservedHealth, expected: [string, string, string]][] = [
  ['OK', { level: 'OK', parts: undefined }, ['True', 'HardwareOK', 'the BMC reports no fault']],
  [
    'Warning, before the parts are read',
    { level: 'Warning', parts: undefined },
    ['False', 'HardwareWarning', 'the BMC reports Warning; the parts concerned are not read yet'],
  ],
  [
    'Critical, with parts',
    { level: 'Critical', parts: [psu, fan] },
    ['False', 'HardwareCritical', 'the BMC reports Critical: PSU 2 (Critical), Fan 4 (Warning)'],
  ],
  [
    'Critical, with many parts',
    { level: 'Critical', parts: [psu, fan, fan, fan, fan] },
    [
      'False',
      'HardwareCritical',
      'the BMC reports Critical: PSU 2 (Critical), Fan 4 (Warning), Fan 4 (Warning) and 2 more',
    ],
  ],
  [
    'Critical, of no readable part',
    { level: 'Critical', parts: [] },
    ['False', 'HardwareCritical', 'the BMC reports Critical and names no part'],
  ],
  ['no health', { level: undefined, parts: undefined }, ['Unknown', 'HealthUnknown', 'the BMC reports no health']],
];
for (const [title, observed, expected] of rows) {
  test(`condition Healthy of a machine with health ${title}`, () => {
    const [reported] = healthCondition(server(), observed);
    assert.deepEqual([reported?.status, reported?.reason, reported?.message], expected);
  });
}

test('without an observation there is no new condition', () =>
  assert.deepEqual(healthCondition(server(), undefined), []));

test('a process that has not read the parts keeps the message of an earlier one', () => {
  const message = 'the BMC reports Critical: PSU 2 (Critical)';
  const before = server('HardwareCritical', message);
  assert.equal(healthCondition(before, { level: 'Critical', parts: undefined })[0]?.message, message);
  assert.match(healthCondition(before, { level: 'Warning', parts: undefined })[0]?.message ?? '', /not read yet/);
});

test('worse health is a Warning event, and better health a Normal one', () => {
  const change = (level: ObservedHealth['level'], before: 'OK' | 'Warning' | 'Critical') => {
    const found = healthChangeOf(server(), { level, parts: [fan] }, before);
    return found && [found.type, found.reason, found.message];
  };
  const warning = 'the BMC reports Warning: Fan 4 (Warning)';
  assert.deepEqual(change('Warning', 'OK'), ['Warning', 'HardwareWarning', `was OK: ${warning}`]);
  assert.deepEqual(change('Warning', 'Critical'), ['Normal', 'HardwareWarning', `was Critical: ${warning}`]);
  assert.deepEqual(change('OK', 'Critical'), ['Normal', 'HardwareOK', 'was Critical: the BMC reports no fault']);
  assert.equal(change('Warning', 'Warning'), undefined);
  assert.equal(change(undefined, 'Warning'), undefined, 'no health is no recovery');
});

test('the last reported health is read from the status, and OK without one', () => {
  assert.equal(reportedHealthOf(server()), 'OK');
  assert.equal(reportedHealthOf(server('HealthUnknown')), 'OK');
  assert.equal(reportedHealthOf(server('HardwareCritical')), 'Critical');
});
