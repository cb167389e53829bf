import { bootOptionTable } from '@metal/boot/options.ts';
import { dhcpOptionTable } from '@metal/dhcp/options.ts';
import { eventsOptionTable } from '@metal/events/options.ts';
import { metadataOptionTable } from '@metal/metadata/options.ts';
import { metal3OptionTable } from '@metal/metal3/options.ts';
import { operatorOptionTable } from '@metal/operator/options.ts';
import { registryOptionTable } from '@metal/registry/options.ts';
import type { FlagOf, Option } from '@metal/api/common/options.ts';
import { inertOptionTable, processOptionTable } from './options.ts';

export type Flag =
  | FlagOf<typeof processOptionTable>
  | FlagOf<typeof inertOptionTable>
  | FlagOf<typeof operatorOptionTable>
  | FlagOf<typeof registryOptionTable>
  | FlagOf<typeof bootOptionTable>
  | FlagOf<typeof metadataOptionTable>
  | FlagOf<typeof eventsOptionTable>
  | FlagOf<typeof dhcpOptionTable>
  | FlagOf<typeof metal3OptionTable>;

/** Flags of metal-operator v0.7.0. Name, syntax and meaning are the same here, except that defaults are secure. */
const flagsOfV070 = [
  'server-max-concurrent-reconciles',
  'server-claim-max-concurrent-reconciles',
  'discovery-timeout',
  'resource-polling-interval',
  'resource-polling-timeout',
  'power-polling-interval',
  'power-polling-timeout',
  'registry-resync-interval',
  'registry-client-timeout',
  'registry-data-max-age',
  'server-resync-interval',
  'bmc-failure-reset-delay',
  'bmc-reset-resync-interval',
  'bmc-reset-waiting-interval',
  'ssh-reset-timeout',
  'maintenance-resync-interval',
  'bios-setting-timeout',
  'default-failed-auto-retry-count',
  'discovery-ignition-path',
  'registry-url',
  'registry-protocol',
  'registry-port',
  'event-url',
  'event-port',
  'event-protocol',
  'probe-image',
  'probe-os-image',
  'manager-namespace',
  'insecure',
  'protocol',
  'skip-cert-validation',
  'mac-prefixes-file',
  'dns-record-template-path',
  'enforce-first-boot',
  'enforce-power-off',
  'leader-elect',
  'metrics-bind-address',
  'metrics-secure',
  'metrics-cert-path',
  'metrics-cert-name',
  'metrics-cert-key',
  'health-probe-bind-address',
  'webhook-port',
  'webhook-cert-path',
  'webhook-cert-name',
  'webhook-cert-key',
  'enable-http2',
  'kubeconfig',
  'zap-devel',
  'zap-encoder',
  'zap-log-level',
  'zap-stacktrace-level',
  'zap-time-encoding',
] as const satisfies readonly Flag[];

/** Names of v0.7.0 that mean an option of this operator. */
export const formerNames: Readonly<Record<string, Flag>> = { 'metaldata-port': 'metadata-port' };

/** In the order of the help. An option that is listed twice has its first place. */
const inOrder = new Set<Option<unknown, Flag>>([
  processOptionTable.components,
  registryOptionTable.auth,
  ...Object.values(metadataOptionTable),
  ...Object.values(bootOptionTable),
  ...Object.values(dhcpOptionTable),
  ...Object.values(registryOptionTable),
  operatorOptionTable.bmcCaFile,
  ...Object.values(eventsOptionTable),
  operatorOptionTable.bmcResyncMs,
  operatorOptionTable.maxSystemsPerBmc,
  operatorOptionTable.bmcCallTimeoutMs,
  operatorOptionTable.convertsBmcSecrets,
  operatorOptionTable.shards,
  ...Object.values(processOptionTable),
  ...Object.values(operatorOptionTable),
  ...Object.values(metal3OptionTable),
  ...Object.values(inertOptionTable),
]);

const byFlag = new Map([...inOrder].map((option) => [option.flag, option]));
const listed: ReadonlySet<string> = new Set(flagsOfV070);

export const compatibleOptions: readonly Option[] = flagsOfV070.flatMap((flag) => byFlag.get(flag) ?? []);
export const ownOptions: readonly Option[] = [...inOrder].filter(({ flag }) => !listed.has(flag));

const inertFlags: ReadonlySet<string> = new Set(Object.values(inertOptionTable).map(({ flag }) => flag));
export const helpOf = ({ flag, help }: Option): string =>
  inertFlags.has(flag) ? `${help} (no effect in this version)` : help;
