import type { Bmc } from '../http/bmc.ts';
import { RedfishError, wasNotApplied } from '../errors.ts';
import { pendingSystem, type SystemResource } from '../schemas.ts';
import { readSystemResource, type SystemCallOptions } from './systems.ts';

export type NetworkTarget = 'Pxe' | 'UefiHttp';

export interface NetworkBoot {
  readonly target: NetworkTarget;
  /** Of targets before it that the BMC offers. */
  readonly rejections: readonly RedfishError[];
}

/**
 * Boots from the network once, at the next start: from the first of these targets that the BMC offers and takes. Where
 * firmware finds what it boots over HTTP, DHCP tells it; an address that somebody left in the BMC would go before that.
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
    // An answer may get lost, or be an error although the BMC did it: what it says afterwards counts.
    if (!(error instanceof RedfishError) || wasNotApplied(error)) throw error;
    const now: Record<string, unknown> = { ...(await readSnapshot(bmc, system.uri, options)).value.Boot };
    if (Object.entries(desired).some(([name, value]) => (now[name] ?? '') !== value)) throw error;
  }
}

/** Boots from the disk once, at the next start, whatever the persistent order says. */
export async function bootFromDiskOnce(bmc: Bmc, uri: string, options: SystemCallOptions = {}): Promise<void> {
  const system = await readSnapshot(bmc, uri, options);
  if (!isOffered(system, 'Hdd')) throw notOffered(system, ['Hdd']);
  await patchBoot(bmc, system, options, { BootSourceOverrideEnabled: 'Once', BootSourceOverrideTarget: 'Hdd' });
}

/** Some services refuse a change of the override that names no target. */
const noOverride = { BootSourceOverrideEnabled: 'Disabled', BootSourceOverrideTarget: 'None' } as const;
/** Where an override would lead; they stay behind when it is over, and the next one may follow them. */
const destinations = ['HttpBootUri', 'UefiTargetBootSourceOverride', 'BootNext'] as const;

/**
 * Takes back an override that was not used, and the destination of an earlier one. A BMC that does not give up a
 * destination keeps it: without an override nothing leads there.
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
 * Sets the persistent boot order. Devices the BMC has besides keep their place behind; an order that already begins as
 * wanted, or will at the next start (pending), is left alone. A one-time override is never touched.
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

/** A BMC that does not say what it offers is asked. */
const isOffered = (system: SystemSnapshot, target: string): boolean =>
  offeredBy(system).length === 0 || offeredBy(system).includes(target);

const notOffered = (system: SystemSnapshot, targets: readonly string[]): RedfishError =>
  new RedfishError({
    code: 'NotSupported',
    message: `${system.uri} cannot boot once from ${targets.join(' or ')}; it offers ${offeredBy(system).join(', ')}`,
  });

/** Newer BMCs (iDRAC 10) take boot changes only on the settings object that the system names. */
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

/** The BMC understood the request and does not take it here; rights and overload are another matter. */
function isRejected(error: unknown): boolean {
  return error instanceof RedfishError && ['HttpError', 'NotSupported', 'NotFound'].includes(error.code);
}
