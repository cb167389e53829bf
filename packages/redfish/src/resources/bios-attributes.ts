import * as z from 'zod';
import type { Bmc, CallOptions } from '../http/bmc.ts';
import { pathOf } from '../endpoint.ts';
import { RedfishError } from '../errors.ts';
import { bios as biosResource } from '../schemas.ts';
import { attributesIn } from './attribute-registry.ts';
import type { AttributeChange, ObservedAttributes } from './attributes.ts';
import { readRegistry } from './registries.ts';
import {
  type AttributeHolder,
  type SettingsObject,
  patchAttributes,
  pendingOf,
  readSettingsObject,
} from './settings-object.ts';
import { readSystemResource, type SystemCallOptions } from './systems.ts';

/**
 * The BIOS attributes of a system, those that wait for its next start, their registry, and the version of the BIOS. Three requests, and three more when
 * the registry is read for the first time with this `Bmc`.
 * @throws RedfishError NotSupported for a system without a BIOS resource.
 */
export async function readBiosAttributes(
  bmc: Bmc,
  systemUri: string,
  options: SystemCallOptions = {},
): Promise<ObservedBios> {
  const { observed } = await observe(bmc, systemUri, options);
  return observed;
}

type ObservedBios = ObservedAttributes & { readonly biosVersion: string | undefined };

async function observe(bmc: Bmc, systemUri: string, options: SystemCallOptions) {
  const holder = await readBios(bmc, systemUri, options);
  const settings = await readSettingsObject(bmc, holder, options);
  const registry = await readRegistry(bmc, holder.registry, options);
  const observed: ObservedBios = {
    current: holder.current,
    pending: pendingOf(holder.current, settings, registry),
    registry,
    isResetPending: holder.isResetPending || settings?.isResetPending === true,
    biosVersion: holder.registry.firmware,
  };
  return { observed, holder, settings };
}

/**
 * Sets attributes for the next start of the system: those that `changesOf` finds with the present values. Nothing is sent for
 * another machine than the expected one.
 * @returns false if there are none, and nothing was sent
 * @throws RedfishError NotSupported for a system without a BIOS resource.
 */
export async function writeBiosAttributes(
  bmc: Bmc,
  systemUri: string,
  changesOf: (observed: ObservedBios) => readonly AttributeChange[],
  options: SystemCallOptions = {},
): Promise<boolean> {
  const call = { priority: 'boot', ...options } as const;
  const { observed, holder, settings } = await observe(bmc, systemUri, call);
  const changes = changesOf(observed);
  if (changes.length === 0) return false;
  await patchAttributes(bmc, { holder, settings }, changes, 'OnReset', call);
  return true;
}

/**
 * Withdraws the values that wait for the next start: by the action of the vendor, by deleting the settings object, or by
 * setting the current values again.
 * @throws RedfishError NotSupported when values still wait afterwards, and while a reset to the defaults waits.
 */
export async function clearPendingBiosAttributes(
  bmc: Bmc,
  systemUri: string,
  options: SystemCallOptions = {},
): Promise<void> {
  const call = { priority: 'boot', ...options } as const;
  const bios = await readBios(bmc, systemUri, call);
  const settings = await readSettingsObject(bmc, bios, call);
  if (bios.isResetPending || settings?.isResetPending === true)
    throw stillPending(systemUri, 'a reset to the defaults');
  const isCleared = (found: SettingsObject | undefined) =>
    Object.keys(pendingOf(bios.current, found, undefined)).length === 0;
  if (settings === undefined || isCleared(settings)) return;
  let rejection = 'the BMC does not withdraw them; they';
  for (const clear of waysToClear(bios, settings)) {
    try {
      await clear(bmc, call);
    } catch (error) {
      if (!isRejected(error)) throw error;
      rejection = `${error.message}; they`;
    }
    if (isCleared(await readSettingsObject(bmc, bios, call))) return;
  }
  throw stillPending(systemUri, rejection);
}

type Clear = (bmc: Bmc, call: CallOptions) => Promise<unknown>;

function waysToClear(bios: BiosHolder, settings: SettingsObject): readonly Clear[] {
  const action = clearActionIn(settings.actions) ?? clearActionIn({ Oem: bios.oemActions });
  if (action !== undefined) return [(bmc, call) => bmc.post(action, {}, call)];
  const waiting = Object.keys(pendingOf(bios.current, settings, undefined));
  const restored = waiting.flatMap((name) => {
    const to = bios.current[name];
    return to === undefined || to === null ? [] : [{ name, to }];
  });
  const writeBack: Clear = async (bmc, call) => {
    const present = await readSettingsObject(bmc, bios, call);
    await patchAttributes(bmc, { holder: bios, settings: present }, restored, 'OnReset', call);
  };
  return [(bmc, call) => bmc.delete(settings.path, call), ...(restored.length < waiting.length ? [] : [writeBack])];
}

const target = z.object({ target: z.string().min(1) });

/** iDRAC: an action below Actions.Oem, of the settings object or in older releases of the Bios. */
function clearActionIn(actions: unknown): string | undefined {
  if (typeof actions !== 'object' || actions === null) return undefined;
  for (const [name, value] of Object.entries(actions)) {
    const found = name.endsWith('.ClearPending') ? target.safeParse(value).data : undefined;
    if (found !== undefined) return pathOf(found.target);
  }
  return 'Oem' in actions ? clearActionIn(actions.Oem) : undefined;
}

interface BiosHolder extends AttributeHolder {
  readonly isResetPending: boolean;
  readonly oemActions: unknown;
  readonly registry: Parameters<typeof readRegistry>[1];
}

async function readBios(bmc: Bmc, systemUri: string, options: SystemCallOptions): Promise<BiosHolder> {
  const { value: system } = await readSystemResource(bmc, systemUri, options);
  const { Bios: path, BiosVersion: firmware } = system;
  if (path === undefined)
    throw new RedfishError({
      code: 'NotSupported',
      message: `${systemUri} has no BIOS resource, so no BIOS attributes`,
    });
  const { value: bios, etag } = await bmc.read(path, biosResource, options);
  const current = attributesIn(bios.Attributes, path);
  if (Object.keys(current).length === 0)
    throw new RedfishError({
      code: 'BadAnswer',
      message: `${path} has no attributes: the BMC does not support them, or reads them at the next start of the machine`,
    });
  return {
    path,
    etag,
    current,
    settings: bios['@Redfish.Settings'],
    isResetPending: bios.ResetBiosToDefaultsPending === true,
    oemActions: bios.Actions.Oem,
    registry: { id: bios.AttributeRegistry, kinds: ['BiosAttributeRegistry'], firmware },
  };
}

/** The BMC understood the request and does not carry it out. */
const isRejected = (error: unknown): error is RedfishError =>
  error instanceof RedfishError && ['HttpError', 'NotSupported', 'NotFound'].includes(error.code);

const stillPending = (uri: string, what: string): RedfishError =>
  new RedfishError({
    code: 'NotSupported',
    message: `${uri}: pending BIOS settings cannot be withdrawn: ${what} wait for the next start of the machine`,
  });
