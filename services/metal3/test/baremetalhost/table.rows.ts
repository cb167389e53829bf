import { busy, failed } from '../../src/provisioner/step-result.ts';
import { hostIn } from './example-host.ts';
import { type Row, row } from './row.ts';

const noBmc = { bmc: { address: '', credentialsName: '' } };
const disabled = { inspectionMode: 'disabled' } as const;
const delayed = 'wait 60000 NoCapacity';
const poll = 'wait 60000 Available';

const firstRows: Row[] = [
  row(
    'a host with a BMC',
    { ...hostIn(''), status: undefined },
    { id: 'i' },
    ['registering', 'saved', 'wait 0 Registering'],
    { calls: 'register' },
  ),
  row('a host without a BMC', hostIn('', { spec: noBmc }), {}, ['unmanaged', 'saved', 'wait 600000 Discovered'], {
    calls: '',
  }),
  row('an unmanaged host gets a BMC', hostIn('unmanaged'), {}, [
    'registering > inspecting > preparing > available',
    'saved',
    poll,
  ]),
  row('an unmanaged host', hostIn('unmanaged', { spec: noBmc }), {}, ['', 'unsaved', 'wait 600000 Discovered']),
  row('a registration goes on', hostIn('registering'), { results: { register: busy(3_000) } }, [
    '',
    'unsaved',
    'wait 3000 Registering',
  ]),
  row('a registration fails', hostIn('registering'), { results: { register: failed('no') } }, [
    '',
    'saved',
    'wait 60000 RegistrationError',
  ]),
  row('it is registered again when Ironic lost it', hostIn('available'), { id: 'j' }, [
    '',
    'saved',
    'wait 0 Registering',
  ]),
  row('a ramdisk is not ready', hostIn('inspecting'), { results: { register: { kind: 'needsImage' } } }, [
    '',
    'unsaved',
    'wait 300000 Registering',
  ]),
  row(
    'it is externally provisioned',
    hostIn('registering', { spec: { externallyProvisioned: true } }),
    {},
    ['externally provisioned', 'saved', 'wait 60000 Provisioned'],
    { calls: 'register register adopt' },
  ),
  row('it is not inspected', hostIn('registering', { spec: disabled }), {}, ['preparing > available', 'saved', poll]),
  row('it is inspected', hostIn('registering'), { results: { inspect: busy(10_000) } }, [
    'inspecting',
    'saved',
    'wait 10000 Inspecting',
  ]),
  row('nobody has time to inspect it', hostIn('registering'), { hasCapacity: false }, ['', 'saved', delayed]),
  row('its Secret is missing', hostIn('registering'), {}, ['', 'saved', 'wait 10000 CredentialsUnusable'], {
    around: { credentials: 'unusable' },
    calls: '',
  }),
  row('a former version matched its profile', hostIn('match profile'), {}, ['preparing > available', 'saved', poll]),
];

const inspectionRows: Row[] = [
  row(
    'the inspection is disabled meanwhile',
    hostIn('inspecting', { spec: disabled }),
    { results: { prepare: busy(3_000) } },
    ['preparing', 'saved', 'wait 3000 Preparing'],
  ),
  row('the inspection goes on', hostIn('inspecting'), { results: { inspect: busy(10_000) } }, [
    '',
    'unsaved',
    'wait 10000 Inspecting',
  ]),
  row('the inspection failed', hostIn('inspecting'), { results: { inspect: failed('no') } }, [
    '',
    'saved',
    'wait 60000 InspectionError',
  ]),
  row(
    'the inspection is over',
    hostIn('inspecting'),
    { details: { hostname: 'x' }, results: { prepare: busy(3_000) } },
    ['preparing', 'saved', 'wait 3000 Preparing'],
  ),
  row('the back end has no time any more', hostIn('inspecting'), { hasCapacity: false }, ['', 'saved', delayed], {
    calls: '',
  }),
  row('changed firmware settings are unread', hostIn('preparing'), {}, ['', 'unsaved', 'wait 60000 FirmwareUnread'], {
    around: { firmware: 'unread' },
    calls: 'register',
  }),
  row('the preparation goes on', hostIn('preparing'), { results: { prepare: busy(3_000) } }, [
    '',
    'unsaved',
    'wait 3000 Preparing',
  ]),
  row('the preparation failed', hostIn('preparing'), { results: { prepare: failed('no') } }, [
    '',
    'saved',
    'wait 60000 PreparationError',
  ]),
  row('the preparation is over', hostIn('preparing'), {}, ['available', 'saved', poll]),
];

/** From a new object to a free host. */
export const firstStateRows: readonly Row[] = [...firstRows, ...inspectionRows];
