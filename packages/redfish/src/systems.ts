import type { Bmc, CallOptions } from './bmc.ts';
import { readMembers } from './collections.ts';
import { system, type SystemResource } from './schemas.ts';

export type PowerState = 'On' | 'Off' | 'PoweringOn' | 'PoweringOff' | 'Paused' | 'Unknown';
const powerStates: readonly PowerState[] = ['On', 'Off', 'PoweringOn', 'PoweringOff', 'Paused'];

/** A computer system as a BMC presents it. */
export interface SystemSummary {
  /** `@odata.id`. */
  readonly uri: string;
  /** Lower case; undefined when the system reports none. */
  readonly uuid: string | undefined;
  readonly manufacturer: string | undefined;
  readonly model: string | undefined;
  readonly serialNumber: string | undefined;
  readonly sku: string | undefined;
  readonly biosVersion: string | undefined;
  readonly memoryGiB: number | undefined;
  readonly powerState: PowerState;
}

export interface SystemState extends SystemSummary {
  /** Lit, Blinking or Off, whichever property the BMC speaks of it by. */
  readonly indicatorLED: string | undefined;
  readonly bootOrder: readonly string[] | undefined;
  readonly override: {
    readonly enabled: string | undefined;
    readonly target: string | undefined;
    readonly mode: string | undefined;
  };
  /** Reset types the BMC advertises; undefined when it advertises none. */
  readonly resetTypes: readonly string[] | undefined;
}

/** All systems behind the BMC, in the order of their URIs: the order of the collection means nothing. */
export async function readSystems(bmc: Bmc, options: CallOptions = {}): Promise<SystemSummary[]> {
  const root = await bmc.root(options);
  const path = root.Systems?.['@odata.id'] ?? '/redfish/v1/Systems';
  const systems = (await readMembers(bmc, path, system, options)).map(summaryOf);
  bmc.learnManufacturer(systems[0]?.manufacturer);
  return systems.toSorted((a, b) => a.uri.localeCompare(b.uri, 'en', { numeric: true }));
}

export async function readSystem(bmc: Bmc, uri: string, options: CallOptions = {}): Promise<SystemState> {
  return stateOf(await readSystemResource(bmc, uri, options));
}

export async function readSystemResource(bmc: Bmc, uri: string, options: CallOptions = {}): Promise<SystemResource> {
  const resource = await bmc.get(uri, system, options);
  bmc.learnManufacturer(resource.Manufacturer);
  return resource;
}

export function stateOf(resource: SystemResource): SystemState {
  const { Boot, Actions } = resource;
  return {
    ...summaryOf(resource),
    indicatorLED: ledOf(resource),
    bootOrder: Boot?.BootOrder,
    override: {
      enabled: Boot?.BootSourceOverrideEnabled,
      target: Boot?.BootSourceOverrideTarget,
      mode: Boot?.BootSourceOverrideMode,
    },
    resetTypes: Actions?.['#ComputerSystem.Reset']?.['ResetType@Redfish.AllowableValues'],
  };
}

function summaryOf(resource: SystemResource): SystemSummary {
  return {
    uri: resource['@odata.id'],
    uuid: uuidOf(resource.UUID),
    manufacturer: resource.Manufacturer,
    model: resource.Model,
    serialNumber: resource.SerialNumber,
    sku: resource.SKU,
    biosVersion: resource.BiosVersion,
    memoryGiB: resource.MemorySummary?.TotalSystemMemoryGiB,
    powerState: powerStateOf(resource.PowerState),
  };
}

/** Firmware that knows no UUID reports zeros. */
function uuidOf(text: string | undefined): string | undefined {
  return text === undefined || /^[0-]*$/.test(text) ? undefined : text.toLowerCase();
}

/** Text in any case; what is not understood is a value that can be seen, not an error that loops. */
export function powerStateOf(text: string | undefined): PowerState {
  return powerStates.find((state) => state.toLowerCase() === text?.toLowerCase()) ?? 'Unknown';
}

function ledOf({ IndicatorLED, LocationIndicatorActive }: SystemResource): string | undefined {
  if (LocationIndicatorActive === undefined) return IndicatorLED;
  return LocationIndicatorActive ? (IndicatorLED === 'Blinking' ? 'Blinking' : 'Lit') : 'Off';
}
