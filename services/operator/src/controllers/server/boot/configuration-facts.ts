import { unmapped } from '@metal/api/common/address-list.ts';
import type { ServerBootConfiguration } from '@metal/api/v1alpha1/server-boot-configuration.ts';
import type { Server } from '@metal/api/v1alpha1/server.ts';
import {
  bootOverdue,
  bootTokenExpiresAnnotation,
  discoveryAttemptAnnotation,
  firmwareOverdue,
  reprovisionAnnotation,
} from '@metal/api/wire/contract.ts';
import { isInternalBoot } from '@metal/api/wire/internal-boot.ts';
import { isPrepared } from '@metal/api/wire/prepared-boot.ts';
import { keyOf } from '@metal/kube/kinds/kind.ts';
import type { ObservedSystem } from '../../../bmc-connections/observed-state.ts';

/** One boot configuration of the server: of a claim, a discovery, a cleanup or a maintenance. */
export interface BootFacts {
  readonly uid: string;
  readonly state: 'Pending' | 'Ready' | 'Error';
  /** `spec.bootConfigurationRef` of the server names it. */
  readonly referenced: boolean;
  /** The firmware fetched its boot data: the one-time override is consumed. */
  readonly bootSeen: boolean;
  /** The boot data were fetched although the machine was not started since they were prepared: what, and by which address. */
  readonly fetchedWhileOff: string | undefined;
  readonly explanation: string;
  /** The reprovision request that it was made for, as a time; empty if there was none. */
  readonly request: string;
  /** Number of the discovery attempt it was prepared for; 0 for claims. */
  readonly attempt: number;
  /** The boot service does not serve it any more. */
  readonly isExpired: boolean;
  /** The firmware did not finish this boot method in time, and there is another one. */
  readonly stuck: { readonly message: string; readonly nextMethod: string } | undefined;
}

/** An image without ignition reports nothing after its script. A machine that still runs after this time counts as booted. */
const assumeBootedAfterMs = 5 * 60_000;

const progressTypes = ['BootStateReceived', 'IgnitionDataFetched', 'IPXEScriptFetched'] as const;

export function bootFactsOf(
  boot: ServerBootConfiguration,
  server: Server,
  now: number,
  { awaitsStart = false }: { awaitsStart?: boolean } = {},
): BootFacts {
  const state = stateOf(boot);
  const { name, namespace, uid = '' } = boot.metadata;
  const ref = server.spec.bootConfigurationRef;
  return {
    uid,
    state,
    referenced: ref?.name === name && ref.namespace === namespace,
    // A disk image is booted by the firmware alone.
    bootSeen: boot.spec.diskImage === undefined ? !awaitsStart && hasBooted(boot, now) : isDeployed(boot),
    fetchedWhileOff: awaitsStart && boot.spec.diskImage === undefined ? describeFetch(boot) : undefined,
    request: boot.metadata.annotations?.[reprovisionAnnotation] ?? '',
    attempt: Number(boot.metadata.annotations?.[discoveryAttemptAnnotation] ?? 0),
    isExpired: isExpired(boot, now),
    stuck: stuckAt(boot),
    explanation: explanations[state](boot),
  };
}

/** An unreadable date counts as past, as for the boot service. */
function isExpired({ metadata }: ServerBootConfiguration, now: number): boolean {
  const expires = metadata.annotations?.[bootTokenExpiresAnnotation];
  return expires !== undefined && !(Date.parse(expires) > now);
}

/**
 * The operator prepared a boot, and has neither requested a start of the machine nor observed it on since. A boot that
 * nothing is known about counts as started.
 */
export const awaitsStart = ({ preparedBoot }: Pick<ObservedSystem, 'preparedBoot'>): boolean =>
  preparedBoot?.awaitsStart ?? false;

/** The boot configuration of a discovery, a cleanup or a deployment of this server. */
export function isProbeBootOf(boot: ServerBootConfiguration, server: Server): boolean {
  const owned = boot.metadata.ownerReferences?.some(({ uid }) => uid === server.metadata.uid) ?? false;
  return owned && isInternalBoot(boot) && boot.metadata.deletionTimestamp === undefined;
}

const isDeployed = ({ status }: ServerBootConfiguration): boolean => status?.deployment?.state === 'Succeeded';

function stateOf(boot: ServerBootConfiguration): BootFacts['state'] {
  if (boot.status?.state === 'Error') return 'Error';
  return isPrepared(boot) ? 'Ready' : 'Pending';
}

type Condition = NonNullable<NonNullable<ServerBootConfiguration['status']>['conditions']>[number];
const messageOf = (
  { status }: ServerBootConfiguration,
  predicate: (condition: Condition) => boolean,
): string | undefined => status?.conditions?.find(predicate)?.message;

/** What failed or is still missing. The boot configuration itself has the cause of a failure. */
const explanations: Readonly<Record<BootFacts['state'], (boot: ServerBootConfiguration) => string>> = {
  Error: (boot) => `ServerBootConfiguration ${keyOf(boot)} cannot be booted${failureOf(boot)}`,
  Pending: (boot) =>
    messageOf(boot, ({ status }) => status === 'Unknown') ?? 'the boot service has not prepared it yet',
  Ready: (boot) => messageOf(boot, ({ type }) => type === bootOverdue) ?? progressOf(boot),
};

/** The error code, at the start of the message of our boot service. */
function failureOf(boot: ServerBootConfiguration): string {
  const message = messageOf(boot, ({ type, status }) => status === 'False' && type !== 'Ready');
  const [, code] = /^([A-Z]\w+): /.exec(message ?? '') ?? [];
  return `${code === undefined ? '' : ` (${code})`}; its condition Ready has the cause`;
}

function progressOf(boot: ServerBootConfiguration): string {
  const seen = progressTypes.find((type) => progressConditionOf(boot, type) !== undefined);
  return seen === undefined ? 'nothing was fetched from the boot service yet' : `last evidence: ${seen}`;
}

function hasBooted(boot: ServerBootConfiguration, now: number): boolean {
  if (
    progressConditionOf(boot, 'BootStateReceived') !== undefined ||
    progressConditionOf(boot, 'IgnitionDataFetched') !== undefined
  )
    return true;
  const script = progressConditionOf(boot, 'IPXEScriptFetched')?.lastTransitionTime;
  const loaded = script ?? boot.status?.boot?.steps?.find(({ name }) => name === 'uki')?.time;
  return (
    loaded !== undefined && boot.spec.ignitionSecretRef === undefined && now - Date.parse(loaded) > assumeBootedAfterMs
  );
}

/** A DHCP exchange does not count: it carries no boot token. */
function describeFetch(boot: ServerBootConfiguration): string | undefined {
  const steps = (boot.status?.boot?.steps ?? []).filter(({ name }) => name !== 'dhcp');
  const detail = steps.findLast((step) => step.detail?.startsWith('by '))?.detail;
  const isSeen = steps.length > 0 || progressTypes.some((type) => progressConditionOf(boot, type) !== undefined);
  if (!isSeen) return undefined;
  const isIgnition = progressConditionOf(boot, 'IgnitionDataFetched') !== undefined;
  const what = isIgnition ? 'the ignition was' : 'boot data were';
  return `${what} fetched ${detail?.replace(/\S+$/, unmapped) ?? 'by somebody'}`;
}

function stuckAt({ status }: ServerBootConfiguration): BootFacts['stuck'] {
  const overdue = status?.conditions?.find(
    (condition) => condition.type === bootOverdue && condition.status === 'True',
  );
  const nextMethod = status?.boot?.methods?.[1];
  if (overdue === undefined || nextMethod === undefined || !firmwareOverdue.includes(overdue.reason)) return undefined;
  return { message: overdue.message, nextMethod };
}

function progressConditionOf(boot: ServerBootConfiguration, type: (typeof progressTypes)[number]) {
  return boot.status?.conditions?.find((condition) => condition.type === type && condition.status === 'True');
}
