import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Registry } from 'prom-client';
import { HostMetrics } from '../../host-metrics.ts';
import { type HostChanges, hostIn } from '../../../test/baremetalhost/example-host.ts';
import { type HostOutcomes, newPass } from './memory.ts';
import { countSkippedSteps } from './status-metrics.ts';
import type { HostState } from './types.ts';

const deprovisioning = 'deprovisioning';
const poweringOff = 'powering off before delete';
const failed = { kind: 'failed', delayMs: 1, message: 'no' } as const;
const done = { kind: 'done' } as const;
const unregistered = { kind: 'unregistered' } as const;

/** The metric of a step that a deletion leaves out, by the state that it leaves. */
async function countedFor(from: HostState, to: HostState, outcomes: HostOutcomes, changes: HostChanges = {}) {
  const registry = new Registry();
  const after = hostIn(to, { isDeleting: true, ...changes });
  const pass = { ...newPass(after), outcomes: { [from]: outcomes } };
  countSkippedSteps(new HostMetrics(registry), pass, { before: hostIn(from), after });
  const metrics = await registry.getMetricsAsJSON();
  return metrics
    .filter(({ name, values }) => name.startsWith('metal3_delete_') && values.length > 0)
    .map(({ name }) => name);
}

const withoutDeprovisioning = ['metal3_delete_without_deprovisioning_total'];
const withoutPowerOff = ['metal3_delete_without_powering_off_total'];
const detached = { annotations: { 'baremetalhost.metal3.io/detached': '' } };
const rows: [string, Parameters<typeof countedFor>, string[]][] = [
  ['a deprovisioning that is given up', [deprovisioning, poweringOff, { deprovision: failed }], withoutDeprovisioning],
  ['a registration that is given up', [deprovisioning, 'deleting', {}], withoutDeprovisioning],
  ['a node that nobody can register', [deprovisioning, 'deleting', { adopt: unregistered }], withoutDeprovisioning],
  ['a deprovisioned host', [deprovisioning, poweringOff, { deprovision: done }], []],
  ['a detached host', [deprovisioning, 'deleting', {}, detached], []],
  ['a host that stays', [deprovisioning, 'available', { deprovision: failed }, { isDeleting: false }], []],
  ['a deprovisioning that goes on', [deprovisioning, deprovisioning, { deprovision: failed }], []],
  ['a power-off that is given up', [poweringOff, 'deleting', { powerOffForDeletion: failed }], withoutPowerOff],
  ['a host that is off', [poweringOff, 'deleting', { powerOffForDeletion: done }], []],
  ['a host that must stay on', [poweringOff, 'deleting', {}, { spec: { disablePowerOff: true } }], []],
];
for (const [title, given, counted] of rows)
  test(`skipped steps of a deletion: ${title}`, async () => assert.deepEqual(await countedFor(...given), counted));
