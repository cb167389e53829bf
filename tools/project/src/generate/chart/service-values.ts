import {
  type ChartValue,
  count,
  flag,
  listOf,
  object,
  oneOf,
  placementValues,
  port,
  quantity,
  serviceValues,
  text,
  texts,
  url,
  value,
} from './value.ts';

const names = listOf(text);
const smallResources = { requests: { cpu: '50m', memory: '128Mi' }, limits: { memory: '256Mi' } };

const registry: readonly ChartValue[] = [
  value('registry.enabled', true, flag, 'Receive the reports of machines.'),
  value('registry.port', 10_000, port, 'Port of process and Service `metal-registry`.'),
  value(
    'registry.url',
    '',
    url,
    'URL under which machines reach the registry, for example `http://192.0.2.1:10000`. Required, unless `manager.args` has `--registry-url`.',
  ),
  value('registry.auth', 'token', oneOf('token', 'none'), 'none: for probes of v0.7.0.'),
  value('registry.tls.secret', '', text, 'Secret of type `kubernetes.io/tls` for reports over TLS.'),
  ...serviceValues('registry.service', 'machines'),
];

const boot: readonly ChartValue[] = [
  value('boot.enabled', true, flag, 'Serve boot data. Without it another boot operator has to.'),
  value('boot.port', 8082, port, 'Port of process and Service.'),
  value(
    'boot.url',
    '',
    url,
    'URL under which machines reach the boot service; empty: port 8082 of the host of `registry.url`.',
  ),
  value(
    'boot.images',
    {},
    { type: 'object', additionalProperties: object },
    'Kernel, initrd, UKI and command line by the name of the image. Read again when it changes.',
  ),
  value('boot.allowedRegistries', ['ghcr.io'], names, 'Registries of OCI images that may be booted.'),
  value('boot.credentialsSecret', '', text, 'Secret of type `kubernetes.io/dockerconfigjson` for them.'),
  value(
    'boot.allowedImageOrigins',
    [],
    names,
    'Origins that claims may name by URL, such as `https://images.example`.',
  ),
  value(
    'boot.refusedImageNetworks',
    [],
    names,
    'Networks that such an image is never loaded from; empty: the default of the operator. List the pod and service networks besides that default.',
  ),
  value('boot.trustedProxies', [], names, 'Networks of proxies in front of the boot service.'),
  value('boot.bindTokens', true, flag, 'false where one machine has several addresses, behind NAT or a load balancer.'),
  value('boot.cache.size', '20Gi', quantity, 'Maximum size of the images of registries that are kept.'),
  value(
    'boot.cache.volumeSize',
    '25Gi',
    quantity,
    'Size of their volume; larger, because images are written before others are evicted.',
  ),
  value('boot.cache.storageClass', '', text, 'Storage class of an ephemeral volume; empty: an emptyDir.'),
  ...serviceValues('boot.service', 'machines'),
];

const events: readonly ChartValue[] = [
  value('events.enabled', false, flag, 'Receive events of BMCs.'),
  value('events.port', 10_001, port, 'Port of process and Service.'),
  value(
    'events.url',
    '',
    url,
    'URL under which BMCs reach the event receiver. Required, unless the environment has `EVENT_ADDRESS`.',
  ),
  ...serviceValues('events.service', 'BMCs'),
];

const metadata: readonly ChartValue[] = [
  value('metadata.enabled', false, flag, 'Serve metadata and user data to running machines.'),
  value(
    'metadata.mode',
    'inProcess',
    oneOf('inProcess', 'daemonSet'),
    'daemonSet: separate pods, which read no Secret but user data.',
  ),
  value('metadata.port', 10_002, port, 'Port of process and Service.'),
  value('metadata.auth', 'address', oneOf('address', 'token'), 'token: machines need the token of their boot.'),
  value(
    'metadata.readBootKey',
    false,
    flag,
    'With daemonSet: accept tokens. Its account may then read the key that tokens are made with.',
  ),
  value('metadata.userDataNamespaces', [], names, 'Namespaces whose Secrets with user data may be read.'),
  value('metadata.static', {}, texts, 'Metadata of every machine.'),
  value(
    'metadata.hostNetwork',
    false,
    flag,
    'With daemonSet: serve at the addresses of the nodes. The namespace has to allow privileged pods.',
  ),
  value('metadata.healthPort', 8081, port, 'With daemonSet: port of /healthz and /readyz.'),
  value('metadata.resources', smallResources, object, 'With daemonSet: resources.'),
  ...placementValues('metadata'),
  ...serviceValues('metadata.service', 'machines'),
];

const dhcp: readonly ChartValue[] = [
  value(
    'dhcp.enabled',
    false,
    flag,
    'Run dnsmasq in the network of the nodes. The namespace has to allow privileged pods.',
  ),
  value('dhcp.replicas', 1, count, 'Replicas on different nodes; one serves.'),
  value('dhcp.image.repository', '', text, 'Image with dnsmasq; empty: that of the operator.'),
  value('dhcp.image.tag', '', text, 'empty: that of the operator with `-dhcp`.'),
  value(
    'dhcp.image.digest',
    '',
    { type: 'string', pattern: '^(sha256:[0-9a-f]{64})?$' },
    'Digest, instead of the tag.',
  ),
  value('dhcp.interfaces', [], names, 'Interfaces of the nodes; empty: all.'),
  value('dhcp.ranges', [], names, 'Addresses to assign, like `192.0.2.100-192.0.2.199/24@192.0.2.1`. Required.'),
  value('dhcp.dns', [], names, 'Name servers for machines.'),
  value('dhcp.leaseTime', '1h', text, 'Lease time of an address.'),
  value('dhcp.macPrefixes', [], names, 'Prefixes of machines that are answered before they have a Server.'),
  value('dhcp.unknown', 'ignore', oneOf('ignore', 'answer'), 'What unknown machines get.'),
  value('dhcp.endpointRange', [], names, 'Management networks whose devices become Endpoints.'),
  value('dhcp.leases.hostPath', '', text, 'Directory of the node for leases; empty: they are lost with the pod.'),
  value('dhcp.leases.claim', '', text, 'PersistentVolumeClaim for leases, with one replica.'),
  value('dhcp.metricsPort', 18_443, port, 'Port on the nodes for metrics.'),
  value('dhcp.healthPort', 18_081, port, 'Port on the nodes for /healthz and /readyz.'),
  value('dhcp.resources', smallResources, object, 'Resources.'),
  ...placementValues('dhcp'),
];

const metal3: readonly ChartValue[] = [
  value('metal3.enabled', false, flag, 'Serve BareMetalHosts of Metal3.'),
  value('metal3.crds', true, flag, 'Install and upgrade the kinds of Metal3; false where the baremetal-operator did.'),
  value(
    'metal3.provisioner',
    'native',
    oneOf('native', 'ironic'),
    'Back end of hosts without an annotation of their own.',
  ),
  value('metal3.ironic.url', '', url, 'URL of Ironic. Required with `provisioner: ironic`.'),
  value('metal3.ironic.authSecret', '', text, 'Secret with the keys `username` and `password` for Ironic.'),
  value(
    'metal3.ironic.caSecret',
    '',
    text,
    'Secret with `ca.crt`, which the certificate of Ironic is verified against.',
  ),
];

export const serviceGroups: readonly (readonly ChartValue[])[] = [registry, boot, events, metadata, dhcp, metal3];
