import type { ServerBootConfiguration } from '@metal/api/v1alpha1/server-boot-configuration.ts';
import type { ServerClaim } from '@metal/api/v1alpha1/server-claim.ts';
import type { ServerMaintenance } from '@metal/api/v1alpha1/server-maintenance.ts';
import type { Server } from '@metal/api/v1alpha1/server.ts';
import {
  maintenanceApprovedLabel,
  maintenanceNeededLabel,
  operationAnnotation,
  operations,
} from '@metal/api/wire/contract.ts';
import { keyOf } from '@metal/kube/kinds/kind.ts';
import type { OperatorCaches } from '../../caches.ts';
import { type Hold, holdOf, refersTo, runnableOf } from '../../maintenance/queue.ts';
import { isHeldBy } from '../../scheduling/eligibility.ts';
import { flashingUpdateOf } from '../../update-engine/flashing.ts';
import type { OperatorContext } from '../context.ts';
import { conditionsOf } from '../ready-condition.ts';

export type MaintenancePhase = 'Pending' | 'InMaintenance' | 'Failed';
export type MaintenanceAction =
  | 'askOwner'
  | 'takeServer'
  | 'writeBoot'
  | 'referToBoot'
  | 'retry'
  | 'removeLabels'
  | 'deleteBoot'
  | 'releaseServer';

export interface MaintenanceFacts {
  readonly server: ServerFacts | undefined;
  readonly serverName: string;
  /** `spec.serverMaintenanceRef` of the server names this one. */
  readonly holdsServer: boolean;
  /** Another one that it names. */
  readonly heldBy: string | undefined;
  /** Why it may not have the server, whatever the others do. */
  readonly hold: Hold | undefined;
  /** The first in the queue, if that is another one. */
  readonly ahead: string | undefined;
  /** The claim of the server has no label that asks its owner. */
  readonly isOwnerUnasked: boolean;
  readonly limit: number;
  readonly isLimitReached: boolean;
  readonly boot: BootFacts | undefined;
  readonly retryRequested: boolean;
  /** Claims that keep labels of maintenances of the server after the last of those. */
  readonly labelledClaims: readonly ServerClaim[];
  /** Kind and name of the update that owns or names it and flashes: without power, a machine may be destroyed. */
  readonly flashedBy: string | undefined;
}

interface ServerFacts {
  readonly state: string;
  /** Reason of its condition Ready. */
  readonly reason: string;
}

/** The boot configuration of the template; undefined without one. */
export interface BootFacts {
  /** foreign: another object has its name. outdated: it differs from the template. */
  readonly state: 'absent' | 'foreign' | 'outdated' | 'Pending' | 'Ready' | 'Error';
  /** `spec.maintenanceBootConfigurationRef` of the server names it. */
  readonly referenced: boolean;
  /** Error code of the boot service, if it reports one. */
  readonly failure: string | undefined;
}

export function readMaintenanceFacts(maintenance: ServerMaintenance, context: OperatorContext): MaintenanceFacts {
  const { caches, maintenanceSlots } = context;
  const server = caches.servers.get(maintenance.spec.serverRef.name);
  const ref = server?.spec.serverMaintenanceRef;
  const holdsServer = server !== undefined && refersTo(server, maintenance);
  const [first] = server === undefined ? [] : runnableOf(server, caches);
  return {
    server: server && serverFacts(server),
    serverName: maintenance.spec.serverRef.name,
    holdsServer,
    heldBy: ref === undefined || holdsServer ? undefined : `${ref.namespace}/${ref.name}`,
    hold: holdOf(maintenance, server, caches),
    ahead: first === undefined || keyOf(first) === keyOf(maintenance) ? undefined : keyOf(first),
    isOwnerUnasked: server !== undefined && unaskedClaimOf(server, caches) !== undefined,
    limit: maintenanceSlots.limit,
    isLimitReached: server !== undefined && maintenanceSlots.isFull(server),
    boot: bootFacts(maintenance, server, caches),
    retryRequested: maintenance.metadata.annotations?.[operationAnnotation] === operations.retry,
    labelledClaims: labelledClaimsOf(maintenance, caches),
    flashedBy: flashingUpdateOf(maintenance, caches),
  };
}

function serverFacts(server: Server): ServerFacts {
  const ready = conditionsOf(server).find(({ type }) => type === 'Ready');
  const state = server.status?.state ?? '';
  return {
    state: state === '' ? 'Initial' : state,
    reason: ready?.reason ?? '',
  };
}

/** The claim that holds the server and is not labelled yet. */
export function unaskedClaimOf(server: Server, { claims }: Pick<OperatorCaches, 'claims'>): ServerClaim | undefined {
  const ref = server.spec.serverClaimRef;
  const claim = ref === undefined ? undefined : claims.get(ref);
  if (claim === undefined || !isHeldBy(server, claim) || claim.metadata.deletionTimestamp !== undefined)
    return undefined;
  return claim.metadata.labels?.[maintenanceNeededLabel] === 'true' ? undefined : claim;
}

/** The boot configuration with its name, if it belongs to the maintenance. */
export function ownBootOf(
  maintenance: ServerMaintenance,
  { bootConfigurations }: Pick<OperatorCaches, 'bootConfigurations'>,
): ServerBootConfiguration | undefined {
  const { namespace, name, uid } = maintenance.metadata;
  const boot = bootConfigurations.get({ namespace, name });
  return boot?.metadata.ownerReferences?.some((owner) => owner.uid === uid) === true ? boot : undefined;
}

type BootSpec = ServerBootConfiguration['spec'];

/** The template, for the server of the maintenance. */
export function wantedBootOf({ spec }: ServerMaintenance): BootSpec | undefined {
  const template = spec.serverBootConfigurationTemplate?.spec;
  return template && { ...template, serverRef: { name: spec.serverRef.name } };
}

function bootFacts(
  maintenance: ServerMaintenance,
  server: Server | undefined,
  caches: OperatorCaches,
): BootFacts | undefined {
  const wanted = wantedBootOf(maintenance);
  const { namespace, name } = maintenance.metadata;
  if (wanted === undefined) return undefined;
  const ref = server?.spec.maintenanceBootConfigurationRef;
  const referenced = ref?.name === name && ref.namespace === namespace;
  const boot = ownBootOf(maintenance, caches);
  const failure = boot?.status?.conditions?.find(({ type, status }) => status === 'False' && type !== 'Ready')?.message;
  return {
    state: bootStateOf(boot, wanted, caches.bootConfigurations.get({ namespace, name }) !== undefined),
    referenced,
    failure: /^([A-Z]\w+): /.exec(failure ?? '')?.[1],
  };
}

function bootStateOf(
  boot: ServerBootConfiguration | undefined,
  wanted: BootSpec,
  isNameTaken: boolean,
): BootFacts['state'] {
  if (boot === undefined) return isNameTaken ? 'foreign' : 'absent';
  if (boot.metadata.deletionTimestamp !== undefined) return 'foreign';
  const { image, ignitionSecretRef, serverRef } = boot.spec;
  const isSame =
    image === wanted.image &&
    ignitionSecretRef?.name === wanted.ignitionSecretRef?.name &&
    serverRef.name === wanted.serverRef.name;
  if (!isSame) return 'outdated';
  const state = boot.status?.state;
  return state === 'Ready' || state === 'Error' ? state : 'Pending';
}

const labels = [maintenanceNeededLabel, maintenanceApprovedLabel] as const;

/** The approval ends with the last maintenance of the server that is not being deleted, whatever its state. */
function labelledClaimsOf(maintenance: ServerMaintenance, { servers, claims, maintenances }: OperatorCaches) {
  if (maintenance.metadata.deletionTimestamp === undefined) return [];
  const { name } = maintenance.spec.serverRef;
  if (maintenances.by('server', name).some(({ metadata }) => metadata.deletionTimestamp === undefined)) return [];
  const ref = servers.get(name)?.spec.serverClaimRef;
  const holder = ref === undefined ? undefined : claims.get(ref);
  const named = new Set([...claims.by('server', name), ...(holder === undefined ? [] : [holder])]);
  return [...named].filter(({ metadata }) => labels.some((label) => metadata.labels?.[label] !== undefined));
}
