import { bmc, bootMACAddress, type CreatedRow, type Fields, host, image, ipmi, redfish } from './metal3-row.ts';

const hints = [{ deviceName: '/dev/sda' }, { deviceName: '/dev/sdb' }];
const root = { level: '1', rootVolume: true, physicalDisks: hints };

export const raidHosts: CreatedRow[] = [
  host('with hardware RAID', { ...redfish, raid: { hardwareRAIDVolumes: [{ level: '1' }] } }),
  host('with lists that are null', { ...redfish, raid: { hardwareRAIDVolumes: null, softwareRAIDVolumes: null } }),
  host('with software RAID and an address of IPMI', { ...ipmi, raid: { softwareRAIDVolumes: [root] } }),
  host(
    'with hardware RAID and an address of IPMI',
    { ...ipmi, raid: { hardwareRAIDVolumes: [{ level: '1' }] } },
    'the BMC type ipmi cannot configure RAID',
  ),
  host(
    'with both types of RAID',
    { raid: { hardwareRAIDVolumes: [{ level: '1' }], softwareRAIDVolumes: [{ level: '1' }] } },
    'spec.raid: expected hardwareRAIDVolumes or softwareRAIDVolumes, found both',
  ),
  host(
    'with disks but no controller',
    { raid: { hardwareRAIDVolumes: [{ level: '1', physicalDisks: ['a', 'b'] }] } },
    'expected a controller for each volume with physicalDisks',
  ),
  host(
    'with another number of disks',
    {
      raid: { hardwareRAIDVolumes: [{ level: '1', controller: 'c', physicalDisks: ['a'], numberOfPhysicalDisks: 2 }] },
    },
    'expected numberOfPhysicalDisks to be the number of physicalDisks',
  ),
  host('with two root volumes', { raid: { softwareRAIDVolumes: [root, root] } }, 'at most one rootVolume, found 2'),
  host(
    'with a root volume and root device hints',
    { raid: { softwareRAIDVolumes: [root] }, rootDeviceHints: { model: 'm' } },
    'expected none, because a software RAID volume is the rootVolume',
  ),
  host(
    'with a root volume of level 0',
    { raid: { softwareRAIDVolumes: [{ ...root, level: '0' }] } },
    'expected level 1',
  ),
];

export const accessHosts: CreatedRow[] = [
  host('without a BMC', {}),
  host('with an empty address', bmc('')),
  host('of libvirt without a boot MAC address', bmc('libvirt://192.0.2.1:6233/'), 'the BMC type libvirt needs it'),
  host('of libvirt with a boot MAC address', { ...bmc('libvirt://192.0.2.1:6233/'), bootMACAddress }),
  host(
    'without inspection and boot MAC address',
    { ...redfish, inspectionMode: 'disabled' },
    'because the inspection is disabled: set it',
  ),
  host(
    'without inspection by annotation and without boot MAC address',
    redfish,
    'because the inspection is disabled: set it',
    { 'inspect.metal3.io': 'disabled' },
  ),
  host('with text around a MAC address', { bootMACAddress: `x${bootMACAddress}` }, 'expected a MAC address such as'),
  host('with an InfiniBand address', { bootMACAddress: Array.from({ length: 20 }, () => 'aB').join(':') }),
  host('with Secure Boot by Redfish', { ...redfish, bootMode: 'UEFISecureBoot' }),
  host('with Secure Boot by IPMI', { ...ipmi, bootMode: 'UEFISecureBoot' }, 'ipmi cannot enable Secure Boot'),
  host('with inspection by Redfish alone', { ...redfish, inspectionMode: 'fast' }),
  host('with inspection by IPMI alone', { ...ipmi, inspectionMode: 'fast' }, 'ipmi cannot inspect without a ramdisk'),
];

export const otherHosts: CreatedRow[] = [
  host('with firmware settings of its own', { firmware: { sriovEnabled: true } }, 'use a HostFirmwareSettings object'),
  ...['userData', 'networkData', 'metaData'].flatMap((member) => [
    host(
      `with ${member} of another namespace`,
      { [member]: { name: 's', namespace: 'other' } },
      `spec.${member}.namespace: expected default`,
    ),
    host(`with ${member} of its own namespace`, { [member]: { name: 's', namespace: 'default' } }),
    host(`with ${member} without a namespace`, { [member]: { name: 's' } }),
  ]),
  host('with a device by its path', { rootDeviceHints: { deviceName: '/dev/disk/by-path/pci-0000:00:1f.2' } }),
  host('with a device by its ID', { rootDeviceHints: { deviceName: '/dev/disk/by-id/x' } }, 'expected /dev/NAME or'),
  host('with a device without /dev', { rootDeviceHints: { deviceName: 'sda' } }, 'found "sda"'),
  host(
    'that must not be powered off and should be off',
    { online: false, disablePowerOff: true },
    'spec.online: expected true',
  ),
  host('that must not be powered off and should be on', { disablePowerOff: true }),
  host('with network interfaces', {
    networkInterfaces: [{ name: 'a' }, { name: 'b' }, { macAddress: bootMACAddress }],
  }),
  host('with a nameless network interface', { networkInterfaces: [{}] }, 'exactly one of name and macAddress'),
  host(
    'with a network interface named twice',
    { networkInterfaces: [{ name: 'a' }, { name: 'A' }] },
    'once, in any letter case',
  ),
  host('with an image', image({})),
  host('with an image without format', image({ format: '' })),
  host('with an image without checksum', image({ checksum: '' }), 'spec.image.checksum: expected a checksum'),
  host('with a live ISO without checksum', image({ checksum: '', format: 'live-iso' })),
  host('with an image of a registry', { image: { url: 'oci://registry.example/os:1' } }),
  host(
    'with an image of a registry and a checksum',
    image({ url: 'OCI://registry.example/os:1' }),
    'expected none for an oci URL',
  ),
  host(
    'with an image of a file',
    image({ url: 'file:///os.qcow2' }),
    'expected a URL with scheme http, https, ftp, gopher or oci',
  ),
  host('with an image without scheme', image({ url: 'images.example/os' }), 'found "images.example/os"'),
  {
    ...host('with a UUID as name', {}, 'metadata.name: expected a name that is not a UUID'),
    name: '8d7b5a5e-9c43-4a3c-8f6e-1d2c3b4a5f60',
  },
  { ...host('with the digits of a UUID as name', {}, 'not a UUID'), name: '8d7b5a5e9c434a3c8f6e1d2c3b4a5f60' },
];

const annotated = (title: string, key: string, value: string, rejected?: string, spec: Fields = {}): CreatedRow =>
  host(title, spec, rejected, { [key]: value });
const noInspection = { inspectionMode: 'disabled' };

export const annotatedHosts: CreatedRow[] = [
  annotated('with a reboot request', 'reboot.metal3.io', ''),
  annotated('with a hard reboot request of a client', 'reboot.metal3.io/x', '{"mode":"hard","force":false}'),
  annotated(
    'with a reboot request of another mode',
    'reboot.metal3.io/x',
    '{"mode": "warm"}',
    'with mode hard or soft',
  ),
  annotated('with a reboot request that is no object', 'reboot.metal3.io', 'hard', 'with mode hard or soft'),
  annotated('with an inspection request', 'inspect.metal3.io', ''),
  annotated('with another inspection request', 'inspect.metal3.io', 'now', 'found "now"'),
  annotated(
    'with a contradicting inspection annotation',
    'inspect.metal3.io',
    'disabled',
    'expected disabled, as annotation',
    {
      inspectionMode: 'agent',
    },
  ),
  annotated('with a saved status', 'baremetalhost.metal3.io/status', savedStatus('servicing', 'detach error')),
  annotated(
    'with a saved status of another kind',
    'baremetalhost.metal3.io/status',
    savedStatus('busy', ''),
    'unknown operationalStatus',
  ),
  annotated(
    'with a saved status with another error',
    'baremetalhost.metal3.io/status',
    savedStatus('OK', 'x'),
    'unknown errorType',
  ),
  annotated('with text as saved status', 'baremetalhost.metal3.io/status', 'OK', 'as a JSON object'),
  annotated('with hardware details', 'inspect.metal3.io/hardwaredetails', '{"cpu":{}}', undefined, noInspection),
  annotated(
    'with hardware details and an inspection',
    'inspect.metal3.io/hardwaredetails',
    '{}',
    'set spec.inspectionMode to disabled',
  ),
  annotated(
    'with text as hardware details',
    'inspect.metal3.io/hardwaredetails',
    'x',
    'as a JSON object',
    noInspection,
  ),
];

/** As the Cluster API provider writes it: with empty structures. */
function savedStatus(operationalStatus: string, errorType: string): string {
  const provisioning = { state: 'provisioned', ID: 'u', image: { url: '' } };
  return JSON.stringify({ operationalStatus, errorType, errorMessage: 'the "errorType": "quoted"', provisioning });
}
