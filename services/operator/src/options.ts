import {
  boolean,
  duration,
  integer,
  oneOf,
  optionalOneOf,
  optionalText,
  type OptionTexts,
  parseOptions,
  readFileOf,
  text,
} from '@metal/api/common/options.ts';
import { erasureModes, settingResets } from '@metal/api/wire/erasure.ts';
import { ConfigError } from '@metal/kube/config-error.ts';
import { BmcAuthorities } from './bmc-connections/bmc-authorities.ts';

export const operatorOptionTable = {
  serverConcurrency: integer(
    'server-max-concurrent-reconciles',
    '5',
    'Maximum concurrent Server reconciles; reconciles that wait for a BMC are not counted',
  ),
  claimConcurrency: integer('server-claim-max-concurrent-reconciles', '5', 'Maximum concurrent ServerClaim reconciles'),
  discoveryTimeoutMs: duration('discovery-timeout', '30m', 'Timeout of one discovery attempt'),
  powerPollingIntervalMs: duration(
    'power-polling-interval',
    '5s',
    'Longest interval between two reads of the power state during a power change',
  ),
  powerTimeoutMs: duration(
    'power-polling-timeout',
    '2m',
    'Time after which a power change that is not confirmed is escalated or reported',
  ),
  serverResyncMs: duration(
    'server-resync-interval',
    '2m',
    'Interval between two reads of the power state of a server whose power does not change',
  ),
  bmcFailureResetDelayMs: duration(
    'bmc-failure-reset-delay',
    '0s',
    'Reset a BMC that has failed for this long; 0 never',
  ),
  bmcResetResyncMs: duration(
    'bmc-reset-resync-interval',
    '2m',
    'Interval between connection attempts to a BMC in reset',
  ),
  bmcResetWaitingMs: duration(
    'bmc-reset-waiting-interval',
    '2m',
    'Pause after a BMC reset before the first connection',
  ),
  sshResetTimeoutMs: duration('ssh-reset-timeout', '2m', 'Timeout of a BMC reset over SSH'),
  ignitionTemplatePath: optionalText(
    'discovery-ignition-path',
    '',
    'Butane template of the discovery boot; empty: /etc/metal-operator/ignition-template.yaml if it exists, else built-in Ignition, which needs no butane',
  ),
  probeImage: text('probe-image', '', 'Container image of the probe, for ignition templates that pull it (required)'),
  probeOsImage: text('probe-os-image', '', 'Image that discovery boots (required)'),
  managerNamespace: text(
    'manager-namespace',
    'default',
    'Namespace of discovery boot configurations and their secrets',
  ),
  insecure: boolean(
    'insecure',
    'false',
    'Connect to BMCs over http and do not verify certificates unless --protocol is given (v0.7.0 defaulted to true)',
  ),
  protocol: optionalOneOf(['http', 'https'])(
    'protocol',
    '',
    'Default scheme of BMCs: http or https; empty: https, or http with --insecure',
  ),
  skipsVerification: boolean('skip-cert-validation', 'false', 'Do not verify BMC certificates'),
  macPrefixesFile: optionalText('mac-prefixes-file', '', 'MAC prefix database (YAML or JSON)'),
  dnsRecordTemplatePath: optionalText(
    'dns-record-template-path',
    '',
    'File with the template of the DNS record object that is created for each BMC; empty: none are created',
  ),
  enforceFirstBoot: boolean(
    'enforce-first-boot',
    'false',
    'Power off servers that are running when they are first found, to discover them',
  ),
  enforcePowerOff: boolean(
    'enforce-power-off',
    'false',
    'Force off a claimed server whose operating system ignores the shutdown that its claim requested',
  ),
  bmcCaFile: optionalText(
    'bmc-ca-file',
    '',
    'Certificates (PEM) that BMC certificates are verified against, instead of the system ones',
  ),
  bmcTls: oneOf(['verify', 'pin'])(
    'bmc-tls',
    'verify',
    'BMC certificates of no known authority. verify: they are rejected; pin: the one of the first connection is recorded in the BMC object, and any other is rejected from then on',
  ),
  bmcResyncMs: duration(
    'bmc-resync-interval',
    '10m',
    'Interval between two reads of a BMC that does not change, with jitter; its servers are read more often',
  ),
  maxSystemsPerBmc: integer(
    'max-systems-per-bmc',
    '64',
    'Maximum systems of a BMC: for one that reports more no new Server is created; the existing ones stay managed',
  ),
  bmcCallTimeoutMs: duration('bmc-call-timeout', '20s', 'Timeout of one BMC request'),
  convertsBmcSecrets: boolean(
    'convert-bmc-secrets',
    'true',
    'Move stringData of BMCSecrets into data; false leaves it in clear text, as v0.7.0 did',
  ),
  shards: oneOf(['none', 'auto'])(
    'shards',
    'none',
    'auto: replicas divide the BMCs among themselves, and --leader-elect is implied; none: the leader works on all',
  ),
  cleanupDisks: oneOf(erasureModes)(
    'cleanup-disks',
    'None',
    'Default disk cleanup between two claims, for servers whose spec has none: None, Metadata, Clear or Purge',
  ),
  cleanupBios: oneOf(settingResets)(
    'cleanup-bios',
    'None',
    'Default BIOS cleanup between two claims, for servers whose spec has none: None, or Reset to the factory settings',
  ),
  cleanupBootOrder: oneOf(settingResets)(
    'cleanup-boot-order',
    'None',
    'Default boot order cleanup between two claims, for servers whose spec has none: None or Reset',
  ),
  cleanupAttempts: integer('cleanup-attempts', '3', 'Cleanup attempts before a server enters Error'),
  cleanupTimeoutMs: duration('cleanup-timeout', '30m', 'A cleanup attempt without progress for this long has failed'),
  cleanupAtOnce: integer('cleanup-at-once', '10', 'Maximum servers in cleanup at the same time; the others wait'),
  cleanupPerHour: integer('cleanup-per-hour', '60', 'Maximum cleanups that start within an hour; the others wait'),
  discoveryAttempts: integer('discovery-attempts', '5', 'Discovery attempts before a server enters Error'),
  powerAttempts: integer('power-attempts', '5', 'Requests for one power change before a server enters Error'),
  biosSettingTimeoutMs: duration(
    'bios-setting-timeout',
    '2h',
    'Time in which the BMC has to report a step of BIOS or BMC settings after it was sent',
  ),
  firmwareUpdateTimeoutMs: duration(
    'firmware-update-timeout',
    '2h',
    'Time in which the BMC has to install an image and report its version',
  ),
  defaultFailedAutoRetryCount: integer(
    'default-failed-auto-retry-count',
    '0',
    'Automatic retries of settings and firmware without spec.retryPolicy',
  ),
  resetsBmcBeforeWork: boolean(
    'reset-bmc-before-work',
    'false',
    'Restart the BMC before settings or firmware are sent to it, as v0.7.0 always did',
  ),
  maxServersInMaintenance: integer(
    'max-servers-in-maintenance',
    '0',
    'Maximum servers of the whole fleet in maintenance at the same time; the others wait; 0: no limit',
  ),
  publishesFirmware: boolean(
    'publish-firmware',
    'true',
    'Read the installed firmware and the BIOS attributes of each server into the status of its ServerInventory, some minutes after it is Available',
  ),
  evictionGraceMs: duration(
    'eviction-grace-period',
    '10m',
    'How long a claim keeps its server after a taint with effect Evict that it does not tolerate',
  ),
};

export type OperatorConfig = Readonly<ReturnType<typeof readOperatorConfig>>;

/** What the operator has to know of the event receiver. */
interface EventSettings {
  /** URL that BMCs send events to; undefined switches events off. */
  readonly eventUrl: string | undefined;
  readonly eventAuth: 'token' | 'none';
}

/** @throws ConfigError */
export function readOperatorConfig(
  texts: OptionTexts,
  { eventUrl, eventAuth }: EventSettings = { eventUrl: undefined, eventAuth: 'token' },
) {
  const { insecure, protocol, skipsVerification, bmcCaFile, ...values } = parseOptions(operatorOptionTable, texts);
  // v0.7.0 skipped verification even with --insecure=false; here only an explicit option skips it.
  const skipCertificateValidation = skipsVerification || (protocol === undefined && insecure);
  if (skipCertificateValidation && values.bmcTls === 'pin')
    throw new ConfigError(
      `--bmc-tls=pin contradicts --${skipsVerification ? 'skip-cert-validation' : 'insecure'}, which accepts any certificate; use one of them`,
    );
  return {
    ...values,
    eventUrl,
    eventAuth,
    defaultScheme: protocol ?? (insecure ? 'http' : 'https'),
    skipCertificateValidation,
    bmcAuthorities: new BmcAuthorities(bmcCaFile === undefined ? undefined : readFileOf('bmc-ca-file', bmcCaFile)),
  };
}

/** @throws ConfigError where an option is missing that the controllers need */
export function requireProbeImages({ probeImage, probeOsImage }: OperatorConfig): void {
  const missing = probeImage === '' ? 'probe-image' : probeOsImage === '' ? 'probe-os-image' : undefined;
  if (missing !== undefined) throw new ConfigError(`--${missing} is required: discovery cannot boot without it`);
}
