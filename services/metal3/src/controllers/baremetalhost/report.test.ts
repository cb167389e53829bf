import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { BareMetalHost } from '@metal/api/metal3/bare-metal-host.ts';
import type { Outcome } from '@metal/kube/controller/definition.ts';
import { hostIn } from '../../../test/baremetalhost/example-host.ts';
import { readHostFacts } from './facts.ts';
import { newPass, outcomesIn, stateOf } from './memory.ts';
import { reportHost } from './report.ts';
import { surroundings } from '../../../test/baremetalhost/scripted-pass.ts';
import type { HostState } from './types.ts';

const at = '2026-01-01T00:00:00Z';
const later = '2026-01-02T00:00:00Z';

function report(
  host: BareMetalHost,
  { error, waiting, ...status }: { error?: Error; waiting?: string; errorMessage?: string; poweredOn?: boolean } = {},
) {
  const pass = newPass(host);
  pass.status = { ...pass.status, ...status };
  const state = stateOf(host);
  if (waiting !== undefined) outcomesIn(pass, state).register = { kind: 'busy', delayMs: 1, message: waiting };
  const outcome: Outcome<HostState> = { phase: state, phaseSince: at, at: later, decision: { kind: 'wait' } };
  return reportHost(host, readHostFacts(host, surroundings, { state, pass }), { ...outcome, error });
}

/** The host after the report was stored. */
function reported(host: BareMetalHost): BareMetalHost {
  const { fields, conditions } = report(host);
  const stored = { ...fields, conditions: conditions.map((condition) => ({ ...condition, lastTransitionTime: at })) };
  return { ...host, status: stored as unknown as NonNullable<BareMetalHost['status']> }; // all fields are in the report
}

const host = { ...hostIn('available'), metadata: { name: 'h', namespace: 'n', uid: 'u', generation: 3 } };

test('the time of the status changes with the status or its conditions, and with nothing else', () => {
  assert.equal(report(host).fields.lastUpdated, later, 'its conditions are new');
  const stored = reported(host);
  const settled = { ...stored, status: { ...stored.status, lastUpdated: at } } as BareMetalHost; // of a complete status
  assert.equal(report(settled).fields.lastUpdated, at);
  assert.equal(report(settled, { poweredOn: false }).fields.lastUpdated, later);
  const newer = { ...settled, metadata: { ...settled.metadata, generation: 4 } };
  assert.equal(report(newer).fields.lastUpdated, later, 'its conditions are of another generation');
});

test('an error that is thrown changes neither the status nor its conditions', () => {
  const stored = reported(host);
  const { fields, conditions } = report(stored, { error: new Error('no answer'), errorMessage: 'unsaved' });
  assert.equal(fields.errorMessage, '');
  assert.deepEqual(conditions, report(stored).conditions);
  assert.equal(conditions.length, 6);
});

test('a condition of another program is kept, and Healthy while nobody knows better', () => {
  const others = ['Healthy', 'Other'].map((type) => ({
    type,
    status: 'True' as const,
    reason: 'R',
    message: '',
    lastTransitionTime: at,
  }));
  const marked = { ...host, status: { ...host.status, conditions: others } } as BareMetalHost; // of a complete status
  const types = report(marked).conditions.map(({ type, reason }) => `${type} ${reason}`);
  assert.deepEqual(types.slice(-2), ['Healthy R', 'Other R']);
});

test('the message of a failure is in Ready', () => {
  const failing = hostIn('inspecting', {
    status: { operationalStatus: 'error', errorType: 'inspection error', errorMessage: 'no disk' },
  });
  const ready = report(failing).conditions.find(({ type }) => type === 'Ready');
  assert.deepEqual([ready?.status, ready?.reason, ready?.message], ['False', 'Error', 'no disk']);
});

test('the message of a step that waits is in Progressing', () => {
  const { conditions, fields } = report(hostIn('registering'), { waiting: 'the BMC is not connected yet' });
  const progressing = conditions.find(({ type }) => type === 'Progressing');
  assert.deepEqual([progressing?.status, progressing?.message], ['True', 'the BMC is not connected yet']);
  assert.equal(fields.errorMessage, '');
});
