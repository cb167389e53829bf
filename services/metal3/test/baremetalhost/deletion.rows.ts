import { busy, failed } from '../../src/provisioner/step-result.ts';
import { type HostChanges, hostIn } from './example-host.ts';
import type { Row } from './row.ts';
import type { HostState } from '../../src/controllers/baremetalhost/types.ts';

const image = { url: 'https://images.example/os', checksum: 'c' };
const deployed = { spec: { image }, provisioning: { image } };
const deleted = (state: HostState, changes: HostChanges = {}) => hostIn(state, { ...changes, isDeleting: true });
const detachedBy = (text: string) => ({ 'baremetalhost.metal3.io/detached': text });
const failures = (errorType: 'provisioning error' | 'power management error' | 'registration error') => ({
  errorType,
  errorMessage: 'no',
  errorCount: 3,
  operationalStatus: 'error' as const,
});
const working = { results: { deprovision: busy(10_000), powerOff: busy(3_000), delete: busy(3_000) } };

/** Where the deletion of a host in each state begins. */
const firstOf: Record<HostState, [entered: string, end: string]> = {
  '': ['deleting', 'wait 3000 Deleting'],
  unmanaged: ['deleting', 'wait 3000 Deleting'],
  registering: ['deleting', 'wait 3000 Deleting'],
  'match profile': ['powering off before delete', 'wait 3000 PoweringOffBeforeDelete'],
  inspecting: ['powering off before delete', 'wait 3000 PoweringOffBeforeDelete'],
  preparing: ['powering off before delete', 'wait 3000 PoweringOffBeforeDelete'],
  ready: ['powering off before delete', 'wait 3000 PoweringOffBeforeDelete'],
  available: ['powering off before delete', 'wait 3000 PoweringOffBeforeDelete'],
  provisioning: ['deprovisioning', 'wait 10000 Deprovisioning'],
  provisioned: ['deprovisioning', 'wait 10000 Deprovisioning'],
  'externally provisioned': ['powering off before delete', 'wait 3000 PoweringOffBeforeDelete'],
  deprovisioning: ['', 'wait 10000 Deprovisioning'],
  'powering off before delete': ['', 'wait 3000 PoweringOffBeforeDelete'],
  deleting: ['', 'wait 3000 Deleting'],
};

const stateRows = Object.entries(firstOf).flatMap(([name, [entered, end]]): Row[] => {
  const state = name as HostState; // the keys of the record
  const detach = { annotations: detachedBy('{}') };
  return [
    {
      title: `a host in state "${state}" is deleted`,
      host: deleted(state, deployed),
      script: working,
      found: [entered, entered === '' ? 'unsaved' : 'saved', end],
    },
    {
      title: `a host in state "${state}" with the annotation for detaching is deleted without touching the machine`,
      host: deleted(state, { ...deployed, ...detach }),
      script: working,
      found: [state === 'deleting' ? '' : 'deleting', state === 'deleting' ? 'unsaved' : 'saved', 'wait 3000 Deleting'],
      calls: 'delete',
    },
    {
      title: `a host in state "${state}" without a Secret is deleted`,
      host: deleted(state, deployed),
      script: {
        results: {
          deprovision: { kind: 'unregistered' },
          adopt: { kind: 'unregistered' },
          powerOff: { kind: 'unregistered' },
        },
      },
      around: { credentials: 'unusable' },
      found: [enteredWithout(state), state === 'deleting' ? 'unsaved' : 'saved', 'rest '],
    },
  ];
});

/** Nothing is registered again only to be deleted. */
function enteredWithout(state: HostState): string {
  const [entered] = firstOf[state];
  if (state === 'deleting') return '';
  return entered === '' || entered === 'deleting' ? 'deleting' : `${entered} > deleting`;
}

const delay = detachedBy('{"deleteAction":"delay"}');

export const deletionRows: readonly Row[] = [
  ...stateRows,
  {
    title: 'a deleted host is gone in one pass, if the back end is done at once',
    host: deleted('available'),
    found: ['powering off before delete > deleting', 'saved', 'rest '],
    calls: 'register powerOff hard delete',
  },
  {
    title: 'the deletion of a detached host is delayed',
    host: deleted('provisioned', {
      ...deployed,
      annotations: delay,
      status: { operationalStatus: 'detached' },
      provisioning: { ...deployed.provisioning, ID: '' },
    }),
    found: ['', 'unsaved', 'wait 600000 DeletionDelayed'],
    calls: 'detach',
  },
  {
    title: 'a detached host whose annotation is gone is attached again before it is deleted',
    host: deleted('provisioned', { ...deployed, status: { operationalStatus: 'detached' } }),
    found: ['', 'saved', 'wait 0 Reattaching'],
    calls: '',
  },
  {
    title: 'a host that waits for capacity is not deleted before',
    host: deleted('provisioned', { ...deployed, status: { operationalStatus: 'delayed' } }),
    script: { hasCapacity: false },
    found: ['', 'unsaved', 'wait 60000 NoCapacity'],
    calls: '',
  },
  {
    title: 'a deprovisioning that failed three times is tried again',
    host: deleted('deprovisioning', { ...deployed, status: { ...failures('provisioning error'), errorCount: 2 } }),
    script: { results: { deprovision: failed('no') } },
    found: ['', 'saved', 'wait 240000 ProvisioningError'],
  },
  {
    title: 'a deprovisioning that failed more than three times is given up',
    host: deleted('deprovisioning', { ...deployed, status: failures('provisioning error') }),
    script: { results: { deprovision: failed('no'), powerOff: busy(3_000) } },
    found: ['powering off before delete', 'saved', 'wait 0 Registering'],
  },
  {
    title: 'a power-off that failed more than three times is given up',
    host: deleted('powering off before delete', { status: failures('power management error') }),
    script: { results: { powerOff: failed('no'), delete: busy(3_000) } },
    found: ['deleting', 'saved', 'wait 3000 Deleting'],
  },
  {
    title: 'a registration that failed more than three times is given up',
    host: deleted('deprovisioning', { status: { ...failures('registration error'), errorCount: 4 } }),
    script: { results: { delete: busy(3_000) } },
    found: ['deleting', 'saved', 'wait 3000 Deleting'],
    calls: 'delete',
  },
  {
    title: 'the fourth failure of a registration is the last one',
    host: deleted('deprovisioning', { status: failures('registration error') }),
    script: { results: { register: failed('no') } },
    found: ['deleting', 'saved', 'rest '],
    calls: 'register delete',
  },
  {
    title: 'a registration that failed three times is tried again',
    host: deleted('deprovisioning', { status: { ...failures('registration error'), errorCount: 2 } }),
    script: { results: { register: failed('no') } },
    found: ['', 'saved', 'wait 240000 RegistrationError'],
    calls: 'register',
  },
  {
    title: 'a host that must not be powered off is deleted while it runs',
    host: deleted('available', { spec: { disablePowerOff: true } }),
    script: working,
    found: ['powering off before delete > deleting', 'saved', 'wait 3000 Deleting'],
    calls: 'register delete',
  },
  {
    title: 'a host that the back end does not know is gone',
    host: deleted('deleting'),
    script: { results: { delete: { kind: 'unregistered' } } },
    found: ['', 'unsaved', 'rest '],
  },
];
