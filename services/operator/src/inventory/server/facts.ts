import type { Server } from '@metal/api/v1alpha1/server.ts';
import type { ServerBootConfiguration } from '@metal/api/v1alpha1/server-boot-configuration.ts';
import type { ServerClaim } from '@metal/api/v1alpha1/server-claim.ts';
import type { ServerInventory } from '@metal/api/v1alpha1/server-inventory.ts';
import {
  discoveryAttemptAnnotation,
  internalBootType,
  operationAnnotation,
  typeAnnotation,
} from '@metal/api/wire/contract.ts';
import type { Inventory } from '@metal/redfish/inventory.ts';
import type { PowerState } from '@metal/redfish/systems.ts';
import { connectionOf, type Connection, inlineConnectionOf } from '../../connection.ts';
import type { OperatorContext } from '../../context.ts';
import type { SystemMemory } from '../../observations.ts';
import { spread } from '../../spread.ts';

export type ServerPhase =
  | 'Initial'
  | 'Discovery'
  | 'Available'
  | 'Reserved'
  | 'Released'
  | 'Cleanup'
  | 'Maintenance'
  | 'Parked'
  | 'Error';
export type ServerAction =
  | 'observe'
  | 'readInventory'
  | 'powerOff'
  | 'forceOff'
  | 'networkBoot'
  | 'diskBoot'
  | 'prepareProbeBoot'
  | 'dropProbeBoot'
  | 'adoptClaimBoot'
  | 'verifyClaim'
  | 'dropClaimRef'
  | 'clearRetry';

/** A boot configuration as the server sees it. */
export interface BootFacts {
  readonly uid: string;
  readonly state: 'Pending' | 'Ready' | 'Error';
  /** `spec.bootConfigurationRef` of the server names it. */
  readonly referenced: boolean;
  /** The firmware fetched what it was told to: the one-time override has done its work. */
  readonly bootSeen: boolean;
  readonly explanation: string;
  /** Number of the discovery attempt it was prepared for; 0 for claims. */
  readonly attempt: number;
}

export interface ServerFacts {
  /** Name that the BMC actor goes by, and how to reach it. */
  readonly bmcName: string;
  readonly connection: Connection | undefined;
  readonly bmc: { readonly answers: boolean; readonly reason: string; readonly message: string };

  readonly power: PowerState;
  /** Since the last look at the machine; undefined before the first. */
  readonly powerSeenMsAgo: number | undefined;
  readonly nextLookInMs: number;
  readonly transition:
    | {
        readonly target: 'On' | 'Off';
        readonly since: string;
        readonly sinceRequestMs: number;
        readonly forced: boolean;
      }
    | undefined;
  readonly powerTimeoutMs: number;

  /** What the BMC tells of the hardware, as far as this process has read it. */
  readonly hardware: Inventory | undefined;
  readonly led: string | undefined;
  readonly inventoryRead: boolean;
  readonly mayInterrupt: boolean;
  readonly inPhaseForMs: number;
  readonly discoveryTimeoutMs: number;
  readonly discoveryAttempts: number;
  readonly maxDiscoveryAttempts: number;
  readonly retryRequested: boolean;

  readonly probeBoot: BootFacts | undefined;
  /** A configuration stands in the place of the probe boot that is not this server's, or is being deleted. */
  readonly foreignProbeBoot: boolean;
  readonly report: 'absent' | 'fresh';
  readonly inventory: ServerInventory | undefined;

  readonly claim: ClaimFacts;
  readonly reclaim: 'Recycle' | 'Retain';
  readonly enforcePowerOff: boolean;
}

/** `missing` is what the cache says; only `gone` has been confirmed by the API itself. */
export type ClaimFacts =
  | { readonly standing: 'none' }
  | { readonly standing: 'missing' | 'gone' | 'leaving'; readonly uid: string; readonly name: string }
  | {
      readonly standing: 'held';
      readonly uid: string;
      readonly name: string;
      readonly wantsPower: 'On' | 'Off';
      readonly boot: BootFacts | undefined;
      /** This claim's image has booted once: from now on the machine starts from its disk. */
      readonly provisioned: boolean;
    };

export function readServerFacts(
  server: Server,
  context: OperatorContext,
  { now, inPhaseForMs }: { now: number; inPhaseForMs: number },
): ServerFacts {
  const { config, access, caches } = context;
  const memory = access.system(server.metadata.uid ?? '');
  const probeBoot = caches.bootConfigurations.get({ namespace: config.managerNamespace, name: server.metadata.name });
  const probeBootIsOurs = probeBoot !== undefined && isProbeBootOf(probeBoot, server);
  const inventory = caches.inventories.get(server.metadata.name);
  const retryRequested = server.metadata.annotations?.[operationAnnotation] === 'retry';
  const discoveryAttempts = retryRequested ? 0 : (server.status?.discoveryAttempts ?? 0);
  return {
    ...bmcFacts(server, context),
    ...powerFacts(server, memory, now, context),
    hardware: memory.inventory?.value,
    led: memory.state?.value.indicatorLED,
    inventoryRead:
      memory.inventory !== undefined ||
      server.status?.processors !== undefined ||
      server.status?.manufacturer !== undefined,
    mayInterrupt: config.enforceFirstBoot || discoveryAttempts > 0,
    inPhaseForMs,
    discoveryTimeoutMs: config.discoveryTimeoutMs,
    discoveryAttempts,
    maxDiscoveryAttempts: config.discoveryAttempts,
    retryRequested,
    probeBoot: probeBootIsOurs ? bootFactsOf(probeBoot, server, now) : undefined,
    foreignProbeBoot: probeBoot !== undefined && !probeBootIsOurs,
    report: probeBootIsOurs && inventory?.spec.bootConfigurationUID === probeBoot.metadata.uid ? 'fresh' : 'absent',
    inventory,
    claim: claimFacts(server, memory, context, now),
    reclaim: server.spec.reclaimPolicy === 'Retain' ? 'Retain' : 'Recycle',
    enforcePowerOff: config.enforcePowerOff,
  };
}

function bmcFacts(
  server: Server,
  { caches, config }: OperatorContext,
): Pick<ServerFacts, 'bmcName' | 'connection' | 'bmc'> {
  const bmcName = server.spec.bmcRef?.name;
  if (bmcName === undefined || bmcName === '') {
    const { connection, obstacle } = inlineConnectionOf(server, caches, config);
    const bmc =
      obstacle === undefined ? { answers: true, reason: 'Connected', message: '' } : { answers: false, ...obstacle };
    return { bmcName: `server/${server.metadata.name}`, connection, bmc };
  }
  const bmc = caches.bmcs.get(bmcName);
  if (bmc === undefined) {
    return {
      bmcName,
      connection: undefined,
      bmc: { answers: false, reason: 'BMCNotFound', message: `BMC "${bmcName}" of spec.bmcRef does not exist` },
    };
  }
  const { connection, obstacle } = connectionOf(bmc, caches, config);
  if (bmc.status?.state === 'Enabled' && obstacle === undefined)
    return { bmcName, connection, bmc: { answers: true, reason: 'Connected', message: '' } };
  const ready = bmc.status?.conditions?.find(({ type }) => type === 'Ready');
  const why = obstacle?.message ?? ready?.message ?? 'it has not been reached yet';
  return {
    bmcName,
    connection,
    bmc: { answers: false, reason: 'BMCNotReady', message: `BMC "${bmcName}" is not ready: ${why}` },
  };
}

/** The pause between looks at a changing power state starts here and doubles up to the polling interval. */
const firstLookAfterMs = 500;

function powerFacts(server: Server, memory: SystemMemory, now: number, { config }: OperatorContext) {
  const { state, transition } = memory;
  const pauseMs =
    transition === undefined
      ? spread(config.serverResyncMs, server.metadata.name)
      : Math.min(firstLookAfterMs * 2 ** transition.looks, config.powerPollingIntervalMs);
  const lookedAt = Math.max(state?.at ?? 0, transition?.lastRequestAt ?? 0);
  return {
    power: state?.value.powerState ?? 'Unknown',
    powerSeenMsAgo: state === undefined ? undefined : now - state.at,
    nextLookInMs: state === undefined ? 0 : lookedAt + pauseMs - now,
    transition:
      transition === undefined
        ? undefined
        : {
            target: transition.target,
            forced: transition.forced,
            since: new Date(transition.firstRequestAt).toISOString(),
            sinceRequestMs: now - transition.lastRequestAt,
          },
    powerTimeoutMs: config.powerTimeoutMs,
  } satisfies Partial<ServerFacts>;
}

function isProbeBootOf(boot: ServerBootConfiguration, server: Server): boolean {
  const owned = boot.metadata.ownerReferences?.some(({ uid }) => uid === server.metadata.uid) ?? false;
  const internal = boot.metadata.annotations?.[typeAnnotation] === internalBootType;
  return owned && internal && boot.metadata.deletionTimestamp === undefined;
}

const evidenceTypes = ['BootStateReceived', 'IgnitionDataFetched', 'IPXEScriptFetched'] as const;

/** An image without ignition tells nothing after its script; what still runs after this long is taken for booted. */
const silentBootMs = 5 * 60_000;

export function bootFactsOf(boot: ServerBootConfiguration, server: Server, now: number): BootFacts {
  const state = boot.status?.state;
  const { name, namespace, uid = '' } = boot.metadata;
  const ref = server.spec.bootConfigurationRef;
  const seen = evidenceTypes.find((type) => evidenceOf(boot, type) !== undefined);
  const failure = boot.status?.conditions?.find(({ type, status }) => status === 'False' && type !== 'Ready');
  const progress = seen === undefined ? 'nothing was fetched from the boot service yet' : `last evidence: ${seen}`;
  return {
    uid,
    state: state === 'Ready' || state === 'Error' ? state : 'Pending',
    referenced: ref?.name === name && ref.namespace === namespace,
    bootSeen: hasBooted(boot, now),
    attempt: Number(boot.metadata.annotations?.[discoveryAttemptAnnotation] ?? 0),
    explanation: state === 'Error' ? (failure?.message ?? 'the boot service reports an error') : progress,
  };
}

function hasBooted(boot: ServerBootConfiguration, now: number): boolean {
  if (evidenceOf(boot, 'BootStateReceived') !== undefined || evidenceOf(boot, 'IgnitionDataFetched') !== undefined)
    return true;
  const script = evidenceOf(boot, 'IPXEScriptFetched');
  return (
    script !== undefined &&
    boot.spec.ignitionSecretRef === undefined &&
    now - Date.parse(script.lastTransitionTime) > silentBootMs
  );
}

function evidenceOf(boot: ServerBootConfiguration, type: (typeof evidenceTypes)[number]) {
  return boot.status?.conditions?.find((condition) => condition.type === type && condition.status === 'True');
}

function claimFacts(server: Server, memory: SystemMemory, { caches }: OperatorContext, now: number): ClaimFacts {
  const ref = server.spec.serverClaimRef;
  if (ref === undefined) return { standing: 'none' };
  const claim = caches.claims.get({ namespace: ref.namespace, name: ref.name });
  const uid = ref.uid ?? claim?.metadata.uid ?? '';
  const name = `${ref.namespace}/${ref.name}`;
  if (claim === undefined || claim.metadata.uid !== uid) {
    const confirmed = memory.claimKnownGone === `${name}/${uid}`;
    return { standing: confirmed ? 'gone' : 'missing', uid, name };
  }
  if (claim.metadata.deletionTimestamp !== undefined) return { standing: 'leaving', uid, name };
  return { standing: 'held', uid, name, ...heldClaimFacts(server, claim, caches, now) };
}

function heldClaimFacts(server: Server, claim: ServerClaim, caches: OperatorContext['caches'], now: number) {
  const boot = caches.bootConfigurations
    .by('owner', claim.metadata.uid ?? '')
    .find(
      ({ spec, metadata }) => spec.serverRef.name === server.metadata.name && metadata.deletionTimestamp === undefined,
    );
  const bootFacts = boot === undefined ? undefined : bootFactsOf(boot, server, now);
  const wantsPower: 'On' | 'Off' = claim.spec.power === 'On' ? 'On' : 'Off';
  const provisioned = server.status?.provisionedClaimUID === claim.metadata.uid || (bootFacts?.bootSeen ?? false);
  return { wantsPower, boot: bootFacts, provisioned };
}
