import { existsSync, readFileSync } from 'node:fs';
import { isAddressOrNetwork } from '@metal/api/common/address-list.ts';
import { parseDuration } from '@metal/api/common/duration.ts';
import { type AwaitedBootStep, awaitedBootSteps } from '@metal/api/wire/boot-steps.ts';
import { type ErasureMode, erasureModes, type SettingReset, settingResets } from '@metal/api/wire/erasure.ts';
import { Command, CommanderError } from 'commander';
import { BmcAuthorities } from './bmc-connections/bmc-authorities.ts';
import { ConfigError } from '@metal/kube/config-error.ts';
import { type ImageSources, imageSourcesOf } from './image-sources.ts';
import { formerNames, inertOptions, type Option, type OptionName, options } from './options.ts';

interface CertificateFiles {
  readonly certificateFile: string;
  readonly keyFile: string;
}

/** What a run of the operator is told from outside. The only reader of flags and environment. */
export interface OperatorConfig {
  readonly components: ReadonlySet<Component>;
  readonly managerNamespace: string;
  readonly kubeconfigPath: string | undefined;
  /** The cluster that this process is a pod of, unless it is told of another one. */
  readonly homeCluster: { readonly host: string; readonly port: string } | undefined;
  readonly leaderElect: boolean;
  /** auto: replicas share the BMCs, and what is behind them. */
  readonly shards: 'none' | 'auto';
  readonly lease: { readonly leaseMs: number; readonly renewMs: number; readonly retryMs: number };
  readonly serverConcurrency: number;
  readonly claimConcurrency: number;
  readonly discoveryTimeoutMs: number;
  readonly discoveryAttempts: number;
  /** What is done to disks between two claims, where the server itself does not say. */
  readonly cleanupDisks: ErasureMode;
  readonly cleanupBios: SettingReset;
  readonly cleanupBootOrder: SettingReset;
  readonly cleanupAttempts: number;
  readonly cleanupTimeoutMs: number;
  readonly cleanupAtOnce: number;
  readonly cleanupPerHour: number;
  readonly powerAttempts: number;
  readonly evictionGraceMs: number;
  readonly powerPollingIntervalMs: number;
  readonly powerTimeoutMs: number;
  readonly serverResyncMs: number;
  readonly bmcResyncMs: number;
  readonly maxSystemsPerBmc: number;
  readonly bmcCallTimeoutMs: number;
  /** 0: BMCs that fail are never reset by themselves. */
  readonly bmcFailureResetDelayMs: number;
  readonly bmcResetResyncMs: number;
  readonly bmcResetWaitingMs: number;
  readonly sshResetTimeoutMs: number;
  /** stringData of BMCSecrets is moved into data. */
  readonly convertsBmcSecrets: boolean;
  readonly defaultScheme: 'http' | 'https';
  readonly skipCertificateValidation: boolean;
  readonly bmcAuthorities: BmcAuthorities;
  readonly macPrefixesFile: string | undefined;
  readonly dnsRecordTemplatePath: string | undefined;
  readonly enforceFirstBoot: boolean;
  readonly enforcePowerOff: boolean;
  readonly probeImage: string;
  readonly probeOsImage: string;
  readonly ignitionTemplatePath: string | undefined;
  readonly registryAuth: 'token' | 'none';
  readonly registryPort: number;
  readonly registryUrl: string;
  /** Files of what the registry shows; without, it speaks http. */
  readonly registryCertificate: CertificateFiles | undefined;
  readonly registryCaPem: string | undefined;
  readonly bootPort: number;
  readonly bootUrl: string;
  readonly trustedProxies: readonly string[];
  readonly bindsBootTokens: boolean;
  readonly bootImagesFile: string | undefined;
  readonly bootFileRoots: readonly string[];
  readonly imageSources: ImageSources;
  readonly butane: string;
  readonly publishesBootConfigs: boolean;
  readonly ipxeDirectory: string | undefined;
  readonly bootRegistries: {
    readonly allowed: readonly string[];
    readonly insecure: readonly string[];
    readonly credentialsFile: string | undefined;
    readonly architecture: string;
    readonly cacheDirectory: string | undefined;
    readonly cacheBytes: number;
  };
  /** Milliseconds, where they are not the usual ones. */
  readonly bootDeadlines: Readonly<Partial<Record<AwaitedBootStep, number>>>;
  readonly defaultUkiImage: string | undefined;
  /** Where BMCs send their events; undefined switches events off. */
  readonly eventUrl: string | undefined;
  readonly eventPort: number;
  readonly eventAuth: 'token' | 'none';
  readonly metadataPort: number;
  readonly metadataAuth: 'address' | 'token';
  readonly staticMetadata: Readonly<Record<string, string>>;
  readonly dhcp: DhcpConfig;
  readonly metrics: {
    readonly address: string | undefined;
    readonly secure: boolean;
    /** Files of what is shown; without, a certificate of this process's own. */
    readonly certificate: CertificateFiles | undefined;
  };
  readonly healthAddress: string | undefined;
  readonly log: { format: 'json' | 'console'; level: string };
  /** Options that were set to something and do nothing in this version. */
  readonly withoutEffect: readonly string[];
}

/** What the DHCP service is told; it understands the texts itself. */
export interface DhcpConfig {
  readonly how: 'none' | 'files' | 'dnsmasq';
  readonly ranges: string;
  readonly interfaces: string;
  readonly nameServers: string;
  readonly leaseMs: number;
  readonly macPrefixes: string;
  readonly unknown: 'ignore' | 'answer';
  readonly tftpRoot: string;
  readonly directory: string;
  readonly endpointRanges: string;
}

const knownComponents = ['controllers', 'registry', 'boot', 'metadata', 'dhcp'] as const;
export type Component = (typeof knownComponents)[number];

type Values = Record<OptionName, string>;

/**
 * Reads flags as Go's flag package does: one dash or two, `--flag value` or `--flag=value`, and booleans as `--flag`
 * or `--flag=false` but never `--flag false`.
 * @throws ConfigError naming the flag, what was found and what is expected.
 */
export function readConfig(argv: readonly string[], environment: NodeJS.ProcessEnv): OperatorConfig {
  return configOf(readValues(argv), environment);
}

function readValues(argv: readonly string[]): Values {
  const command = commandOf();
  parse(command, normaliseArguments(argv));
  const [stray] = command.args;
  if (stray !== undefined)
    throw new ConfigError(
      `unexpected argument "${stray}": options start with --, and a switch is turned off by --name=false`,
    );
  const given = command.opts<Record<string, string>>();
  // Every option has a default, so each name has a string.
  return Object.fromEntries(options.map(({ name }) => [name, given[attributeOf(name)] ?? ''])) as Values;
}

/** Help goes out as usual; a mistake becomes an error of ours, so that the process says it once. */
function parse(command: Command, argv: readonly string[]): void {
  command.exitOverride().configureOutput({ outputError: () => undefined });
  try {
    command.parse(argv, { from: 'user' });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    if (error.exitCode === 0) process.exit(0);
    throw new ConfigError(`${error.message.replace(/^error: /, '')}; --help lists the options`, error);
  }
}

/** The command with its help. */
function commandOf(): Command {
  const command = new Command('metal-operator')
    .description('Takes bare-metal servers from a MAC address to a claimed machine and back.')
    .allowExcessArguments()
    .configureHelp({ helpWidth: 120, showGlobalOptions: true });
  for (const { name, type, default: fallback, help } of options) {
    const note = inertOptions.has(name) ? ' (no effect in this version)' : '';
    const flag = `--${name} <${placeholders[type] ?? type}>`;
    if (type === 'pairs') command.option(flag, `${help}${note}`, appendPair, fallback);
    else command.option(flag, `${help}${note}`, fallback);
  }
  return command;
}

const placeholders: Partial<Record<Option['type'], string>> = { boolean: 'true|false', pairs: 'key=value' };

/** Pairs are kept as lines until they are parsed. */
function appendPair(pair: string, before: string): string {
  if (/[\r\n]/.test(pair)) throw new ConfigError('a pair is one line; found a line break in it');
  return `${before}${pair}\n`;
}

const attributeOf = (name: string): string => name.replace(/-([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());

function normaliseArguments(argv: readonly string[]): string[] {
  const booleans = new Set(options.filter(({ type }) => type === 'boolean').map(({ name }: Option) => name));
  return argv.map((argument) => {
    const long = /^-[a-z0-9-]{2,}/.test(argument) && !argument.startsWith('--') ? `-${argument}` : argument;
    return underPresentName(long.startsWith('--') && booleans.has(long.slice(2)) ? `${long}=true` : long);
  });
}

function underPresentName(argument: string): string {
  const [, name, rest = ''] = /^--([a-z-]+)(=.*)?$/s.exec(argument) ?? [];
  const present = name === undefined ? undefined : formerNames[name];
  return present === undefined ? argument : `--${present}${rest}`;
}

function configOf(values: Values, environment: NodeJS.ProcessEnv): OperatorConfig {
  const components = componentsOf(values.components);
  const registryUrl = registryUrlOf(values, environment, components);
  const bootUrl = bootUrlOf(values, environment, registryUrl);
  return {
    components,
    managerNamespace: values['manager-namespace'],
    kubeconfigPath: optional(values.kubeconfig),
    homeCluster: homeClusterOf(environment),
    // What is not shared is done by one.
    leaderElect: boolean(values, 'leader-elect') || values.shards === 'auto',
    shards: oneOf(values, 'shards', ['none', 'auto']),
    lease: leaseTimesOf(values),
    serverConcurrency: integer(values, 'server-max-concurrent-reconciles'),
    claimConcurrency: integer(values, 'server-claim-max-concurrent-reconciles'),
    discoveryTimeoutMs: duration(values, 'discovery-timeout'),
    discoveryAttempts: integer(values, 'discovery-attempts'),
    cleanupDisks: oneOf(values, 'cleanup-disks', erasureModes),
    cleanupBios: oneOf(values, 'cleanup-bios', settingResets),
    cleanupBootOrder: oneOf(values, 'cleanup-boot-order', settingResets),
    cleanupAttempts: integer(values, 'cleanup-attempts'),
    cleanupTimeoutMs: duration(values, 'cleanup-timeout'),
    cleanupAtOnce: integer(values, 'cleanup-at-once'),
    cleanupPerHour: integer(values, 'cleanup-per-hour'),
    powerAttempts: integer(values, 'power-attempts'),
    evictionGraceMs: duration(values, 'eviction-grace-period'),
    powerPollingIntervalMs: duration(values, 'power-polling-interval'),
    powerTimeoutMs: duration(values, 'power-polling-timeout'),
    serverResyncMs: duration(values, 'server-resync-interval'),
    bmcResyncMs: duration(values, 'bmc-resync-interval'),
    maxSystemsPerBmc: integer(values, 'max-systems-per-bmc'),
    bmcCallTimeoutMs: duration(values, 'bmc-call-timeout'),
    bmcFailureResetDelayMs: duration(values, 'bmc-failure-reset-delay'),
    bmcResetResyncMs: duration(values, 'bmc-reset-resync-interval'),
    bmcResetWaitingMs: duration(values, 'bmc-reset-waiting-interval'),
    sshResetTimeoutMs: duration(values, 'ssh-reset-timeout'),
    convertsBmcSecrets: boolean(values, 'convert-bmc-secrets'),
    ...bmcTransportOf(values),
    macPrefixesFile: optional(values['mac-prefixes-file']),
    dnsRecordTemplatePath: optional(values['dns-record-template-path']),
    enforceFirstBoot: boolean(values, 'enforce-first-boot'),
    enforcePowerOff: boolean(values, 'enforce-power-off'),
    probeImage: requiredFor(components, values, 'probe-image'),
    probeOsImage: requiredFor(components, values, 'probe-os-image'),
    ignitionTemplatePath: optional(values['discovery-ignition-path']),
    registryAuth: oneOf(values, 'registry-auth', ['token', 'none']),
    registryPort: port(values, 'registry-port'),
    registryUrl,
    ...registryTlsOf(values, registryUrl),
    bootPort: port(values, 'boot-port'),
    bootUrl,
    trustedProxies: trustedProxiesOf(values),
    bindsBootTokens: boolean(values, 'bind-boot-tokens'),
    bootImagesFile: optional(values['boot-images']),
    bootFileRoots: list(values['boot-file-roots']),
    imageSources: imageSourcesOf(list(values['allowed-image-origins']), list(values['refused-image-networks'])),
    butane: values.butane,
    publishesBootConfigs: boolean(values, 'publish-boot-configs'),
    ipxeDirectory: optional(values['ipxe-directory']),
    bootRegistries: {
      allowed: list(values['allowed-registries'] || 'ghcr.io'),
      insecure: list(values['insecure-registries']),
      credentialsFile: optional(values['registry-credentials-file']),
      architecture: values.architecture,
      cacheDirectory: optional(values['boot-cache-dir']),
      cacheBytes: bytes(values, 'boot-cache-size'),
    },
    bootDeadlines: bootDeadlinesOf(values['boot-step-deadlines']),
    defaultUkiImage: optional(values['default-httpboot-oci-image']),
    eventUrl: eventUrlOf(values, environment),
    eventPort: port(values, 'event-port'),
    eventAuth: oneOf(values, 'event-auth', ['token', 'none']),
    metadataPort: port(values, 'metadata-port'),
    metadataAuth: oneOf(values, 'metadata-auth', ['address', 'token']),
    staticMetadata: staticMetadataOf(values['static-metadata']),
    dhcp: dhcpOf(values, components, bootUrl),
    metrics: metricsOf(values),
    healthAddress: address(values['health-probe-bind-address']),
    log: { format: logFormatOf(values), level: logLevelOf(values['zap-log-level']) },
    withoutEffect: inertOptionsSetIn(values),
  };
}

/** Each time leaves room for the one below it, or two processes could believe to lead. */
function leaseTimesOf(values: Values): OperatorConfig['lease'] {
  const leaseMs = duration(values, 'leader-election-lease-duration');
  const renewMs = duration(values, 'leader-election-renew-deadline');
  const retryMs = duration(values, 'leader-election-retry-period');
  if (leaseMs < 1_000 || leaseMs <= renewMs || renewMs <= retryMs || retryMs <= 0)
    throw new ConfigError(
      `--leader-election-lease-duration (${leaseMs / 1_000} s), --leader-election-renew-deadline (${renewMs / 1_000} s) and --leader-election-retry-period (${retryMs / 1_000} s): each has to be longer than the next, and the lease at least 1 s`,
    );
  return { leaseMs, renewMs, retryMs };
}

function inertOptionsSetIn(values: Values): string[] {
  const defaults = new Map<string, string>(options.map(({ name, default: fallback }) => [name, fallback]));
  return Object.entries(values).flatMap(([name, value]) =>
    inertOptions.has(name) && defaults.get(name) !== value ? [name] : [],
  );
}

function componentsOf(text: string): ReadonlySet<Component> {
  const names = list(text);
  for (const name of names) {
    if (!isComponent(name)) throw new ConfigError(`--components: "${name}" is none of ${knownComponents.join(', ')}`);
  }
  if (names.length === 0)
    throw new ConfigError(`--components is empty: name at least one of ${knownComponents.join(', ')}`);
  return new Set(names.filter(isComponent));
}

const isComponent = (name: string): name is Component => knownComponents.some((known) => known === name);

/** v0.7.0 skipped verification even with `--insecure=false`; here nothing but an explicit word skips it. */
function bmcTransportOf(values: Values) {
  const protocol = values.protocol === '' ? undefined : oneOf(values, 'protocol', ['http', 'https']);
  const insecure = boolean(values, 'insecure');
  const caFile = optional(values['bmc-ca-file']);
  return {
    defaultScheme: protocol ?? (insecure ? 'http' : 'https'),
    skipCertificateValidation: boolean(values, 'skip-cert-validation') || (protocol === undefined && insecure),
    bmcAuthorities: new BmcAuthorities(caFile === undefined ? undefined : readFile('bmc-ca-file', caFile)),
  };
}

function readFile(name: OptionName, path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    throw new ConfigError(`--${name}: cannot read ${path}; give a readable file`, error);
  }
}

function homeClusterOf({
  KUBECONFIG,
  KUBERNETES_SERVICE_HOST: host,
  KUBERNETES_SERVICE_PORT: port,
}: NodeJS.ProcessEnv) {
  return KUBECONFIG === undefined && host !== undefined && port !== undefined ? { host, port } : undefined;
}

/** The address of a pod may be of version 6. */
const bracketed = (host: string): string => (host.includes(':') && !host.startsWith('[') ? `[${host}]` : host);

function registryUrlOf(values: Values, environment: NodeJS.ProcessEnv, components: ReadonlySet<Component>): string {
  if (values['registry-url'] !== '') return url(values, 'registry-url');
  const host = environment.REGISTRY_ADDRESS;
  if (host !== undefined && host !== '')
    return `${values['registry-protocol']}://${bracketed(host)}:${values['registry-port']}`;
  if (!components.has('controllers') && !components.has('boot')) return '';
  throw new ConfigError(
    'the registry has no address: give --registry-url, or set REGISTRY_ADDRESS to the host that machines reach',
  );
}

function registryTlsOf(values: Values, registryUrl: string) {
  const directory = optional(values['registry-cert-path']);
  if (directory !== undefined && registryUrl.startsWith('http:'))
    throw new ConfigError(
      `--registry-cert-path gives the registry a certificate, but machines are told ${registryUrl}; expected https in --registry-url or --registry-protocol`,
    );
  const beside = directory === undefined ? undefined : `${directory}/ca.crt`;
  const caFile =
    optional(values['registry-ca-file']) ?? (beside !== undefined && existsSync(beside) ? beside : undefined);
  return {
    registryCertificate: certificateIn(directory, { certificate: 'tls.crt', key: 'tls.key' }),
    registryCaPem: caFile === undefined ? undefined : readFile('registry-ca-file', caFile),
  };
}

function bootUrlOf(values: Values, environment: NodeJS.ProcessEnv, registryUrl: string): string {
  if (values['boot-url'] !== '') return url(values, 'boot-url');
  const host = environment.BOOT_ADDRESS ?? (registryUrl === '' ? '' : new URL(registryUrl).hostname);
  return host === '' ? '' : `http://${bracketed(host)}:${values['boot-port']}`;
}

function trustedProxiesOf(values: Values): string[] {
  const proxies = list(values['trusted-proxies']);
  const wrong = proxies.find((text) => !isAddressOrNetwork(text));
  if (wrong === undefined) return proxies;
  throw new ConfigError(`--trusted-proxies: "${wrong}" is neither an address nor a network like 192.0.2.0/24`);
}

/** Events are an addition: without an address nobody is told any, and nothing else suffers. */
function eventUrlOf(values: Values, environment: NodeJS.ProcessEnv): string | undefined {
  if (values['event-url'] !== '') return url(values, 'event-url');
  const host = environment.EVENT_ADDRESS ?? '';
  return host === '' ? undefined : `${values['event-protocol']}://${bracketed(host)}:${values['event-port']}`;
}

/** The one without the other would do nothing, and nobody would know why. */
function dhcpOf(values: Values, components: ReadonlySet<Component>, bootUrl: string): DhcpConfig {
  const how = oneOf(values, 'dhcp', ['none', 'files', 'dnsmasq']);
  if (components.has('dhcp') && how === 'none')
    throw new ConfigError('--components names dhcp, but --dhcp says none: give --dhcp=dnsmasq or --dhcp=files');
  if (!components.has('dhcp') && how !== 'none')
    throw new ConfigError(`--dhcp=${how} does nothing without the component: add dhcp to --components`);
  if (components.has('dhcp') && bootUrl === '')
    throw new ConfigError('--boot-url is required: DHCP tells machines where they boot from');
  return {
    how,
    ranges: values['dhcp-ranges'],
    interfaces: values['dhcp-interfaces'],
    nameServers: values['dhcp-dns'],
    leaseMs: duration(values, 'dhcp-lease-time'),
    macPrefixes: values['dhcp-mac-prefixes'],
    unknown: oneOf(values, 'dhcp-unknown', ['ignore', 'answer']),
    tftpRoot: values['tftp-root'],
    directory: values['dhcp-directory'],
    endpointRanges: values['dhcp-endpoint-range'],
  };
}

function bootDeadlinesOf(text: string): OperatorConfig['bootDeadlines'] {
  return Object.fromEntries(list(text).map(bootDeadlineOf));
}

function bootDeadlineOf(pair: string): [AwaitedBootStep, number] {
  const [name, written = ''] = pair.split('=');
  const step = awaitedBootSteps.find((known) => known === name);
  const ms = parseDuration(written);
  if (step === undefined || ms === undefined || ms <= 0)
    throw new ConfigError(
      `--boot-step-deadlines: "${pair}" is no deadline; expected one like script=30m, of ${awaitedBootSteps.join(', ')}`,
    );
  return [step, ms];
}

/** What the metadata service itself says under these names cannot be said beforehand. */
const reservedMetadata = new Set(['server-name', 'user-data']);

function staticMetadataOf(lines: string): Record<string, string> {
  const pairs = lines.split('\n').filter((line) => line !== '');
  return Object.fromEntries(pairs.map((pair) => staticPairOf(pair)));
}

function staticPairOf(pair: string): [string, string] {
  const [, key = '', value = ''] = /^([^=]*)=(.*)$/.exec(pair) ?? [];
  if (key === '') throw new ConfigError(`--static-metadata: "${pair}" is no pair; expected key=value`);
  if (reservedMetadata.has(key))
    throw new ConfigError(`--static-metadata: "${key}" is given by the server itself; choose another key`);
  return [key, value];
}

function url(values: Values, name: OptionName): string {
  const text = values[name];
  if (!URL.canParse(text))
    throw new ConfigError(`--${name}: "${text}" is no URL; expected something like http://192.0.2.1:10000`);
  return text.replace(/\/+$/, '');
}

function requiredFor(components: ReadonlySet<Component>, values: Values, name: OptionName): string {
  if (values[name] === '' && components.has('controllers'))
    throw new ConfigError(`--${name} is required: discovery cannot boot without it`);
  return values[name];
}

function metricsOf(values: Values): OperatorConfig['metrics'] {
  const directory = optional(values['metrics-cert-path']);
  const names = { certificate: values['metrics-cert-name'], key: values['metrics-cert-key'] };
  return {
    address: address(values['metrics-bind-address']),
    secure: boolean(values, 'metrics-secure'),
    certificate: certificateIn(directory, names),
  };
}

const certificateIn = (
  directory: string | undefined,
  { certificate, key }: { certificate: string; key: string },
): CertificateFiles | undefined =>
  directory === undefined
    ? undefined
    : { certificateFile: `${directory}/${certificate}`, keyFile: `${directory}/${key}` };

const address = (text: string): string | undefined => (text === '' || text === '0' ? undefined : text);
const optional = (text: string): string | undefined => (text === '' ? undefined : text);

const list = (text: string): string[] =>
  text
    .split(',')
    .map((item) => item.trim())
    .filter((item) => item !== '');

const unitBytes: Readonly<Record<string, number>> = {
  '': 1,
  k: 1e3,
  M: 1e6,
  G: 1e9,
  T: 1e12,
  Ki: 2 ** 10,
  Mi: 2 ** 20,
  Gi: 2 ** 30,
  Ti: 2 ** 40,
};

function bytes(values: Values, name: OptionName): number {
  const [, count = '', unit = ''] = /^(\d{1,9})(|[kMGT]|[KMGT]i)$/.exec(values[name]) ?? [];
  const factor = unitBytes[unit];
  if (count === '' || factor === undefined || Number(count) === 0)
    throw new ConfigError(`--${name}: "${values[name]}" is no size; expected something like 500Mi or 20Gi`);
  return Number(count) * factor;
}

function logFormatOf(values: Values): 'json' | 'console' {
  if (values['zap-encoder'] !== '') return oneOf(values, 'zap-encoder', ['json', 'console']);
  return boolean(values, 'zap-devel') ? 'console' : 'json';
}

const logLevelOf = (level: string): string => (/^\d+$/.test(level) ? 'debug' : level === 'panic' ? 'fatal' : level);

function duration(values: Values, name: OptionName): number {
  const ms = parseDuration(values[name]);
  if (ms === undefined)
    throw new ConfigError(`--${name}: "${values[name]}" is no duration; expected Go syntax like 90s, 2m or 1h30m`);
  if (ms < 0) throw new ConfigError(`--${name}: "${values[name]}" is negative; expected 0s or more`);
  return ms;
}

function integer(values: Values, name: OptionName): number {
  const text = values[name];
  if (!/^\d{1,9}$/.test(text)) throw new ConfigError(`--${name}: "${text}" is no whole number of 0 or more`);
  return Number(text);
}

function port(values: Values, name: OptionName): number {
  const number = integer(values, name);
  if (number > 65_535) throw new ConfigError(`--${name}: ${number} is no port; expected 0 to 65535`);
  return number;
}

function boolean(values: Values, name: OptionName): boolean {
  const text = values[name].toLowerCase();
  if (['true', 't', '1'].includes(text)) return true;
  if (['false', 'f', '0'].includes(text)) return false;
  throw new ConfigError(`--${name}: "${values[name]}" is neither true nor false`);
}

function oneOf<const T extends string>(values: Values, name: OptionName, allowed: readonly T[]): T {
  const found = allowed.find((value) => value === values[name]);
  if (found === undefined) throw new ConfigError(`--${name}: "${values[name]}" is none of ${allowed.join(', ')}`);
  return found;
}
