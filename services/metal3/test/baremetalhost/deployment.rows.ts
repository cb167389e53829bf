import { busy, failed } from '../../src/provisioner/step-result.ts';
import { hostIn } from './example-host.ts';
import { type Row, row } from './row.ts';

const image = { url: 'https://images.example/os', checksum: 'c' };
const toProvision = { spec: { image } };
const deployed = { spec: { image }, provisioning: { image } };
const inspectAgain = { 'inspect.metal3.io': '' };
const delayed = 'wait 60000 NoCapacity';
const poll = 'wait 60000 Available';

const raid = { softwareRAIDVolumes: [{ level: '1', rootVolume: false }] } as const;
const preparing = { results: { prepare: busy(3_000) } };

const availableRows: Row[] = [
  row('a free host', hostIn('available'), { power: true }, ['', 'unsaved', poll]),
  row('a free host in the state of former versions', hostIn('ready'), {}, ['', 'unsaved', poll]),
  row(
    'a free host is externally provisioned from now',
    hostIn('available', { spec: { externallyProvisioned: true } }),
    {},
    ['externally provisioned', 'saved', 'wait 0 Registering'],
  ),
  row(
    'another inspection is requested',
    hostIn('available', { annotations: inspectAgain }),
    { results: { inspect: busy(10_000) } },
    ['inspecting', 'saved', 'wait 10000 Inspecting'],
  ),
  row(
    'nobody has time for another inspection',
    hostIn('available', { annotations: inspectAgain }),
    { hasCapacity: false },
    ['', 'saved', delayed],
  ),
  row(
    'its RAID changes',
    hostIn('available', { spec: { raid: { softwareRAIDVolumes: [...raid.softwareRAIDVolumes] } } }),
    preparing,
    ['preparing', 'saved', 'wait 3000 Preparing'],
  ),
  row('its firmware changes', hostIn('available'), preparing, ['preparing', 'saved', 'wait 3000 Preparing'], {
    around: { firmware: 'changed' },
  }),
  row('it gets an image', hostIn('available', toProvision), { results: { provision: busy(10_000) } }, [
    'provisioning',
    'saved',
    'wait 10000 Provisioning',
  ]),
  row(
    'it gets an image and should be off',
    hostIn('available', { spec: { image, online: false } }),
    { results: { powerOff: busy(3_000) } },
    ['', 'unsaved', 'wait 3000 PoweringOff'],
  ),
  row(
    'it gets a custom deployment',
    hostIn('available', { spec: { customDeploy: { method: 'm' } } }),
    { results: { provision: busy(10_000) } },
    ['provisioning', 'saved', 'wait 10000 Provisioning'],
  ),
  row('nobody has time to provision it', hostIn('available', toProvision), { hasCapacity: false }, [
    '',
    'saved',
    delayed,
  ]),
  row(
    'its image failed too often',
    hostIn('available', { ...toProvision, status: { provisioningFailCount: 5, lastAttemptedImage: image } }),
    {},
    ['', 'saved', 'wait 60000 ProvisioningError'],
    { calls: 'register' },
  ),
  row(
    'its custom deployment failed too often',
    hostIn('available', { spec: { customDeploy: { method: 'm' } }, status: { provisioningFailCount: 5 } }),
    {},
    ['', 'saved', 'wait 60000 ProvisioningError'],
  ),
  row(
    'another image failed too often',
    hostIn('available', { ...toProvision, status: { provisioningFailCount: 5, lastAttemptedImage: { url: 'a' } } }),
    { results: { provision: busy(10_000) } },
    ['provisioning', 'saved', 'wait 10000 Provisioning'],
  ),
  row(
    'there is no limit of attempts',
    hostIn('available', { ...toProvision, status: { provisioningFailCount: 9, lastAttemptedImage: image } }),
    { results: { provision: busy(10_000) } },
    ['provisioning', 'saved', 'wait 10000 Provisioning'],
    { around: { retryLimit: 0 } },
  ),
];

const provisioningRows: Row[] = [
  row(
    'the deployment goes on',
    hostIn('provisioning', { ...toProvision, status: { lastAttemptedImage: image } }),
    { results: { provision: busy(10_000) } },
    ['', 'unsaved', 'wait 10000 Provisioning'],
  ),
  row('the deployment failed', hostIn('provisioning', toProvision), { results: { provision: failed('no') } }, [
    '',
    'saved',
    'wait 60000 ProvisioningError',
  ]),
  row(
    'a failed deployment is undone',
    hostIn('provisioning', { ...toProvision, status: { errorType: 'provisioning error', operationalStatus: 'error' } }),
    { results: { deprovision: busy(10_000) } },
    ['deprovisioning', 'saved', 'wait 10000 Deprovisioning'],
  ),
  row('nobody wants the deployment any more', hostIn('provisioning'), { results: { deprovision: busy(10_000) } }, [
    'deprovisioning',
    'saved',
    'wait 10000 Deprovisioning',
  ]),
  row(
    'the deployment is over',
    hostIn('provisioning', toProvision),
    {},
    ['provisioned', 'saved', 'wait 60000 Provisioned'],
    { calls: 'register provision register adopt' },
  ),
  row('a deployed host', hostIn('provisioned', deployed), { power: true }, ['', 'unsaved', 'wait 60000 Provisioned'], {
    calls: 'register adopt',
  }),
  row(
    'another image is wanted',
    hostIn('provisioned', {
      spec: { image: { ...image, url: 'https://images.example/new' } },
      provisioning: { image },
    }),
    { results: { deprovision: busy(10_000) } },
    ['deprovisioning', 'saved', 'wait 10000 Deprovisioning'],
  ),
  row(
    'only the checksum changes',
    hostIn('provisioned', { spec: { image: { ...image, checksum: 'd' } }, provisioning: { image } }),
    {},
    ['', 'unsaved', 'wait 60000 Provisioned'],
  ),
  row('nobody has time to deprovision it', hostIn('provisioned', { provisioning: { image } }), { hasCapacity: false }, [
    '',
    'saved',
    delayed,
  ]),
  row('it cannot be adopted', hostIn('provisioned', deployed), { results: { adopt: failed('no') } }, [
    '',
    'saved',
    'wait 60000 ProvisionedRegistrationError',
  ]),
  row(
    'an externally provisioned host',
    hostIn('externally provisioned', { spec: { externallyProvisioned: true } }),
    {},
    ['', 'unsaved', 'wait 60000 Provisioned'],
    { calls: 'register adopt' },
  ),
  row('it is no longer externally provisioned and has an image', hostIn('externally provisioned', toProvision), {}, [
    'provisioned',
    'saved',
    'wait 60000 Provisioned',
  ]),
  row(
    'it is no longer externally provisioned and has no image',
    hostIn('externally provisioned'),
    { results: { deprovision: busy(10_000) } },
    ['provisioned > deprovisioning', 'saved', 'wait 10000 Deprovisioning'],
  ),
  row(
    'the deprovisioning goes on',
    hostIn('deprovisioning', { provisioning: { image } }),
    { results: { deprovision: busy(10_000) } },
    ['', 'unsaved', 'wait 10000 Deprovisioning'],
    { calls: 'register adopt deprovision' },
  ),
  row(
    'the deprovisioning failed',
    hostIn('deprovisioning'),
    { results: { deprovision: failed('no') } },
    ['', 'saved', 'wait 60000 ProvisioningError'],
    { calls: 'register deprovision' },
  ),
  row('the deprovisioning is over', hostIn('deprovisioning', { provisioning: { image } }), {}, [
    'available',
    'saved',
    'wait 0 Registering',
  ]),
];

/** From a free host to a deployed one and back. */
export const deploymentRows: readonly Row[] = [...availableRows, ...provisioningRows];
