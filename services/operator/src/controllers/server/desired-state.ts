import type { Server } from '@metal/api/v1alpha1/server.ts';
import type { ServerMaintenance } from '@metal/api/v1alpha1/server-maintenance.ts';
import {
  ignoringOperations,
  maintenanceApprovedLabel,
  operationAnnotation,
  operations,
  operationUnderWayAnnotation,
} from '@metal/api/wire/contract.ts';
import type { LocatorLight } from '@metal/redfish/resources/led.ts';
import type { ResetType } from '@metal/redfish/resources/power.ts';
import { isHeldBy } from '../../scheduling/eligibility.ts';
import type { OperatorCaches } from '../../caches.ts';
import type { SentSetting, ObservedSystem } from '../../bmc-connections/observed-state.ts';
import { type BootFacts, bootFactsOf } from './claim/boot-facts.ts';

/** What a person asks for once, by annotation. */
export type OperationFacts =
  | { readonly kind: 'none' }
  | { readonly kind: 'park'; readonly value: string }
  | { readonly kind: 'unpark'; readonly value: string }
  | { readonly kind: 'retry'; readonly value: string }
  | { readonly kind: 'rediscover'; readonly value: string }
  | { readonly kind: 'unsupported'; readonly value: string }
  | { readonly kind: 'reset'; readonly value: string; readonly type: ResetType }
  /** A process that took it up has ended; whether the machine was reset nobody knows. */
  | { readonly kind: 'interrupted'; readonly value: string };

const resetTypes: Readonly<Record<string, ResetType>> = {
  [operations.gracefulRestartServer]: 'GracefulRestart',
  [operations.hardRestartServer]: 'ForceRestart',
  [operations.powerCycleServer]: 'PowerCycle',
  [operations.forceOffServer]: 'ForceOff',
  [operations.forceOnServer]: 'ForceOn',
};

export function operationFacts({ metadata }: Server, memory: ObservedSystem): OperationFacts {
  const annotations = metadata.annotations ?? {};
  const underWay = annotations[operationUnderWayAnnotation];
  if (underWay !== undefined && memory.operation === undefined) return { kind: 'interrupted', value: underWay };
  const value = annotations[operationAnnotation] ?? '';
  const type = resetTypes[value];
  if (type !== undefined) return { kind: 'reset', value, type };
  if (value === 'park' || value === 'unpark' || value === 'retry' || value === 'rediscover')
    return { kind: value, value };
  return isForOthers(value) ? { kind: 'none' } : { kind: 'unsupported', value };
}

/** Words that are heard elsewhere: by the runner, which leaves the object alone, and by its deletion. */
const isForOthers = (value: string): boolean =>
  value === '' || value === operations.allowInProgressDelete || ignoringOperations.some((known) => known === value);

/** A setting of the machine that is wanted, and whether anything is left to do about it. */
export interface SettingFacts {
  /** Undefined when nothing is wanted. */
  readonly desired: string | undefined;
  readonly isDone: boolean;
  readonly rejection: string | undefined;
}

const lights = new Set<string>(['Lit', 'Blinking', 'Off'] satisfies LocatorLight[]);

/** The light of a maintenance goes before the one of the server, as the technician stands in front of it. */
export function lightFacts(
  server: Server,
  maintenance: ServerMaintenance | undefined,
  memory: ObservedSystem,
): SettingFacts {
  const desired = [maintenance?.spec.locatorLED, server.spec.indicatorLED].find((light) => lights.has(light ?? ''));
  const seen = memory.state?.value.indicatorLED;
  return settingFacts(desired, seen, memory.light);
}

export const wantedDevices = ({ bootOrder = [] }: Server['spec']): string[] =>
  bootOrder.toSorted((a, b) => a.priority - b.priority).map(({ device }) => device);

/** Devices by ascending priority, as one comparable text. */
export function bootOrderFacts({ spec }: Server, { state, bootOrder }: ObservedSystem): SettingFacts {
  const devices = wantedDevices(spec);
  const desired = devices.length === 0 ? undefined : devices.join(' ');
  const seen = state?.value.bootOrder?.slice(0, devices.length).join(' ');
  return settingFacts(desired, seen, bootOrder);
}

function settingFacts(
  desired: string | undefined,
  seen: string | undefined,
  sent: SentSetting | undefined,
): SettingFacts {
  const known = sent?.desired === desired ? sent : undefined;
  return {
    desired,
    isDone: desired === undefined || desired === seen || known !== undefined,
    rejection: known?.rejection,
  };
}

/** Who works on the server, or wants to. */
export interface MaintenanceFacts {
  readonly state: 'none' | 'pending' | 'held' | 'dangling';
  readonly name: string;
  readonly wantsPower: 'On' | 'Off' | undefined;
  /** What it boots, when it brings an image of its own. */
  readonly boot: BootFacts | undefined;
  /** The image of its own that it names and that is not in sight. */
  readonly missingBoot: string | undefined;
}

const nothingWanted = { wantsPower: undefined, boot: undefined, missingBoot: undefined } as const;

export function maintenanceOf({ spec }: Server, { maintenances }: OperatorCaches): ServerMaintenance | undefined {
  return spec.serverMaintenanceRef === undefined ? undefined : maintenances.get(spec.serverMaintenanceRef);
}

export function maintenanceFacts(server: Server, caches: OperatorCaches, now: number): MaintenanceFacts {
  const ref = server.spec.serverMaintenanceRef;
  if (ref === undefined) {
    const next = caches.maintenances.by('server', server.metadata.name).find((one) => mayStart(one, server, caches));
    const name = next === undefined ? '' : `${next.metadata.namespace ?? ''}/${next.metadata.name}`;
    return { state: next === undefined ? 'none' : 'pending', name, ...nothingWanted };
  }
  const name = `${ref.namespace}/${ref.name}`;
  const maintenance = maintenanceOf(server, caches);
  if (maintenance === undefined) return { state: 'dangling', name, ...nothingWanted };
  const power = maintenance.spec.serverPower;
  const bootRef = server.spec.maintenanceBootConfigurationRef;
  const namesBoot = bootRef !== undefined && bootRef.name !== '';
  const boot = namesBoot ? caches.bootConfigurations.get(bootRef) : undefined;
  return {
    state: 'held',
    name,
    wantsPower: power === 'On' || power === 'Off' ? power : undefined,
    boot: boot === undefined ? undefined : bootFactsOf(boot, server, now),
    missingBoot: namesBoot && boot === undefined ? `${bootRef.namespace}/${bootRef.name}` : undefined,
  };
}

/** Enforced ones begin by themselves; the others need the consent of the claim, if there is one. */
function mayStart({ metadata, spec }: ServerMaintenance, server: Server, { claims }: OperatorCaches): boolean {
  if (metadata.deletionTimestamp !== undefined) return false;
  if (spec.policy === 'Enforced') return true;
  if (spec.policy !== 'OwnerApproval') return false;
  const ref = server.spec.serverClaimRef;
  if (ref === undefined) return true;
  const claim = claims.get(ref);
  return claim?.metadata.labels?.[maintenanceApprovedLabel] !== undefined && isHeldBy(server, claim);
}
