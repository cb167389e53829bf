import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { BIOSVersion } from '@metal/api/v1alpha1/bios-version.ts';
import { reportUpdate } from '../../update-engine/report.ts';
import { created, failure } from '../../../test/update-engine/test-facts.ts';
import { biosVersion } from './controller.ts';

const changed: BIOSVersion = {
  apiVersion: 'metal.ironcore.dev/v1alpha1',
  kind: 'BIOSVersion',
  metadata: { name: 'bios', generation: 2 },
  spec: { version: '2', image: { URI: 'http://images.test/bios' } },
  status: { state: 'Pending', observedGeneration: 1 },
};
const time = '2026-01-01T00:00:00Z';

test('a failure of an earlier spec is not reported as one of the changed spec', () => {
  const decision = { kind: 'act', reason: 'SpecChanged' } as const;
  const facts = { ...created, failure, failedGeneration: 1 };
  const outcome = { phase: 'Failed', phaseSince: time, at: time, decision } as const;
  const { fields } = reportUpdate(biosVersion, changed, facts, outcome);
  assert.deepEqual([fields.state, fields.failure, fields.observedGeneration], ['Failed', failure, 1]);
  const pending = reportUpdate(biosVersion, changed, created, { ...outcome, phase: 'Pending' });
  assert.deepEqual([pending.fields.state, pending.fields.observedGeneration], ['Pending', 2]);
});
