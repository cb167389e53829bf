import type { Bmc, CallOptions } from '../http/bmc.ts';
import { readMembers } from './collections.ts';
import { pathOf } from '../endpoint.ts';
import { RedfishError } from '../errors.ts';
import { type HealthReport, healthReportOf } from './health.ts';
import type { MemberOptions, Unreadable } from './members.ts';
import { allowedResetTypes, chooseReset } from './resets.ts';
import { manager, type ManagerResource } from '../schemas.ts';
import { byUri, maxSystems, type PowerState, powerStateOf } from './systems.ts';

export interface ManagerInfo {
  /** `@odata.id`. */
  readonly uri: string;
  readonly uuid: string | undefined;
  readonly manufacturer: string | undefined;
  readonly model: string | undefined;
  readonly partNumber: string | undefined;
  readonly serialNumber: string | undefined;
  readonly firmwareVersion: string | undefined;
  readonly powerState: PowerState;
  /** Status.State, e.g. Enabled or StandbyOffline. */
  readonly state: string | undefined;
  readonly health: HealthReport;
  /** RFC 3339. */
  readonly lastResetTime: string | undefined;
  readonly hasGraphicalConsole: boolean;
}

/**
 * The managers, in the order of their URIs; none when the service root names none. An unreadable one is left out and reported to `onUnreadable`; when all are
 * unreadable, the call fails.
 */
export async function readManagers(
  bmc: Bmc,
  { onUnreadable = () => undefined, ...options }: MemberOptions = {},
): Promise<ManagerInfo[]> {
  const { Managers } = await bmc.root(options);
  if (Managers === undefined) return [];
  const resources = await readMembers(bmc, Managers, manager, { ...options, maxMembers: maxSystems, onUnreadable });
  return resources.map(infoOf).toSorted((a, b) => byUri(a.uri, b.uri));
}

/**
 * The manager with the UUID, in any letter case. Without a UUID: the first with a graphical console, which is the BMC rather
 * than an enclosure or a fan controller; if none has one, the first. Undefined when there is none, or when it may be an
 * unreadable one, which is reported to `onUnreadable`; without `onUnreadable` the call fails then.
 */
export async function findManager(
  bmc: Bmc,
  uuid?: string,
  { onUnreadable, ...options }: MemberOptions = {},
): Promise<ManagerInfo | undefined> {
  const unreadable: Unreadable[] = [];
  const managers = await readManagers(bmc, { ...options, onUnreadable: (each) => unreadable.push(each) });
  for (const each of unreadable) onUnreadable?.(each);
  const found = chooseManager(managers, uuid ?? '', unreadable.length === 0);
  const [first] = unreadable;
  if (found === undefined && first !== undefined && onUnreadable === undefined) throw first.error;
  return found;
}

function chooseManager(managers: readonly ManagerInfo[], uuid: string, isComplete: boolean): ManagerInfo | undefined {
  if (uuid !== '') return managers.find((candidate) => candidate.uuid?.toLowerCase() === uuid.toLowerCase());
  const withConsole = managers.find(({ hasGraphicalConsole }) => hasGraphicalConsole);
  return withConsole ?? (isComplete ? managers[0] : undefined);
}

/**
 * Restarts the BMC itself, at the path of the standard if it names no reset action. Never sent twice. A connection that breaks without a response counts as success: some firmware
 * restarts before it answers.
 */
export async function resetManager(
  bmc: Bmc,
  uri: string,
  type: 'GracefulRestart' | 'ForceRestart',
  options: CallOptions = {},
): Promise<void> {
  const urgent: CallOptions = { priority: 'power', ...options };
  const { Actions } = await bmc.get(uri, manager, urgent);
  const action = Actions['#Manager.Reset'];
  const allowed = await allowedResetTypes(bmc, action, urgent);
  const ResetType = chooseReset(uri, [type], allowed);
  // A manager that advertises no types (HPE iLO) accepts an empty body.
  const body = allowed === undefined ? {} : { ResetType };
  try {
    await bmc.post(action?.target ?? `${uri}/Actions/Manager.Reset`, body, urgent);
  } catch (error) {
    if (!isConnectionLost(error)) throw error;
  }
}

/** Types of a reset to defaults, from the most thorough one. Each of them resets the accounts. */
export type DefaultsResetType = 'ResetAll' | 'PreserveNetwork';

export interface DefaultsResetOptions extends CallOptions {
  /** Called just before the reset is sent. */
  readonly onSend?: ((type: DefaultsResetType) => Promise<void>) | undefined;
}

/**
 * Resets the BMC to factory settings: accounts, and if the BMC offers that also its network. Never sent twice.
 * @throws RedfishError NotSupported when the manager does not offer the action, or no type that resets the accounts.
 */
export async function resetManagerToDefaults(
  bmc: Bmc,
  uri: string,
  { onSend, ...options }: DefaultsResetOptions = {},
): Promise<void> {
  const urgent: CallOptions = { priority: 'power', ...options };
  const { Actions } = await bmc.get(uri, manager, urgent);
  const action = Actions['#Manager.ResetToDefaults'];
  if (action?.target === undefined)
    throw new RedfishError({ code: 'NotSupported', message: `${uri} offers no reset to defaults` });
  const allowed = await allowedResetTypes(bmc, action, urgent);
  const ResetType = chooseReset<DefaultsResetType>(uri, ['ResetAll', 'PreserveNetwork'], allowed);
  await onSend?.(ResetType);
  await bmc.post(action.target, { ResetType }, urgent);
}

const isConnectionLost = (error: unknown): boolean =>
  error instanceof RedfishError && (error.code === 'Unreachable' || error.code === 'TimedOut');

function infoOf(resource: ManagerResource): ManagerInfo {
  const { MaxConcurrentSessions = 0, ConnectTypesSupported = [] } = resource.GraphicalConsole;
  return {
    uri: pathOf(resource['@odata.id']),
    uuid: resource.UUID,
    manufacturer: resource.Manufacturer,
    model: resource.Model,
    partNumber: resource.PartNumber,
    serialNumber: resource.SerialNumber,
    firmwareVersion: resource.FirmwareVersion,
    powerState: powerStateOf(resource.PowerState),
    state: resource.Status.State,
    health: healthReportOf(resource.Status),
    lastResetTime: timeOf(resource.LastResetTime),
    hasGraphicalConsole: MaxConcurrentSessions > 0 || ConnectTypesSupported.length > 0,
  };
}

function timeOf(text: string | undefined): string | undefined {
  const ms = Date.parse(text ?? '');
  return Number.isNaN(ms) ? undefined : new Date(ms).toISOString().replace(/\.\d+Z$/, 'Z');
}
