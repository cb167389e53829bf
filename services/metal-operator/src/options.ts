import {
  boolean,
  duration,
  itemsOf,
  optionalOneOf,
  optionalText,
  optionOf,
  type OptionTexts,
  parseOptions,
  text,
  type ValuesOf,
} from '@metal/api/common/options.ts';
import { ConfigError } from '@metal/kube/config-error.ts';
import type { MembershipTimes } from '@metal/kube/election/shards/membership-options.ts';
import type { CertificateFiles } from '@metal/http/certificate.ts';
import { type BootConfig, readBootConfig } from '@metal/boot/options.ts';
import { type DhcpConfig, readDhcpConfig } from '@metal/dhcp/options.ts';
import { type EventsConfig, readEventsConfig } from '@metal/events/options.ts';
import { type MetadataConfig, readMetadataConfig } from '@metal/metadata/options.ts';
import { type OperatorConfig, readOperatorConfig, requireProbeImages } from '@metal/operator/options.ts';
import { type Metal3Config, readMetal3Config, requireIronic } from '@metal/metal3/options.ts';
import { readRegistryConfig, type RegistryConfig } from '@metal/registry/options.ts';

const knownComponents = ['controllers', 'registry', 'boot', 'metadata', 'dhcp', 'metal3'] as const;
export type Component = (typeof knownComponents)[number];

const components = optionOf('string', (found, reject): ReadonlySet<Component> => {
  const names = itemsOf(found).map(
    (name) =>
      knownComponents.find((known) => known === name) ?? reject(`"${name}" is none of ${knownComponents.join(', ')}`),
  );
  return new Set(names);
});

/** Undefined: nobody listens. */
const listenAddress = optionOf('string', (found) => (found === '' || found === '0' ? undefined : found));

const logLevel = optionOf('string', (found) => (/^\d+$/.test(found) ? 'debug' : found === 'panic' ? 'fatal' : found));

/** Options of the process itself. */
export const processOptionTable = {
  components: components(
    'components',
    'controllers,registry,boot',
    'Components of this process: controllers, registry, boot, metadata, dhcp, metal3; without boot an external boot operator sets boot configurations Ready',
  ),
  leaderElect: boolean('leader-elect', 'false', 'Enable leader election; only the leader runs controllers'),
  leaseMs: duration(
    'leader-election-lease-duration',
    '15s',
    'With --leader-elect: other replicas may take the lease, or the BMCs of a replica, this long after its last renewal',
  ),
  renewMs: duration(
    'leader-election-renew-deadline',
    '10s',
    'With --leader-elect: a leader that cannot renew its lease for this long stops; shorter than the lease',
  ),
  retryMs: duration(
    'leader-election-retry-period',
    '2s',
    'With --leader-elect: interval between two attempts to take or renew the lease',
  ),
  metricsAddress: listenAddress('metrics-bind-address', ':8080', 'Address of the metrics endpoint; 0 for none'),
  metricsSecure: boolean('metrics-secure', 'true', 'Serve metrics over TLS, to authorised clients only'),
  metricsDirectory: optionalText('metrics-cert-path', '', 'Directory of the metrics certificate; empty: self-signed'),
  metricsCertificate: text('metrics-cert-name', 'tls.crt', 'File name of the metrics certificate'),
  metricsKey: text('metrics-cert-key', 'tls.key', 'File name of the metrics key'),
  healthAddress: listenAddress('health-probe-bind-address', ':8081', 'Address of /healthz and /readyz; 0 for none'),
  kubeconfigPath: optionalText('kubeconfig', '', 'Kubeconfig file; empty: $KUBECONFIG, in-cluster, ~/.kube/config'),
  isDevelopmentLog: boolean('zap-devel', 'true', 'Readable log lines instead of JSON'),
  logFormat: optionalOneOf(['json', 'console'])(
    'zap-encoder',
    '',
    'Log format: json or console; overrides --zap-devel',
  ),
  logLevel: logLevel('zap-log-level', 'info', 'debug, info, error, or a number (verbosity)'),
};

const inert = (type: Parameters<typeof optionOf>[0]) => optionOf(type, (found) => found);
const [inertText, inertDuration, inertInteger, inertBoolean] = [
  inert('string'),
  inert('duration'),
  inert('integer'),
  inert('boolean'),
];

/**
 * Options of v0.7.0 that are accepted and have no effect: either what they tune does not exist here by design (reports are
 * pushed, the API server validates), or it is not implemented yet (day-two work). The log warns of each that is set.
 */
export const inertOptionTable = {
  resourcePollingInterval: inertDuration(
    'resource-polling-interval',
    '5s',
    'Longest interval between two reads of a resource that is waited for',
  ),
  resourcePollingTimeout: inertDuration('resource-polling-timeout', '2m', 'Time to wait for a resource'),
  registryResyncInterval: inertDuration(
    'registry-resync-interval',
    '10s',
    'Accepted for compatibility; probe reports are pushed, not polled',
  ),
  registryClientTimeout: inertDuration(
    'registry-client-timeout',
    '5s',
    'Accepted for compatibility; nothing here is a client of the registry',
  ),
  registryDataMaxAge: inertDuration(
    'registry-data-max-age',
    '2m',
    'Accepted for compatibility; a report is valid for one boot attempt, whatever its age',
  ),
  maintenanceResyncInterval: inertDuration(
    'maintenance-resync-interval',
    '2m',
    'Interval between two reads of a running maintenance',
  ),
  webhookPort: inertInteger(
    'webhook-port',
    '9443',
    'Accepted for compatibility; the API server validates, by CRDs and admission policies',
  ),
  webhookCertPath: inertText('webhook-cert-path', '', 'Accepted for compatibility'),
  webhookCertName: inertText('webhook-cert-name', 'tls.crt', 'Accepted for compatibility'),
  webhookCertKey: inertText('webhook-cert-key', 'tls.key', 'Accepted for compatibility'),
  enableHttp2: inertBoolean('enable-http2', 'false', 'Accepted for compatibility; endpoints serve HTTP/1.1'),
  stacktraceLevel: inertText('zap-stacktrace-level', '', 'Accepted for compatibility'),
  timeEncoding: inertText('zap-time-encoding', '', 'Accepted for compatibility'),
};

/** Configuration of the process, with one part for each component. */
export interface MetalOperatorConfig {
  readonly components: ReadonlySet<Component>;
  readonly kubeconfigPath: string | undefined;
  /** The cluster in which this process is a pod, unless a kubeconfig names another one. */
  readonly homeCluster: { readonly host: string; readonly port: string } | undefined;
  readonly leaderElect: boolean;
  readonly lease: MembershipTimes;
  readonly metrics: MetricsConfig;
  readonly healthAddress: string | undefined;
  readonly log: LogConfig;
  /** Options that are set and have no effect in this version. */
  readonly withoutEffect: readonly string[];
  readonly operator: OperatorConfig;
  readonly registry: RegistryConfig;
  readonly boot: BootConfig;
  readonly metadata: MetadataConfig;
  readonly events: EventsConfig;
  readonly dhcp: DhcpConfig;
  readonly metal3: Metal3Config;
}

export interface MetricsConfig {
  readonly address: string | undefined;
  readonly secure: boolean;
  /** Without these files the process makes a self-signed certificate. */
  readonly certificate: CertificateFiles | undefined;
}

export interface LogConfig {
  readonly format: 'json' | 'console';
  readonly level: string;
}

/** @throws ConfigError that names the flag, what was found and what is expected. */
export function configOf(texts: OptionTexts, environment: NodeJS.ProcessEnv): MetalOperatorConfig {
  const values = parseOptions(processOptionTable, texts);
  const has = (component: Component): boolean => values.components.has(component);
  if (values.components.size === 0)
    throw new ConfigError(`--components is empty: name at least one of ${knownComponents.join(', ')}`);
  const isUrlRequired = has('controllers') || has('boot');
  const registry = readRegistryConfig(texts, { environment, isUrlRequired });
  const boot = readBootConfig(texts, { environment, registryUrl: registry.url });
  const events = readEventsConfig(texts, environment);
  const operator = readOperatorConfig(texts, { eventUrl: events.url, eventAuth: events.auth });
  const metal3 = readMetal3Config(texts, environment);
  if (has('controllers')) requireProbeImages(operator);
  if (has('metal3')) requireIronic(metal3);
  return {
    components: values.components,
    kubeconfigPath: values.kubeconfigPath,
    homeCluster: homeClusterOf(environment),
    // The leader does what replicas do not share.
    leaderElect: values.leaderElect || operator.shards === 'auto',
    lease: leaseTimesOf(values),
    metrics: metricsOf(values),
    healthAddress: values.healthAddress,
    log: { format: values.logFormat ?? (values.isDevelopmentLog ? 'console' : 'json'), level: values.logLevel },
    withoutEffect: inertFlagsSetIn(texts),
    operator,
    registry,
    boot,
    metadata: readMetadataConfig(texts),
    events,
    dhcp: readDhcpConfig(texts, { isEnabled: has('dhcp'), bootUrl: boot.url }),
    metal3,
  };
}

type ProcessValues = ValuesOf<typeof processOptionTable>;

/** Each time has to leave room for the shorter one, or two processes could lead at once. */
function leaseTimesOf({ leaseMs, renewMs, retryMs }: ProcessValues): MembershipTimes {
  if (leaseMs < 1_000 || leaseMs <= renewMs || renewMs <= retryMs || retryMs <= 0)
    throw new ConfigError(
      `--leader-election-lease-duration (${leaseMs / 1_000} s), --leader-election-renew-deadline (${renewMs / 1_000} s) and --leader-election-retry-period (${retryMs / 1_000} s): each has to be longer than the next, and the lease at least 1 s`,
    );
  return { leaseMs, renewMs, retryMs };
}

function metricsOf(values: ProcessValues): MetricsConfig {
  const { metricsAddress, metricsSecure, metricsDirectory: directory, metricsCertificate, metricsKey } = values;
  const certificate =
    directory === undefined
      ? undefined
      : { certificateFile: `${directory}/${metricsCertificate}`, keyFile: `${directory}/${metricsKey}` };
  return { address: metricsAddress, secure: metricsSecure, certificate };
}

function homeClusterOf({
  KUBECONFIG,
  KUBERNETES_SERVICE_HOST: host,
  KUBERNETES_SERVICE_PORT: port,
}: NodeJS.ProcessEnv) {
  return KUBECONFIG === undefined && host !== undefined && port !== undefined ? { host, port } : undefined;
}

const inertFlagsSetIn = (texts: OptionTexts): string[] =>
  Object.values(inertOptionTable).flatMap(({ flag, default: fallback }) =>
    (texts[flag] ?? fallback) === fallback ? [] : [flag],
  );
