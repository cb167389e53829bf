import type { Bmc, CallOptions } from '../http/bmc.ts';
import { type ListOptions, readMembers } from './collections.ts';
import { pathOf } from '../endpoint.ts';
import { RedfishError } from '../errors.ts';
import { type HealthReport, healthReportOf } from './health.ts';
import { hasUuid, type Identity, identityOf } from './identity.ts';
import type { MemberOptions } from './members.ts';
import { system, type SystemResource } from '../schemas.ts';

export type PowerState = 'On' | 'Off' | 'PoweringOn' | 'PoweringOff' | 'Paused' | 'Unknown';
const powerStates: readonly PowerState[] = ['On', 'Off', 'PoweringOn', 'PoweringOff', 'Paused'];

/** A computer system of a BMC. */
export interface SystemSummary {
  /** `@odata.id`. */
  readonly uri: string;
  /** Lower case; undefined when the system reports none and none can be derived. */
  readonly uuid: string | undefined;
  readonly uuidDerivedFrom?: Identity['uuidDerivedFrom'];
  readonly alternativeUuid?: Identity['alternativeUuid'];
  /** Why it is no machine that could be managed, such as a GPU baseboard or a DPU; absent for a machine. */
  readonly noMachineBecause?: string | undefined;
  readonly manufacturer: string | undefined;
  readonly model: string | undefined;
  readonly serialNumber: string | undefined;
  readonly sku: string | undefined;
  readonly biosVersion: string | undefined;
  readonly memoryGiB: number | undefined;
  readonly powerState: PowerState;
}

export interface SystemState extends SystemSummary {
  /** PowerState as the BMC reports it. */
  readonly powerStateText: string | undefined;
  readonly health: HealthReport;
  /** Lit, Blinking or Off, from LocationIndicatorActive or IndicatorLED. */
  readonly indicatorLED: string | undefined;
  readonly bootOrder: readonly string[] | undefined;
  readonly override: {
    readonly enabled: string | undefined;
    readonly target: string | undefined;
    readonly mode: string | undefined;
    /** Targets the BMC advertises; undefined when it advertises none. */
    readonly targets: readonly string[] | undefined;
    readonly httpBootUri: string | undefined;
  };
  /** Reset types the BMC advertises; undefined when it advertises none. */
  readonly resetTypes: readonly string[] | undefined;
  readonly etag: string | undefined;
}

export interface SystemCallOptions extends CallOptions {
  /**
   * The UUID of the expected machine, reported or derived. For another machine, or one without a UUID, the call rejects with
   * IdentityMismatch before anything is changed. This costs no request: the system is read anyway.
   */
  readonly expectedUuid?: string | undefined;
}

/** More than any chassis has. */
export const maxSystems = 1_000;

/**
 * The systems of the BMC, in the order of their URIs, as the collection has no defined order; none when the service root names
 * no systems. An unreadable one is left out and reported to `onUnreadable`; when all are unreadable, the call fails.
 */
export async function readSystems(
  bmc: Bmc,
  { onUnreadable = () => undefined, ...options }: MemberOptions = {},
): Promise<SystemSummary[]> {
  const { Systems } = await bmc.root(options);
  if (Systems === undefined) return [];
  let isComplete = true;
  const all: ListOptions = {
    ...options,
    maxMembers: maxSystems,
    onUnreadable: (unreadable) => {
      isComplete = false;
      onUnreadable(unreadable);
    },
  };
  const resources = await readMembers(bmc, Systems, system, all);
  const serials = Map.groupBy(resources, ({ SerialNumber }) => SerialNumber?.toLowerCase());
  const systems = resources
    .map((resource) => {
      const sameSerial = serials.get(resource.SerialNumber?.toLowerCase())?.length ?? 0;
      // An unreadable system may have the same one.
      return summaryOf(resource, bmc.serviceUuid, sameSerial > 1 || !isComplete);
    })
    .toSorted((a, b) => byUri(a.uri, b.uri));
  const machine = systems.find(({ noMachineBecause }) => noMachineBecause === undefined);
  bmc.learnManufacturer((machine ?? systems[0])?.manufacturer);
  return systems;
}

/** The current state of one system. */
export async function readSystem(bmc: Bmc, uri: string, options: SystemCallOptions = {}): Promise<SystemState> {
  const { value, etag } = await readSystemResource(bmc, uri, options);
  return stateOf(value, etag, bmc.serviceUuid);
}

/** The resource itself, for operations that need its links, actions or ETag. */
export async function readSystemResource(
  bmc: Bmc,
  uri: string,
  options: SystemCallOptions = {},
): Promise<{ value: SystemResource; etag: string | undefined }> {
  const resource = await bmc.read(uri, system, options);
  bmc.learnManufacturer(resource.value.Manufacturer);
  requireIdentity(uri, identityIn(resource.value, bmc.serviceUuid), options.expectedUuid);
  return resource;
}

/** A URI identifies a slot, not a machine: a blade may be moved, an address may be reassigned to another BMC. */
function requireIdentity(uri: string, actual: Identity, expectedUuid: string | undefined): void {
  if (expectedUuid === undefined || hasUuid(actual, expectedUuid)) return;
  throw new RedfishError({
    code: 'IdentityMismatch',
    message: `${uri} is expected to be ${expectedUuid} and reports UUID ${actual.uuid ?? 'none'}; nothing was sent to it`,
  });
}

export function stateOf(
  resource: SystemResource,
  etag: string | undefined,
  serviceUuid: string | undefined,
): SystemState {
  const { Boot, Actions } = resource;
  return {
    ...summaryOf(resource, serviceUuid),
    powerStateText: resource.PowerState,
    health: healthReportOf(resource.Status),
    indicatorLED: ledOf(resource),
    bootOrder: Boot.BootOrder,
    override: {
      enabled: Boot.BootSourceOverrideEnabled,
      target: Boot.BootSourceOverrideTarget,
      mode: Boot.BootSourceOverrideMode,
      targets: Boot['BootSourceOverrideTarget@Redfish.AllowableValues'],
      httpBootUri: Boot.HttpBootUri,
    },
    resetTypes: Actions['#ComputerSystem.Reset']?.['ResetType@Redfish.AllowableValues'],
    etag,
  };
}

function summaryOf(resource: SystemResource, serviceUuid: string | undefined, isSerialShared?: boolean): SystemSummary {
  const { uuid, uuidDerivedFrom, alternativeUuid } = identityIn(resource, serviceUuid, isSerialShared);
  const noMachineBecause = noMachineBecauseOf(resource);
  return {
    uri: pathOf(resource['@odata.id']),
    uuid,
    // Absent in the usual case.
    ...(uuidDerivedFrom === undefined ? {} : { uuidDerivedFrom }),
    ...(alternativeUuid === undefined ? {} : { alternativeUuid }),
    ...(noMachineBecause === undefined ? {} : { noMachineBecause }),
    manufacturer: resource.Manufacturer,
    model: resource.Model,
    serialNumber: resource.SerialNumber,
    sku: resource.SKU,
    biosVersion: resource.BiosVersion,
    memoryGiB: resource.MemorySummary.TotalSystemMemoryGiB,
    powerState: powerStateOf(resource.PowerState),
  };
}

/** The other types of ComputerSystem (DSP0268) are machines: physical, virtual, composed, or a partition of one. */
const noMachineTypes: readonly string[] = ['OS', 'DPU'];

/** Services list more than machines as systems: GPU baseboards, DPUs, operating systems. */
function noMachineBecauseOf({ SystemType: type, Actions }: SystemResource): string | undefined {
  if (type !== undefined && noMachineTypes.includes(type)) return `its SystemType is ${type}`;
  return Actions['#ComputerSystem.Reset'] === undefined ? 'it offers no reset' : undefined;
}

const identityIn = (resource: SystemResource, serviceUuid: string | undefined, isSerialShared?: boolean): Identity =>
  identityOf({
    uuid: resource.UUID,
    manufacturer: resource.Manufacturer,
    serialNumber: resource.SerialNumber,
    systemId: pathOf(resource['@odata.id']),
    serviceUuid,
    isSerialShared,
  });

/** Numbers in URIs compare as numbers, so that system 2 comes before system 10. */
export const byUri = (a: string, b: string): number => order.compare(a, b);

/** Created once: a collator per comparison would load the locale data each time. */
const order = new Intl.Collator('en', { numeric: true });

/** Accepts any spelling; `Unknown` for any other text, as an error would only be retried. */
export function powerStateOf(text: string | undefined): PowerState {
  const letters = text?.replaceAll(/[^a-z]/gi, '').toLowerCase();
  return powerStates.find((state) => state.toLowerCase() === letters) ?? 'Unknown';
}

function ledOf({ IndicatorLED, LocationIndicatorActive }: SystemResource): string | undefined {
  if (LocationIndicatorActive === undefined) return IndicatorLED;
  if (!LocationIndicatorActive) return 'Off';
  return IndicatorLED === 'Blinking' ? 'Blinking' : 'Lit';
}
