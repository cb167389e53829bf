import { isOfUpdate } from '@metal/api/wire/maintenance-window.ts';
import type { ServerMaintenance } from '@metal/api/v1alpha1/server-maintenance.ts';
import type { Server } from '@metal/api/v1alpha1/server.ts';
import type { ObservedSystem } from '../../../bmc-connections/observed-state.ts';
import type { OperatorCaches } from '../../../caches.ts';
import { runnableOf, wantedPowerOf } from '../../../maintenance/queue.ts';
import { type BootFacts, bootFactsOf } from '../boot/configuration-facts.ts';
import type { HealthFacts } from '../health/facts.ts';
import { type Comparison, compareHardware } from './comparison.ts';

/** The ServerMaintenance that holds the server, or is about to. */
export interface MaintenanceFacts {
  /** pending: one may start, and its controller has not set the reference yet. dangling: the reference names none in the cache. */
  readonly state: 'none' | 'pending' | 'held' | 'dangling';
  readonly name: string;
  /** An update created it. */
  readonly isOfUpdate: boolean;
  readonly wantsPower: 'On' | 'Off' | undefined;
  /** `spec.power` of the server is what the maintenance wants, or becomes that again after a restart. */
  readonly powerRecorded: boolean;
  /** The boot configuration of the maintenance, if it has one. */
  readonly boot: BootFacts | undefined;
  /** The boot configuration that it names and that does not exist. */
  readonly missingBoot: string | undefined;
  /** UID of the boot configuration of a maintenance that the machine was started for in this window. */
  readonly startedBootUid: string | undefined;
  /** Time since the parts were read outside of a maintenance; undefined if they were not. */
  readonly partsReadMsAgo: number | undefined;
  /** Of the hardware before and after; undefined while a maintenance has the server. */
  readonly comparison: Comparison | undefined;
}

interface FactsInput {
  readonly caches: OperatorCaches;
  readonly memory: ObservedSystem;
  readonly health: HealthFacts['health'];
  readonly now: number;
}

/** One that names another server by now has this one no more. */
export function maintenanceOf(
  { metadata, spec }: Server,
  { maintenances }: Pick<OperatorCaches, 'maintenances'>,
): ServerMaintenance | undefined {
  const named = spec.serverMaintenanceRef === undefined ? undefined : maintenances.get(spec.serverMaintenanceRef);
  return named?.spec.serverRef.name === metadata.name ? named : undefined;
}

export function maintenanceFacts(server: Server, input: FactsInput): MaintenanceFacts {
  const { caches, memory, health, now } = input;
  const { parts } = memory;
  const common = {
    isOfUpdate: false,
    wantsPower: undefined,
    powerRecorded: true,
    boot: undefined,
    missingBoot: undefined,
    startedBootUid: server.status?.maintenance?.bootConfigurationUID,
    partsReadMsAgo: parts === undefined ? undefined : now - parts.at,
    comparison: undefined,
  } as const;
  const ref = server.spec.serverMaintenanceRef;
  if (ref === undefined) {
    const [next] = runnableOf(server, caches);
    const name = next === undefined ? '' : `${next.metadata.namespace ?? ''}/${next.metadata.name}`;
    const comparison = compareHardware(server, parts?.value, health);
    return { ...common, state: next === undefined ? 'none' : 'pending', name, comparison };
  }
  const name = `${ref.namespace}/${ref.name}`;
  const maintenance = maintenanceOf(server, caches);
  if (maintenance === undefined) return { ...common, state: 'dangling', name };
  return { ...common, state: 'held', name, ...demandsOf(maintenance, server, input) };
}

function demandsOf(maintenance: ServerMaintenance, server: Server, { caches, memory, now }: FactsInput) {
  const wantsPower = isOfUpdate(maintenance) ? wantedByUpdate(maintenance, memory) : wantedPowerOf(maintenance);
  const ref = server.spec.maintenanceBootConfigurationRef;
  const namesBoot = ref !== undefined && ref.name !== '';
  const boot = namesBoot ? caches.bootConfigurations.get(ref) : undefined;
  return {
    isOfUpdate: isOfUpdate(maintenance),
    wantsPower,
    powerRecorded: wantsPower === undefined || server.spec.power === wantsPower || isRestart(maintenance, wantsPower),
    boot: boot === undefined ? undefined : bootFactsOf(boot, server, now),
    missingBoot: namesBoot && boot === undefined ? `${ref.namespace}/${ref.name}` : undefined,
  };
}

/** Undefined until the update wants something: after a restart of the operator, it may have turned the machine off to flash it. */
const wantedByUpdate = ({ metadata }: ServerMaintenance, { wantedByUpdate: wanted }: ObservedSystem) =>
  wanted !== undefined && wanted.maintenanceUid === metadata.uid ? wanted.power : undefined;

/** The update turns the machine on again in a moment; `spec.power` stays On. */
const isRestart = (maintenance: ServerMaintenance, wantsPower: 'On' | 'Off'): boolean =>
  wantsPower === 'Off' && isOfUpdate(maintenance);
