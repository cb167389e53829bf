import type { Bmc, CallOptions } from './bmc.ts';
import { readMembers } from './collections.ts';
import { RedfishError } from './errors.ts';
import { manager, type ManagerResource } from './schemas.ts';
import { type PowerState, powerStateOf } from './systems.ts';

export interface ManagerInfo {
  readonly uri: string;
  readonly uuid: string | undefined;
  readonly manufacturer: string | undefined;
  readonly model: string | undefined;
  readonly partNumber: string | undefined;
  readonly serialNumber: string | undefined;
  readonly firmwareVersion: string | undefined;
  readonly powerState: PowerState;
  /** RFC 3339. */
  readonly lastResetTime: string | undefined;
  readonly hasGraphicalConsole: boolean;
}

/** All managers, in the order of their URIs. */
export async function readManagers(bmc: Bmc, options: CallOptions = {}): Promise<ManagerInfo[]> {
  const root = await bmc.root(options);
  const path = root.Managers?.['@odata.id'] ?? '/redfish/v1/Managers';
  const managers = (await readMembers(bmc, path, manager, options)).map(infoOf);
  return managers.toSorted((a, b) => a.uri.localeCompare(b.uri, 'en', { numeric: true }));
}

/**
 * The manager with the UUID, in any letter case. Without a UUID: the first that has a graphical console, which is the
 * BMC itself rather than an enclosure or a fan controller; failing that the first. Undefined when there is none.
 */
export async function findManager(
  bmc: Bmc,
  uuid: string | undefined,
  options: CallOptions = {},
): Promise<ManagerInfo | undefined> {
  const managers = await readManagers(bmc, options);
  if (uuid === undefined || uuid === '')
    return managers.find(({ hasGraphicalConsole }) => hasGraphicalConsole) ?? managers[0];
  return managers.find((candidate) => candidate.uuid?.toLowerCase() === uuid.toLowerCase());
}

/** Restarts the management controller itself. Never sent twice. */
export async function resetManager(
  bmc: Bmc,
  uri: string,
  type: 'GracefulRestart' | 'ForceRestart',
  options: CallOptions = {},
): Promise<void> {
  const { Actions } = await bmc.get(uri, manager, options);
  const action = Actions?.['#Manager.Reset'];
  const allowed = action?.['ResetType@Redfish.AllowableValues'];
  if (allowed !== undefined && !allowed.includes(type)) {
    throw new RedfishError({
      code: 'NotSupported',
      message: `the manager ${uri} does not offer reset type ${type}; it offers ${allowed.join(', ')}`,
    });
  }
  // A manager that advertises no types (HPE iLO) takes an empty body.
  await bmc.post(action?.target ?? `${uri}/Actions/Manager.Reset`, allowed === undefined ? {} : { ResetType: type }, {
    ...options,
    priority: 'power',
  });
}

function infoOf(resource: ManagerResource): ManagerInfo {
  const { GraphicalConsole } = resource;
  const sessions = GraphicalConsole?.MaxConcurrentSessions ?? 0;
  return {
    uri: resource['@odata.id'],
    uuid: resource.UUID,
    manufacturer: resource.Manufacturer,
    model: resource.Model,
    partNumber: resource.PartNumber,
    serialNumber: resource.SerialNumber,
    firmwareVersion: resource.FirmwareVersion,
    powerState: powerStateOf(resource.PowerState),
    lastResetTime: timeOf(resource.LastResetTime),
    hasGraphicalConsole: sessions > 0 || (GraphicalConsole?.ConnectTypesSupported ?? []).length > 0,
  };
}

function timeOf(text: string | undefined): string | undefined {
  const ms = Date.parse(text ?? '');
  return Number.isNaN(ms) ? undefined : new Date(ms).toISOString().replace(/\.\d+Z$/, 'Z');
}
