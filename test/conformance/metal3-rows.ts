import { BMCEventSubscription } from '@metal/api/metal3/bmc-event-subscription.ts';
import { DataImage } from '@metal/api/metal3/data-image.ts';
import { HostClaim } from '@metal/api/metal3/host-claim.ts';
import { HostFirmwareComponents } from '@metal/api/metal3/host-firmware-components.ts';
import { HostNetworkAttachment } from '@metal/api/metal3/host-network-attachment.ts';
import { accessHosts, annotatedHosts, otherHosts, raidHosts } from './metal3-host-rows.ts';
import {
  bmc,
  bootMACAddress,
  type ChangedRow,
  type CreatedRow,
  type Fields,
  host,
  image,
  other,
  redfish,
} from './metal3-row.ts';

const subscription = { hostName: 'h', destination: 'https://receiver.example/' };
const others: CreatedRow[] = [
  other(BMCEventSubscription, 'with a destination', subscription),
  other(BMCEventSubscription, 'without a host', { ...subscription, hostName: '' }, 'spec.hostName: expected the name'),
  other(
    BMCEventSubscription,
    'without a path',
    { ...subscription, destination: 'https://receiver.example' },
    'a URL with a path',
  ),
  other(BMCEventSubscription, 'with only a path', { ...subscription, destination: '/events' }, 'a URL with a path'),
  other(BMCEventSubscription, 'with headers', { ...subscription, httpHeadersRef: { name: 's', namespace: 'default' } }),
  other(
    BMCEventSubscription,
    'with headers without a namespace',
    { ...subscription, httpHeadersRef: { name: 's' } },
    'spec.httpHeadersRef.namespace: expected default',
  ),
  other(DataImage, 'with a URL', { url: 'http://images.example/data.iso' }),
  other(DataImage, 'without a scheme', { url: 'data.iso' }, 'spec.url: expected a URL with scheme'),
  other(HostFirmwareComponents, 'with an update', {
    updates: [{ component: 'bios', url: 'https://images.example/bios' }],
  }),
  other(
    HostFirmwareComponents,
    'with an update of a file',
    { updates: [{ component: 'bmc', url: 'file:///bmc' }] },
    'gopher or oci for bmc',
  ),
  other(HostClaim, 'with a selector', claim({ operator: 'in', values: ['a'] })),
  other(
    HostClaim,
    'with a selector without values',
    claim({ operator: 'in', values: [] }),
    'in or notin with at least one',
  ),
  other(HostClaim, 'with another image', { poweredOn: true, ...image({ checksum: '' }) }, 'expected a checksum'),
  other(HostNetworkAttachment, 'with VLANs', { mode: 'trunk', nativeVLAN: 1, allowedVLANs: ['100', '200-299'] }),
  other(
    HostNetworkAttachment,
    'with VLANs in mode access',
    { nativeVLAN: 1, allowedVLANs: ['100'] },
    'none in mode access',
  ),
  other(
    HostNetworkAttachment,
    'with a descending range',
    { mode: 'trunk', nativeVLAN: 1, allowedVLANs: ['9-8'] },
    'ascending ranges',
  ),
  other(
    HostNetworkAttachment,
    'with VLAN 4095',
    { mode: 'trunk', nativeVLAN: 1, allowedVLANs: ['4095'] },
    'ascending ranges',
  ),
];

function claim(expression: Fields) {
  return { poweredOn: true, hostSelector: { matchExpressions: [{ key: 'k', ...expression }] } };
}

export const createdRows: readonly CreatedRow[] = [
  ...raidHosts,
  ...accessHosts,
  ...otherHosts,
  ...annotatedHosts,
  ...others,
];

const changed = (title: string, spec: Fields, change: Fields, more: Partial<ChangedRow> = {}): ChangedRow => ({
  ...host(title, spec),
  change: { spec: change },
  ...more,
});
const elsewhere = bmc('redfish://192.0.2.8/redfish/v1/Systems/1');
const fixedAddress = 'the address can be changed only while the host is registering or detached';

export const changedRows: readonly ChangedRow[] = [
  changed('gets an address', {}, redfish),
  changed('gets another address', redfish, elsewhere, { state: 'available', rejected: fixedAddress }),
  changed('loses its address', redfish, { bmc: null }, { state: 'available', rejected: fixedAddress }),
  changed('gets another address while it is registering', redfish, elsewhere, { state: 'registering' }),
  changed('gets another address while it is detached', redfish, elsewhere, {
    state: 'provisioned',
    operational: 'detached',
  }),
  changed('gets another password', redfish, { bmc: { credentialsName: 'd' } }, { state: 'available' }),
  changed('gets a boot MAC address', {}, { bootMACAddress }),
  changed(
    'gets its boot MAC address in another case',
    { bootMACAddress },
    { bootMACAddress: bootMACAddress.toUpperCase() },
  ),
  changed(
    'gets another boot MAC address',
    { bootMACAddress },
    { bootMACAddress: 'aa:bb:cc:dd:ee:00' },
    { rejected: 'it cannot be changed once it is set' },
  ),
  changed(
    'loses its boot MAC address',
    { bootMACAddress },
    { bootMACAddress: null },
    { rejected: 'it cannot be changed once it is set' },
  ),
  changed('becomes externally provisioned', {}, { externallyProvisioned: true }, { state: 'available' }),
  changed(
    'becomes externally provisioned too early',
    {},
    { externallyProvisioned: true },
    { state: 'inspecting', rejected: 'found "inspecting"' },
  ),
  changed(
    'is no longer externally provisioned',
    { externallyProvisioned: true },
    { externallyProvisioned: false },
    { state: 'externally provisioned' },
  ),
  {
    ...other(BMCEventSubscription, 'gets another destination', subscription),
    change: { spec: { destination: 'https://other.example/' } },
    rejected: 'it cannot be changed',
  },
  { ...other(BMCEventSubscription, 'gets a label', subscription), change: { metadata: { labels: { a: 'b' } } } },
];
