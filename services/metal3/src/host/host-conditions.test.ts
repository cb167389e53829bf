import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ProvisioningState } from '@metal/api/metal3/bare-metal-host-status.ts';
import { type ConditionFacts, hostConditions } from './host-conditions.ts';

const facts: ConditionFacts = {
  state: '',
  operationalStatus: 'OK',
  hasPowerFailure: false,
  health: '',
  hasHealthy: true,
};

/** T NotManaged for a true condition with that reason. */
const found = (changes: Partial<ConditionFacts>): string[] =>
  hostConditions({ ...facts, ...changes }).map(({ status, reason }) => `${status[0]} ${reason}`);

/** Manageable, AvailableForProvisioning, Provisioned, Ready and Progressing. */
const none = ['F NotManaged', 'F NotAvailable', 'F NotProvisioned', 'F NotProvisioned', 'F NotProgressing'];
const busy = (reason: string) => [
  'T Manageable',
  'F NotAvailable',
  'F NotProvisioned',
  'F NotProvisioned',
  `T ${reason}`,
];
const available = ['T Manageable', 'T Available', 'F NotProvisioned', 'T Available', 'F NotProgressing'];
const provisioned = ['T Manageable', 'F NotAvailable', 'T Provisioned', 'T Provisioned', 'F NotProgressing'];

const rows: Record<ProvisioningState, string[]> = {
  '': none,
  unmanaged: none,
  registering: ['F Registering', 'F NotAvailable', 'F NotProvisioned', 'F NotProvisioned', 'T Registering'],
  'match profile': busy('Preparing'),
  inspecting: busy('Inspecting'),
  preparing: busy('Preparing'),
  ready: available,
  available,
  provisioning: busy('Provisioning'),
  provisioned,
  'externally provisioned': provisioned,
  deprovisioning: busy('Deprovisioning'),
  'powering off before delete': busy('PoweringOffBeforeDelete'),
  deleting: busy('Deleting'),
};
for (const [state, expected] of Object.entries(rows) as [ProvisioningState, string[]][]) // the keys of the record
  test(`conditions of a host in state "${state}"`, () => assert.deepEqual(found({ state }), expected));

const overrides: [title: string, changes: Partial<ConditionFacts>, expected: string[]][] = [
  [
    'a failed registration',
    { state: 'registering', operationalStatus: 'error' },
    ['F RegistrationFailed', 'F NotAvailable', 'F NotProvisioned', 'F Error', 'T Registering'],
  ],
  [
    'an error while it is available',
    { state: 'available', operationalStatus: 'error' },
    ['T Manageable', 'T Available', 'F NotProvisioned', 'F Error', 'F NotProgressing'],
  ],
  [
    'servicing',
    { state: 'provisioned', operationalStatus: 'servicing' },
    ['T Manageable', 'F NotAvailable', 'T Provisioned', 'F Servicing', 'F NotProgressing'],
  ],
  [
    'detached, whose power nobody knows',
    { state: 'provisioned', operationalStatus: 'detached', hasPowerFailure: true },
    ['T Manageable', 'F NotAvailable', 'T Provisioned', 'F Detached', 'F Detached'],
  ],
  [
    'without power control',
    { state: 'provisioned', hasPowerFailure: true },
    ['F PowerFailure', 'F NotAvailable', 'T Provisioned', 'T Provisioned', 'F NotProgressing'],
  ],
  ['being registered without power control', { state: 'registering', hasPowerFailure: true }, rows.registering],
];
for (const [title, changes, expected] of overrides)
  test(`conditions of a host: ${title}`, () => assert.deepEqual(found(changes), expected));

const healths: [health: string, hasHealthy: boolean, expected: string | undefined][] = [
  ['OK', false, 'T Healthy'],
  ['Warning', true, 'F Warning'],
  ['Critical', true, 'F CriticalError'],
  ['odd', true, 'U Unknown'],
  ['', true, undefined],
  ['', false, 'U Unknown'],
];
for (const [health, hasHealthy, expected] of healths)
  test(`health "${health}" ${hasHealthy ? 'after an earlier one' : 'at first'}`, () =>
    assert.equal(found({ health, hasHealthy })[5], expected));
