import type { Bmc } from '../http/bmc.ts';
import { RedfishError, wasNotApplied } from '../errors.ts';
import { pendingSystem, type SystemResource } from '../schemas.ts';
import { readSystemResource, type SystemCallOptions } from './systems.ts';

export type NetworkTarget = 'Pxe' | 'UefiHttp';

export interface NetworkBoot {
  readonly target: NetworkTarget;
  /** The errors of the targets before it that the BMC offers. */
  readonly rejections: readonly RedfishError[];
}

/**
 * Boots from the network once, at the next start: from the first of these targets that the BMC offers and accepts. DHCP gives
 * UEFI firmware the URL of an HTTP boot; an HttpBootUri that was left in the BMC would take precedence, so it is cleared.
 * @throws RedfishError NotSupported when the BMC advertises its targets and none of these is among them.
 */
export async function networkBootOnce(
  bmc: Bmc,
  uri: string,
  targets: readonly NetworkTarget[],
  options: SystemCallOptions = {},
): Promise<NetworkBoot> {
  const system = await readSnapshot(bmc, uri, options);
  const offered = targets.filter((target) => isOffered(system, target));
  const rejections: RedfishError[] = [];
  for (const target of offered) {
    try {
      await overrideOnce(bmc, system, target, options);
      return { target, rejections };
    } catch (error) {
      if (!(error instanceof RedfishError) || !isRejected(error) || !wasNotApplied(error)) throw error;
      rejections.push(error);
    }
  }
  throw rejections.at(-1) ?? notOffered(system, targets);
}

async function overrideOnce(
  bmc: Bmc,
  system: SystemSnapshot,
  target: NetworkTarget,
  options: SystemCallOptions,
): Promise<void> {
  const { Boot } = system.value;
  const desired = {
    BootSourceOverrideEnabled: 'Once',
    BootSourceOverrideTarget: target,
    ...bmc.traits.overrideMode(Boot),
    ...(target === 'UefiHttp' && Boot.HttpBootUri !== undefined ? { HttpBootUri: '' } : {}),
  };
  try {
    await patchBoot(bmc, system, options, desired);
  } catch (error) {
    // The response may be lost, or be an error although the BMC made the change: the state read afterwards decides.
    if (!(error instanceof RedfishError) || wasNotApplied(error)) throw error;
    const now: Record<string, unknown> = { ...(await readSnapshot(bmc, system.uri, options)).value.Boot };
    if (Object.entries(desired).some(([name, value]) => (now[name] ?? '') !== value)) throw error;
  }
}

/** Boots from the disk once, at the next start, regardless of the persistent boot order. */
export async function bootFromDiskOnce(bmc: Bmc, uri: string, options: SystemCallOptions = {}): Promise<void> {
  const system = await readSnapshot(bmc, uri, options);
  if (!isOffered(system, 'Hdd')) throw notOffered(system, ['Hdd']);
  await patchBoot(bmc, system, options, { BootSourceOverrideEnabled: 'Once', BootSourceOverrideTarget: 'Hdd' });
}

/** Some services reject a change of the override without a target. */
const noOverride = { BootSourceOverrideEnabled: 'Disabled', BootSourceOverrideTarget: 'None' } as const;
/** Destinations of an override. They remain when it ends, and the next override may use them. */
const destinations = ['HttpBootUri', 'UefiTargetBootSourceOverride', 'BootNext'] as const;

/**
 * Disables an unused override, and clears the destination of an earlier one. When the BMC rejects clearing a destination, it
 * keeps it: without an override the destination has no effect.
 */
export async function clearBootOverride(bmc: Bmc, uri: string, options: SystemCallOptions = {}): Promise<void> {
  const system = await readSnapshot(bmc, uri, options);
  const { Boot } = system.value;
  const isDisabled = Boot.BootSourceOverrideEnabled === 'Disabled' || Boot.BootSourceOverrideTarget === 'None';
  const leftover = destinations.filter((name) => Boot[name] !== undefined);
  if (isDisabled && leftover.length === 0) return;
  const emptied = Object.fromEntries(leftover.map((name) => [name, null]));
  try {
    await patchBoot(bmc, system, options, { ...noOverride, ...emptied });
  } catch (error) {
    if (leftover.length === 0 || !isRejected(error)) throw error;
    if (!isDisabled) await patchBoot(bmc, system, options, noOverride);
  }
}

/**
 * Sets the persistent boot order. Other devices of the BMC follow in their order. Nothing is sent when the order already begins
 * with these devices, or will at the next start (pending). A one-time override is never changed.
 */
export async function setBootOrder(
  bmc: Bmc,
  uri: string,
  devices: readonly string[],
  options: SystemCallOptions = {},
): Promise<'changed' | 'unchanged' | 'pending'> {
  const system = await readSnapshot(bmc, uri, options);
  const current = system.value.Boot.BootOrder ?? [];
  if (beginsWith(current, devices)) return 'unchanged';
  const pending = await readPending(bmc, system, options);
  if (beginsWith(pending?.value.Boot.BootOrder ?? [], devices)) return 'pending';
  const BootOrder = [...devices, ...current.filter((device) => !devices.includes(device))];
  await patchBoot(bmc, system, options, { BootOrder });
  return 'changed';
}

interface SystemSnapshot {
  readonly uri: string;
  readonly value: SystemResource;
  readonly etag: string | undefined;
}

async function readSnapshot(bmc: Bmc, uri: string, options: SystemCallOptions): Promise<SystemSnapshot> {
  return { uri, ...(await readSystemResource(bmc, uri, { priority: 'boot', ...options })) };
}

const offeredBy = ({ value }: SystemSnapshot): readonly string[] =>
  value.Boot['BootSourceOverrideTarget@Redfish.AllowableValues'] ?? [];

/** True when the BMC advertises no targets: then its response to the change decides. */
const isOffered = (system: SystemSnapshot, target: string): boolean =>
  offeredBy(system).length === 0 || offeredBy(system).includes(target);

const notOffered = (system: SystemSnapshot, targets: readonly string[]): RedfishError =>
  new RedfishError({
    code: 'NotSupported',
    message: `${system.uri} cannot boot once from ${targets.join(' or ')}; it offers ${offeredBy(system).join(', ')}`,
  });

/** Newer BMCs (iDRAC 10) accept boot changes only on the settings object of the system. */
async function patchBoot(bmc: Bmc, system: SystemSnapshot, options: SystemCallOptions, Boot: object): Promise<void> {
  const write = { priority: 'boot', ...options } as const;
  try {
    await bmc.patch(system.uri, { Boot }, { ...write, ifMatch: system.etag });
  } catch (error) {
    const pending = isRejected(error) ? await readPending(bmc, system, options) : undefined;
    if (pending === undefined) throw error;
    await bmc.patch(pending.uri, { Boot }, { ...write, ifMatch: pending.etag });
  }
}

async function readPending(bmc: Bmc, { uri, value }: SystemSnapshot, options: SystemCallOptions) {
  const settings = value['@Redfish.Settings'].SettingsObject;
  if (settings === undefined || settings === uri) return undefined;
  return { uri: settings, ...(await bmc.read(settings, pendingSystem, { priority: 'boot', ...options })) };
}

const beginsWith = (order: readonly string[], devices: readonly string[]): boolean =>
  devices.every((device, index) => order[index] === device);

/** The BMC understood the request and rejects it for this resource, not for missing rights or overload. */
function isRejected(error: unknown): boolean {
  return error instanceof RedfishError && ['HttpError', 'NotSupported', 'NotFound'].includes(error.code);
}
