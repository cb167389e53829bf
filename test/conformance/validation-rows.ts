import { BIOSSettings } from '@metal/api/v1alpha1/bios-settings.ts';
import { BMC } from '@metal/api/v1alpha1/bmc.ts';
import { BMCSecret } from '@metal/api/v1alpha1/bmc-secret.ts';
import { BMCSettings } from '@metal/api/v1alpha1/bmc-settings.ts';
import { BMCVersion } from '@metal/api/v1alpha1/bmc-version.ts';
import { Endpoint } from '@metal/api/v1alpha1/endpoint.ts';
import { Server } from '@metal/api/v1alpha1/server.ts';
import { ServerClaim } from '@metal/api/v1alpha1/server-claim.ts';
import { ServerReadinessRule } from '@metal/api/v1alpha1/server-readiness-rule.ts';
import type { Kind } from '@metal/kube/kinds/kind.ts';

/** An object, an optional change to it, and the message if the last request is rejected. */
export interface Row {
  readonly title: string;
  readonly kind: Kind;
  readonly object: object;
  readonly change?: object;
  readonly expectedError?: string;
}

type Fields = Readonly<Record<string, unknown>>;

const endpoint = (spec: Fields) => ({ spec });
export const bmc = (spec: Fields) => ({
  spec: { bmcSecretRef: { name: 's' }, protocol: { name: 'Redfish', port: 443 }, ...spec },
});
export const server = (spec: Fields = {}) => ({ spec: { systemUUID: 'u', ...spec } });
const diskImage = { url: 'https://images.test/os.qcow2', checksum: 'a'.repeat(64), format: 'qcow2' };
export const claim = (spec: Fields = {}) => ({ spec: { power: 'On', image: 'i', ...spec } });
export const readinessRule = (spec: Fields = {}) => ({
  spec: {
    conditions: [{ type: 'Ready', requiredStatus: 'True' }],
    enforcementMode: 'Continuous',
    taint: { key: 'k' },
    serverSelector: {},
    ...spec,
  },
});
export const bmcSettings = (spec: Fields = {}) => ({ spec: { version: '1', BMCRef: { name: 'b' }, ...spec } });

const noAddress = 'expected an IPv4 or IPv6 address';
const oneOf = 'exactly one of access or endpointRef needs to be set';

const goodAddresses = [
  '192.0.2.10',
  '2001:DB8::1',
  '::1',
  '::',
  'fe80::1%eth0',
  'fe80::1%25',
  '::ffff:192.0.2.1',
  '::FFFF:c000:0201',
  '64:ff9b::192.0.2.1',
];
const badAddresses = [
  '',
  'bmc.example',
  '192.0.2',
  '192.0.2.256',
  '192.0.2.010',
  '192.0.2.1/24',
  '192.0.2.1:443',
  '192.0.2.1%eth0',
  'fe80::1%',
  '[::1]',
  '1::2::3',
  ' ::1',
  '%eth0',
];
const goodMacs = ['aa:bb:cc:dd:ee:ff', 'AA:BB:CC:DD:EE:00', 'aA-Bb-cC-dD-eE-01', '0123456789aB', 'aabb.ccdd.EE02', ''];
const badMacs = [
  'aa:bb:cc:dd:ee',
  'aa:bb:cc:dd:ee:fg',
  'aa:bb:cc:dd:ee:ff:00',
  'aa.bb.cc.dd.ee.ff',
  'aabb.ccdd.eeff.',
  'ａa:bb:cc:dd:ee:ff',
  'x',
];

const addresses: Row[] = [
  ...goodAddresses.map((ip) => ({
    title: `Endpoint accepts the address ${ip}`,
    kind: Endpoint,
    object: endpoint({ ip }),
  })),
  ...badAddresses.map((ip) => ({
    title: `Endpoint rejects "${ip}" as an address`,
    kind: Endpoint,
    object: endpoint({ ip }),
    expectedError: noAddress,
  })),
  ...goodMacs.map((macAddress) => ({
    title: `Endpoint accepts the MAC address "${macAddress}"`,
    kind: Endpoint,
    object: endpoint({ macAddress }),
  })),
  ...badMacs.map((macAddress) => ({
    title: `Endpoint rejects "${macAddress}" as a MAC address`,
    kind: Endpoint,
    object: endpoint({ macAddress }),
    expectedError: 'expected a MAC address such as',
  })),
  {
    title: 'BMC rejects access with text that is not an address',
    kind: BMC,
    object: bmc({ access: { ip: 'bmc' } }),
    expectedError: noAddress,
  },
  {
    title: 'BMC accepts access with an empty MAC address',
    kind: BMC,
    object: bmc({ access: { ip: '::1', macAddress: '' } }),
  },
];

const bmcs: Row[] = [
  { title: 'BMC rejects a spec with neither access nor endpointRef', kind: BMC, object: bmc({}), expectedError: oneOf },
  {
    title: 'BMC rejects both access and endpointRef',
    kind: BMC,
    object: bmc({ access: {}, endpointRef: { name: 'e' } }),
    expectedError: oneOf,
  },
  {
    title: 'BMC rejects another endpointRef',
    kind: BMC,
    object: bmc({ endpointRef: { name: 'e' } }),
    change: { spec: { endpointRef: { name: 'f' } } },
    expectedError: 'endpointRef is immutable',
  },
  {
    title: 'BMC rejects another access',
    kind: BMC,
    object: bmc({ access: { ip: '::1' } }),
    change: { spec: { access: { ip: '::2' } } },
    expectedError: 'access is immutable',
  },
  {
    title: 'BMC rejects an address added to access',
    kind: BMC,
    object: bmc({ access: {} }),
    change: { spec: { access: { ip: '::2' } } },
    expectedError: 'access is immutable',
  },
  {
    title: 'BMC may go from endpointRef to access',
    kind: BMC,
    object: bmc({ endpointRef: { name: 'e' } }),
    change: { spec: { endpointRef: null, access: { ip: '::1' } } },
  },
  {
    title: 'BMC rejects the removal of its endpointRef',
    kind: BMC,
    object: bmc({ endpointRef: { name: 'e' } }),
    change: { spec: { endpointRef: null } },
    expectedError: oneOf,
  },
  {
    title: 'BMC rejects an unknown scheme',
    kind: BMC,
    object: bmc({ access: {}, protocol: { name: 'Redfish', port: 1, scheme: 'ftp' } }),
    expectedError: 'spec.protocol.scheme',
  },
  {
    title: 'BMC accepts an empty scheme',
    kind: BMC,
    object: bmc({ access: {}, protocol: { name: 'Redfish', port: 1, scheme: '' } }),
  },
  {
    title: 'BMC accepts an unknown protocol, reported in its conditions',
    kind: BMC,
    object: bmc({ access: {}, protocol: { name: 'IPMI', port: 623 } }),
  },
  {
    title: 'BMC rejects an unknown console',
    kind: BMC,
    object: bmc({ access: {}, consoleProtocol: { name: 'ssh', port: 22 } }),
    expectedError: 'spec.consoleProtocol.name',
  },
  {
    title: 'BMC rejects a port that is not a number',
    kind: BMC,
    object: bmc({ access: {}, protocol: { name: 'Redfish', port: '443' } }),
    expectedError: 'spec.protocol.port',
  },
  {
    title: 'BMC accepts a fingerprint with colons',
    kind: BMC,
    object: bmc({
      access: {},
      protocol: { name: 'Redfish', port: 1, tls: { fingerprint: Array(32).fill('aB').join(':') } },
    }),
  },
  {
    title: 'BMC rejects a fingerprint of another length',
    kind: BMC,
    object: bmc({ access: {}, protocol: { name: 'Redfish', port: 1, tls: { fingerprint: 'abcd' } } }),
    expectedError: 'fingerprint',
  },
  {
    title: 'BMC requires its secret reference',
    kind: BMC,
    object: { spec: { access: {}, protocol: { name: 'Redfish', port: 1 } } },
    expectedError: 'spec.bmcSecretRef',
  },
];

const heldBy = { namespace: 'n', name: 'c' };

const servers: Row[] = [
  {
    title: 'Server rejects the power state on in lower case',
    kind: Server,
    object: server({ power: 'on' }),
    expectedError: 'spec.power',
  },
  { title: 'Server accepts an empty power state', kind: Server, object: server({ power: '' }) },
  {
    title: 'Server rejects an unknown indicatorLED',
    kind: Server,
    object: server({ indicatorLED: 'Red' }),
    expectedError: 'spec.indicatorLED',
  },
  {
    title: 'Server rejects an unknown reclaimPolicy',
    kind: Server,
    object: server({ reclaimPolicy: 'Delete' }),
    expectedError: 'spec.reclaimPolicy',
  },
  {
    title: 'Server rejects an unknown taint effect',
    kind: Server,
    object: server({ taints: [{ key: 'k', effect: 'NoSchedule' }] }),
    expectedError: 'effect',
  },
  {
    title: 'Server rejects a taint without a key',
    kind: Server,
    object: server({ taints: [{ key: '' }] }),
    expectedError: 'key',
  },
  {
    title: 'Server accepts bmc together with bmcRef',
    kind: Server,
    object: server({
      bmcRef: { name: 'b' },
      bmc: { address: 'a', protocol: { name: 'Redfish', port: 1 }, bmcSecretRef: { name: 's' } },
    }),
  },
  {
    title: 'Server requires its UUID once it has a spec',
    kind: Server,
    object: { spec: {} },
    expectedError: 'spec.systemUUID',
  },
  {
    title: 'Server may get a claim reference',
    kind: Server,
    object: server(),
    change: { spec: { serverClaimRef: heldBy } },
  },
  {
    title: 'Server may lose its claim reference',
    kind: Server,
    object: server({ serverClaimRef: heldBy }),
    change: { spec: { serverClaimRef: null } },
  },
  {
    title: 'Server may get the UID of the claim that v0.7.0 wrote by name',
    kind: Server,
    object: server({ serverClaimRef: heldBy }),
    change: { spec: { serverClaimRef: { uid: 'u' } } },
  },
  {
    title: 'Server may be evicted from its claim and keep the reference',
    kind: Server,
    object: server({ serverClaimRef: heldBy }),
    change: { spec: { serverClaimRef: { evicted: true } } },
  },
  {
    title: 'Server rejects a change to a claim of another name',
    kind: Server,
    object: server({ serverClaimRef: heldBy }),
    change: { spec: { serverClaimRef: { name: 'd' } } },
    expectedError: 'is immutable',
  },
  {
    title: 'Server rejects a change to a claim of another namespace',
    kind: Server,
    object: server({ serverClaimRef: heldBy }),
    change: { spec: { serverClaimRef: { namespace: 'm' } } },
    expectedError: 'is immutable',
  },
];

const toLabels = { matchLabels: { a: 'b' } };

const claims: Row[] = [
  {
    title: 'ServerClaim rejects the power state on in lower case',
    kind: ServerClaim,
    object: claim({ power: 'on' }),
    expectedError: 'spec.power',
  },
  { title: 'ServerClaim accepts an empty power state', kind: ServerClaim, object: claim({ power: '' }) },
  {
    title: 'ServerClaim requires a power state',
    kind: ServerClaim,
    object: { spec: { image: 'i' } },
    expectedError: 'spec.power',
  },
  {
    title: 'ServerClaim accepts a disk image with root device hints',
    kind: ServerClaim,
    object: claim({
      image: '',
      diskImage: { ...diskImage, rootDeviceHints: { minSizeGigabytes: 100, rotational: false } },
    }),
  },
  {
    title: 'ServerClaim rejects a disk image beside an image',
    kind: ServerClaim,
    object: claim({ diskImage }),
    expectedError: 'expected an empty image with diskImage',
  },
  {
    title: 'ServerClaim rejects an ignition beside a disk image',
    kind: ServerClaim,
    object: claim({ image: '', diskImage, ignitionSecretRef: { name: 'i' } }),
    expectedError: 'expected no ignitionSecretRef with diskImage',
  },
  {
    title: 'ServerClaim rejects a disk image that boots from the network each time',
    kind: ServerClaim,
    object: claim({ image: '', diskImage, bootPolicy: 'networkAlways' }),
    expectedError: 'expected another bootPolicy than networkAlways',
  },
  {
    title: 'ServerClaim rejects a vmdk image with the remedy',
    kind: ServerClaim,
    object: claim({ image: '', diskImage: { ...diskImage, format: 'vmdk' } }),
    expectedError: 'convert them with qemu-img',
  },
  {
    title: 'ServerClaim rejects a disk image from a registry',
    kind: ServerClaim,
    object: claim({ image: '', diskImage: { ...diskImage, url: 'oci://registry.test/os' } }),
    expectedError: 'spec.diskImage.url',
  },
  {
    title: 'ServerClaim requires a checksum of a disk image',
    kind: ServerClaim,
    object: claim({ image: '', diskImage: { url: diskImage.url, format: 'raw' } }),
    expectedError: 'spec.diskImage.checksum',
  },
  { title: 'ServerClaim accepts neither serverRef nor serverSelector', kind: ServerClaim, object: claim() },
  {
    title: 'ServerClaim may get its serverRef',
    kind: ServerClaim,
    object: claim(),
    change: { spec: { serverRef: { name: 'a' } } },
  },
  {
    title: 'ServerClaim rejects another serverRef',
    kind: ServerClaim,
    object: claim({ serverRef: { name: 'a' } }),
    change: { spec: { serverRef: { name: 'b' } } },
    expectedError: 'serverRef is immutable',
  },
  {
    title: 'ServerClaim rejects the removal of its serverRef',
    kind: ServerClaim,
    object: claim({ serverRef: { name: 'a' } }),
    change: { spec: { serverRef: null } },
    expectedError: 'serverRef is required once set',
  },
  {
    title: 'ServerClaim may get its serverSelector',
    kind: ServerClaim,
    object: claim(),
    change: { spec: { serverSelector: toLabels } },
  },
  {
    title: 'ServerClaim rejects another serverSelector',
    kind: ServerClaim,
    object: claim({ serverSelector: toLabels }),
    change: { spec: { serverSelector: { matchLabels: { a: 'c' } } } },
    expectedError: 'serverSelector is immutable',
  },
  {
    title: 'ServerClaim rejects the removal of its serverSelector',
    kind: ServerClaim,
    object: claim({ serverSelector: {} }),
    change: { spec: { serverSelector: null } },
    expectedError: 'serverSelector is required once set',
  },
  {
    title: 'ServerClaim rejects an unknown toleration operator',
    kind: ServerClaim,
    object: claim({ tolerations: [{ key: 'k', operator: 'In' }] }),
    expectedError: 'operator',
  },
];

const readinessRules: Row[] = [
  {
    title: 'ServerReadinessRule accepts a selector of all servers',
    kind: ServerReadinessRule,
    object: readinessRule(),
  },
  {
    title: 'ServerReadinessRule requires a spec',
    kind: ServerReadinessRule,
    object: {},
    expectedError: 'spec: Required value',
  },
  {
    title: 'ServerReadinessRule requires a condition',
    kind: ServerReadinessRule,
    object: readinessRule({ conditions: [] }),
    expectedError: 'spec.conditions',
  },
  {
    title: 'ServerReadinessRule rejects other conditions',
    kind: ServerReadinessRule,
    object: readinessRule(),
    change: { spec: { conditions: [{ type: 'Other', requiredStatus: 'True' }] } },
    expectedError: 'conditions is immutable',
  },
  {
    title: 'ServerReadinessRule rejects another enforcementMode',
    kind: ServerReadinessRule,
    object: readinessRule(),
    change: { spec: { enforcementMode: 'BootstrapOnly' } },
    expectedError: 'enforcementMode is immutable',
  },
  {
    title: 'ServerReadinessRule rejects another serverSelector',
    kind: ServerReadinessRule,
    object: readinessRule(),
    change: { spec: { serverSelector: toLabels } },
    expectedError: 'serverSelector is immutable',
  },
  {
    title: 'ServerReadinessRule rejects another taint key',
    kind: ServerReadinessRule,
    object: readinessRule(),
    change: { spec: { taint: { key: 'l' } } },
    expectedError: 'taint key is immutable',
  },
  {
    title: 'ServerReadinessRule rejects another taint effect',
    kind: ServerReadinessRule,
    object: readinessRule(),
    change: { spec: { taint: { effect: 'Evict' } } },
    expectedError: 'taint effect is immutable',
  },
  {
    title: 'ServerReadinessRule may get a taint value',
    kind: ServerReadinessRule,
    object: readinessRule(),
    change: { spec: { taint: { value: 'v' } } },
  },
  {
    title: 'ServerReadinessRule rejects another taint value',
    kind: ServerReadinessRule,
    object: readinessRule({ taint: { key: 'k', value: 'v' } }),
    change: { spec: { taint: { value: 'w' } } },
    expectedError: 'taint value is immutable',
  },
  {
    title: 'ServerReadinessRule rejects the removal of its taint value',
    kind: ServerReadinessRule,
    object: readinessRule({ taint: { key: 'k', value: 'v' } }),
    change: { spec: { taint: { value: null } } },
    expectedError: 'taint value is immutable',
  },
  {
    title: 'ServerReadinessRule rejects an overlong taint key',
    kind: ServerReadinessRule,
    object: readinessRule({ taint: { key: 'k'.repeat(254) } }),
    expectedError: 'taint key length must be at most 253 characters',
  },
];

const sealed = { immutable: true, data: { username: 'cm9vdA==' }, stringData: { password: 'p' } };
const dataIsFixed = 'data field is immutable and cannot be updated';
const stringDataIsFixed = 'stringData field is immutable and cannot be updated';

const secrets: Row[] = [
  {
    title: 'BMCSecret may be changed while it is not immutable',
    kind: BMCSecret,
    object: { data: { username: 'cm9vdA==' } },
    change: { immutable: true, data: { username: 'YQ==' } },
  },
  {
    title: 'BMCSecret rejects data that is not base64',
    kind: BMCSecret,
    object: { data: { username: '!' } },
    expectedError: 'data.username',
  },
  {
    title: 'an immutable BMCSecret stays immutable',
    kind: BMCSecret,
    object: sealed,
    change: { immutable: false },
    expectedError: 'immutable field cannot be changed from true to false',
  },
  {
    title: 'an immutable BMCSecret rejects the removal of immutable',
    kind: BMCSecret,
    object: sealed,
    change: { immutable: null },
    expectedError: 'immutable field cannot be changed from true to false',
  },
  {
    title: 'an immutable BMCSecret rejects other data',
    kind: BMCSecret,
    object: sealed,
    change: { data: { username: 'YQ==' } },
    expectedError: dataIsFixed,
  },
  {
    title: 'an immutable BMCSecret rejects more data',
    kind: BMCSecret,
    object: sealed,
    change: { data: { more: 'YQ==' } },
    expectedError: dataIsFixed,
  },
  {
    title: 'an immutable BMCSecret rejects the removal of its data',
    kind: BMCSecret,
    object: sealed,
    change: { data: null },
    expectedError: dataIsFixed,
  },
  {
    title: 'an immutable BMCSecret rejects first data',
    kind: BMCSecret,
    object: { immutable: true },
    change: { data: { a: 'YQ==' } },
    expectedError: dataIsFixed,
  },
  {
    title: 'an immutable BMCSecret whose base64 has a + and a / may still be labelled',
    kind: BMCSecret,
    object: { immutable: true, data: { password: 'RHV+/w==' } },
    change: { metadata: { labels: { rack: 'one' } } },
  },
  {
    title: 'an immutable BMCSecret rejects other stringData',
    kind: BMCSecret,
    object: sealed,
    change: { stringData: { password: 'q' } },
    expectedError: stringDataIsFixed,
  },
  {
    title: 'an immutable BMCSecret accepts labels',
    kind: BMCSecret,
    object: sealed,
    change: { metadata: { labels: { a: 'b' } } },
  },
];

const fieldOf = (fieldPath: string) => ({ fieldRef: { fieldPath } });
const keyOf = { name: 'n', namespace: 'm', key: 'k' };
const version = { version: '1', image: { URI: 'u' } };

const dayTwo: Row[] = [
  {
    title: 'BMCSettings accepts a variable of each source',
    kind: BMCSettings,
    object: bmcSettings({
      variables: [
        { key: 'a', valueFrom: fieldOf('p') },
        { key: 'b', valueFrom: { secretKeyRef: keyOf } },
        { key: 'c', valueFrom: { configMapKeyRef: keyOf } },
        { key: 'd', valueFrom: { objectFieldRef: { kind: 'BMC', name: 'n', fieldPath: 'p' } } },
      ],
    }),
  },
  {
    title: 'BMCSettings rejects two variables of one key',
    kind: BMCSettings,
    object: bmcSettings({
      variables: [
        { key: 'a', valueFrom: fieldOf('p') },
        { key: 'a', valueFrom: fieldOf('q') },
      ],
    }),
    expectedError: 'unique',
  },
  {
    title: 'BMCSettings rejects a variable without a source',
    kind: BMCSettings,
    object: bmcSettings({ variables: [{ key: 'a', valueFrom: {} }] }),
    expectedError: 'exactly one of',
  },
  {
    title: 'BMCSettings rejects a variable with two sources',
    kind: BMCSettings,
    object: bmcSettings({ variables: [{ key: 'a', valueFrom: { ...fieldOf('p'), secretKeyRef: keyOf } }] }),
    expectedError: 'exactly one of',
  },
  {
    title: 'BMCSettings rejects a field of another kind than BMC',
    kind: BMCSettings,
    object: bmcSettings({
      variables: [{ key: 'a', valueFrom: { objectFieldRef: { kind: 'Server', name: 'n', fieldPath: 'p' } } }],
    }),
    expectedError: 'objectFieldRef.kind',
  },
  {
    title: 'BMCSettings rejects another BMC',
    kind: BMCSettings,
    object: bmcSettings(),
    change: { spec: { BMCRef: { name: 'c' } } },
    expectedError: 'BMCRef is immutable',
  },
  {
    title: 'BIOSSettings rejects another server',
    kind: BIOSSettings,
    object: { spec: { version: '1', serverRef: { name: 'a' } } },
    change: { spec: { serverRef: { name: 'b' } } },
    expectedError: 'serverRef is immutable',
  },
  {
    title: 'BIOSSettings may lose its server',
    kind: BIOSSettings,
    object: { spec: { version: '1', serverRef: { name: 'a' } } },
    change: { spec: { serverRef: null } },
  },
  {
    title: 'BIOSSettings rejects more than ten retries',
    kind: BIOSSettings,
    object: { spec: { version: '1', retryPolicy: { maxAttempts: 11 } } },
    expectedError: 'maxAttempts',
  },
  {
    title: 'BMCVersion may get its BMC later',
    kind: BMCVersion,
    object: { spec: version },
    change: { spec: { bmcRef: { name: 'b' } } },
  },
  {
    title: 'BMCVersion rejects another BMC',
    kind: BMCVersion,
    object: { spec: { ...version, bmcRef: { name: 'a' } } },
    change: { spec: { bmcRef: { name: 'b' } } },
    expectedError: 'bmcRef is immutable',
  },
];

export const rows: readonly Row[] = [
  ...addresses,
  ...bmcs,
  ...servers,
  ...claims,
  ...readinessRules,
  ...secrets,
  ...dayTwo,
];
