import { defaultRefusedNetworks } from './image-sources.ts';

/**
 * Every option of `metal-operator`, as data: help, parsing, defaults and docs/operate/options.md come from this table.
 * Names, syntax and meaning of the first group are those of metal-operator v0.7.0, except that defaults are secure.
 */
export interface Option {
  readonly name: string;
  /** pairs: `key=value`, and may be given several times. */
  readonly type: 'string' | 'boolean' | 'duration' | 'integer' | 'pairs';
  readonly default: string;
  readonly help: string;
}

const option = <const Name extends string>(name: Name, type: Option['type'], fallback: string, help: string) =>
  ({ name, type, default: fallback, help }) satisfies Option;

export const compatibleOptions = [
  option(
    'server-max-concurrent-reconciles',
    'integer',
    '5',
    'Server turns judged at once; a turn that waits for a BMC does not count',
  ),
  option('server-claim-max-concurrent-reconciles', 'integer', '5', 'ServerClaim turns judged at once'),
  option('discovery-timeout', 'duration', '30m', 'How long one discovery attempt may take'),
  option(
    'resource-polling-interval',
    'duration',
    '5s',
    'Longest pause between two reads of a resource that is waited for',
  ),
  option('resource-polling-timeout', 'duration', '2m', 'How long a resource is waited for'),
  option(
    'power-polling-interval',
    'duration',
    '5s',
    'Longest pause between two reads of a power state that is waited for',
  ),
  option(
    'power-polling-timeout',
    'duration',
    '2m',
    'How long a power change may take before it is escalated or reported',
  ),
  option(
    'registry-resync-interval',
    'duration',
    '10s',
    'Accepted for compatibility; probe reports are pushed, not polled',
  ),
  option(
    'registry-client-timeout',
    'duration',
    '5s',
    'Accepted for compatibility; nothing here is a client of the registry',
  ),
  option(
    'registry-data-max-age',
    'duration',
    '2m',
    'Accepted for compatibility; a report belongs to one boot attempt, not to an age',
  ),
  option('server-resync-interval', 'duration', '2m', 'How often the power state of a server at rest is read'),
  option('bmc-failure-reset-delay', 'duration', '0s', 'Reset a BMC that has failed for this long; 0 never'),
  option('bmc-reset-resync-interval', 'duration', '2m', 'How often a resetting BMC is tried'),
  option('bmc-reset-waiting-interval', 'duration', '2m', 'Quiet time after a BMC reset'),
  option('ssh-reset-timeout', 'duration', '2m', 'Deadline of a BMC reset over SSH'),
  option('maintenance-resync-interval', 'duration', '2m', 'How often a running maintenance is looked at'),
  option('bios-setting-timeout', 'duration', '2h', 'How long BIOS settings may take to apply'),
  option('default-failed-auto-retry-count', 'integer', '0', 'Automatic retries of failed day-two work'),
  option(
    'discovery-ignition-path',
    'string',
    '',
    'Butane template of the discovery boot; empty: /etc/metal-operator/ignition-template.yaml if it exists, else built-in Ignition, which needs no butane',
  ),
  option(
    'registry-url',
    'string',
    '',
    'URL under which probes reach the registry; empty: <registry-protocol>://$REGISTRY_ADDRESS:<registry-port>',
  ),
  option('registry-protocol', 'string', 'http', 'Scheme of the composed registry URL'),
  option('registry-port', 'integer', '10000', 'Port the registry listens on; 0 takes a free one'),
  option(
    'event-url',
    'string',
    '',
    'URL under which BMCs reach the event receiver; empty: <event-protocol>://$EVENT_ADDRESS:<event-port>, or no events',
  ),
  option('event-port', 'integer', '10001', 'Port of the event receiver; 0 takes a free one'),
  option('event-protocol', 'string', 'http', 'Scheme of the composed event URL'),
  option('probe-image', 'string', '', 'Container image of the probe, for ignition templates that pull it (required)'),
  option('probe-os-image', 'string', '', 'Image that discovery boots (required)'),
  option('manager-namespace', 'string', 'default', 'Namespace of discovery boot configurations and their secrets'),
  option(
    'insecure',
    'boolean',
    'false',
    'Speak http to BMCs and do not verify certificates unless --protocol says otherwise (v0.7.0 defaulted to true)',
  ),
  option('protocol', 'string', '', 'Default scheme of BMCs: http or https; empty: https, or http with --insecure'),
  option('skip-cert-validation', 'boolean', 'false', 'Do not verify BMC certificates'),
  option('mac-prefixes-file', 'string', '', 'MAC prefix database (YAML or JSON)'),
  option(
    'dns-record-template-path',
    'string',
    '',
    'File that is the template of the DNS record object made for each BMC; empty: none are made',
  ),
  option('enforce-first-boot', 'boolean', 'false', 'Power off servers that are found running, to discover them'),
  option(
    'enforce-power-off',
    'boolean',
    'false',
    'Force off a claimed server whose operating system ignores the shutdown its claim asked for',
  ),
  option('leader-elect', 'boolean', 'false', 'Only the holder of the lease works'),
  option('metrics-bind-address', 'string', ':8080', 'Address of the metrics endpoint; 0 for none'),
  option('metrics-secure', 'boolean', 'true', 'Serve metrics over TLS, to authorised clients only'),
  option('metrics-cert-path', 'string', '', 'Directory of the metrics certificate; empty: self-signed'),
  option('metrics-cert-name', 'string', 'tls.crt', 'File name of the metrics certificate'),
  option('metrics-cert-key', 'string', 'tls.key', 'File name of the metrics key'),
  option('health-probe-bind-address', 'string', ':8081', 'Address of /healthz and /readyz; 0 for none'),
  option(
    'webhook-port',
    'integer',
    '9443',
    'Accepted for compatibility; the API server validates, by CRDs and admission policies',
  ),
  option('webhook-cert-path', 'string', '', 'Accepted for compatibility'),
  option('webhook-cert-name', 'string', 'tls.crt', 'Accepted for compatibility'),
  option('webhook-cert-key', 'string', 'tls.key', 'Accepted for compatibility'),
  option('enable-http2', 'boolean', 'false', 'Accepted for compatibility; endpoints speak HTTP/1.1'),
  option('kubeconfig', 'string', '', 'Kubeconfig file; empty: $KUBECONFIG, in-cluster, ~/.kube/config'),
  option('zap-devel', 'boolean', 'true', 'Readable log lines instead of JSON'),
  option('zap-encoder', 'string', '', 'Log format: json or console; overrides --zap-devel'),
  option('zap-log-level', 'string', 'info', 'debug, info, error, or a number (verbosity)'),
  option('zap-stacktrace-level', 'string', '', 'Accepted for compatibility'),
  option('zap-time-encoding', 'string', '', 'Accepted for compatibility'),
] as const;

export const ownOptions = [
  option(
    'components',
    'string',
    'controllers,registry,boot',
    'What this process runs, of controllers, registry, boot, metadata, dhcp; leave out boot and an external boot operator sets boot configurations Ready',
  ),
  option(
    'registry-auth',
    'string',
    'token',
    'token: reports need the token of their boot; none: accept anybody, for probes of v0.7.0',
  ),
  option('metadata-port', 'integer', '10002', 'Port of the metadata service; 0 takes a free one'),
  option(
    'metadata-auth',
    'string',
    'address',
    'address: a machine is known by its address or by the token of its boot; token: by its token only',
  ),
  option('static-metadata', 'pairs', '', 'key=value that every machine is shown; may be given several times'),
  option('boot-port', 'integer', '8082', 'Port of the boot service; 0 takes a free one'),
  option(
    'boot-url',
    'string',
    '',
    'URL under which machines reach the boot service; empty: http://$BOOT_ADDRESS:<boot-port>, or the host of the registry URL',
  ),
  option(
    'trusted-proxies',
    'string',
    '',
    'Addresses and networks (CIDR, with commas between) of proxies in front of the boot service, whose X-Forwarded-For is believed; empty: none',
  ),
  option(
    'bind-boot-tokens',
    'boolean',
    'true',
    'Give a boot to the client that loads it first, and to no other address for ten minutes; false where the addresses of one machine change between requests, behind NAT or a load balancer',
  ),
  option(
    'ipxe-directory',
    'string',
    '/usr/lib/ipxe',
    'Directory with iPXE programs (ipxe.efi, ipxe-arm64.efi, …), served to firmware that boots over HTTP without orders; empty to serve none',
  ),
  option('boot-images', 'string', '', 'File that names the kernel, initrd and command line of images (YAML or JSON)'),
  option(
    'boot-file-roots',
    'string',
    '',
    'Directories, separated by commas, below which spec.image may name file:///…',
  ),
  option(
    'allowed-image-origins',
    'string',
    '',
    'Origins, separated by commas, that spec.image may name by URL, such as https://images.example:8443; empty: none. The file of --boot-images and --probe-os-image may name any',
  ),
  option(
    'refused-image-networks',
    'string',
    defaultRefusedNetworks.join(','),
    'Networks, separated by commas, that are never connected to for such an image, nor where a registry leads to; empty: the default',
  ),
  option(
    'publish-boot-configs',
    'boolean',
    'false',
    'Keep an IPXEBootConfig or HTTPBootConfig of each prepared boot, for programs that read those of boot.ironcore.dev; two more writes per boot',
  ),
  option('butane', 'string', 'butane', 'Program that translates ignition with format: fcos; a path, or a name in PATH'),
  option(
    'allowed-registries',
    'string',
    'ghcr.io',
    'Registries, separated by commas, that OCI images may be booted from; docker.io is the Docker Hub',
  ),
  option(
    'insecure-registries',
    'string',
    '',
    'Registries, separated by commas, that are spoken to by http; they have to be among the allowed ones, too',
  ),
  option(
    'registry-credentials-file',
    'string',
    '',
    'Credentials for registries, as docker login writes them to config.json; read again when it changes',
  ),
  option('architecture', 'string', 'amd64', 'Architecture of servers whose processors do not say theirs: amd64, arm64'),
  option(
    'boot-cache-dir',
    'string',
    '',
    'Directory for what is pulled from registries, for one process; empty: a temporary one that ends with the process',
  ),
  option('boot-cache-size', 'string', '20Gi', 'Most that is kept there; what was not used for longest makes room'),
  option(
    'boot-step-deadlines',
    'string',
    '',
    'How long a step of a boot may take before it is called overdue, with commas between, where firmware or network are slower than usual: script=30m,kernel=20m; of script, kernel, initrd, uki, ignition, probe',
  ),
  option(
    'default-httpboot-oci-image',
    'string',
    '',
    'OCI image whose UKI is offered at /httpboot to machines that nobody knows; empty: none',
  ),
  option(
    'dhcp',
    'string',
    'none',
    'With the component dhcp: dnsmasq runs dnsmasq as a child; files only writes what a dnsmasq elsewhere reads; none: the site has DHCP of its own',
  ),
  option(
    'dhcp-directory',
    'string',
    '/var/lib/metal-operator/dhcp',
    'Directory for the configuration and the leases of dnsmasq',
  ),
  option('dhcp-interfaces', 'string', '', 'Interfaces that DHCP answers on, with commas between; empty: all'),
  option(
    'dhcp-ranges',
    'string',
    '',
    'Addresses to give: first-last/prefix length, with @router if there is one, with commas between, like 192.0.2.100-192.0.2.199/24@192.0.2.1',
  ),
  option('dhcp-dns', 'string', '', 'Name servers that machines are told, with commas between'),
  option('dhcp-lease-time', 'duration', '1h', 'How long an address is given for; at least 2m'),
  option(
    'dhcp-mac-prefixes',
    'string',
    '',
    'Machines that are answered before they are known, by how their MAC addresses begin, with commas between',
  ),
  option(
    'dhcp-unknown',
    'string',
    'ignore',
    'Machines that are neither known nor match --dhcp-mac-prefixes: ignore or answer',
  ),
  option(
    'dhcp-endpoint-range',
    'string',
    '',
    'Management networks (CIDR, with commas between): a lease there of a device in the MAC prefix database becomes an Endpoint',
  ),
  option(
    'tftp-root',
    'string',
    '/usr/lib/ipxe',
    'Directory with the iPXE binaries that DHCP serves by TFTP; empty: none',
  ),
  option(
    'registry-cert-path',
    'string',
    '',
    'Directory with tls.crt and tls.key for the registry, and ca.crt for probes; empty: the registry itself speaks http',
  ),
  option(
    'registry-ca-file',
    'string',
    '',
    'Certificates (PEM) that probes verify an https registry against; empty: ca.crt beside its certificate, else the well-known ones',
  ),
  option(
    'bmc-ca-file',
    'string',
    '',
    'Certificates (PEM) that BMC certificates are verified against, instead of the system ones',
  ),
  option(
    'event-auth',
    'string',
    'token',
    'token: BMCs send events to a destination that nobody else can guess; none: to that of v0.7.0',
  ),
  option(
    'bmc-resync-interval',
    'duration',
    '10m',
    'How often a BMC at rest is read, with jitter; its servers are looked at more often',
  ),
  option(
    'max-systems-per-bmc',
    'integer',
    '64',
    'A BMC that reports more systems gets no new Server; those that exist are managed on',
  ),
  option('bmc-call-timeout', 'duration', '20s', 'Deadline of one BMC request'),
  option(
    'convert-bmc-secrets',
    'boolean',
    'true',
    'Move stringData of BMCSecrets into data; false leaves it in clear text, as v0.7.0 did',
  ),
  option(
    'shards',
    'string',
    'none',
    'auto: replicas share the BMCs among themselves, with --leader-elect implied; none: the one that leads works on all',
  ),
  option(
    'leader-election-lease-duration',
    'duration',
    '15s',
    'With --leader-elect: others may take the lease, or the BMCs of a replica, this long after its last renewal',
  ),
  option(
    'leader-election-renew-deadline',
    'duration',
    '10s',
    'With --leader-elect: a leader that could not renew for this long stops working; shorter than the lease',
  ),
  option(
    'leader-election-retry-period',
    'duration',
    '2s',
    'With --leader-elect: pause between two tries to take or renew the lease',
  ),
  option(
    'cleanup-disks',
    'string',
    'None',
    'What is done to the disks of a server between two claims, unless its spec says: None, Metadata, Clear or Purge',
  ),
  option(
    'cleanup-bios',
    'string',
    'None',
    'Whether the BIOS of a server gets the settings of the factory between two claims, unless its spec says: None or Reset',
  ),
  option(
    'cleanup-boot-order',
    'string',
    'None',
    'Whether the boot order of a server is restored between two claims, unless its spec says: None or Reset',
  ),
  option('cleanup-attempts', 'integer', '3', 'Attempts to clean up a server before it goes to Error'),
  option('cleanup-timeout', 'duration', '30m', 'An attempt of a cleanup of which nothing is heard for so long failed'),
  option('cleanup-at-once', 'integer', '10', 'Servers that are cleaned up at the same time; the others wait'),
  option('cleanup-per-hour', 'integer', '60', 'Servers whose cleanup begins within an hour; the others wait'),
  option('discovery-attempts', 'integer', '5', 'Discovery attempts before a server goes to Error'),
  option('power-attempts', 'integer', '5', 'Requests for one power change before a server goes to Error'),
  option(
    'eviction-grace-period',
    'duration',
    '10m',
    'How long a claim keeps its server after a taint with effect Evict that it does not tolerate',
  ),
] as const;

export const options: readonly Option[] = [...compatibleOptions, ...ownOptions];
export type OptionName = (typeof compatibleOptions)[number]['name'] | (typeof ownOptions)[number]['name'];

/** Names of v0.7.0 that mean an option of ours. */
export const formerNames: Readonly<Record<string, OptionName>> = { 'metaldata-port': 'metadata-port' };

/**
 * Accepted, and without effect in this version: either what they tune does not exist here by design (reports are pushed,
 * the API server validates), or its turn has not come (day-two work). Whoever sets one is told.
 */
export const inertOptions: ReadonlySet<string> = new Set<OptionName>([
  'resource-polling-interval',
  'resource-polling-timeout',
  'registry-resync-interval',
  'registry-client-timeout',
  'registry-data-max-age',
  'maintenance-resync-interval',
  'bios-setting-timeout',
  'default-failed-auto-retry-count',
  'webhook-port',
  'webhook-cert-path',
  'webhook-cert-name',
  'webhook-cert-key',
  'enable-http2',
  'zap-stacktrace-level',
  'zap-time-encoding',
] satisfies OptionName[]);
