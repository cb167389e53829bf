import type { Bmc, CallOptions, WriteOptions } from './bmc.ts';
import { RedfishError } from './errors.ts';
import { system, type SystemResource } from './schemas.ts';

export interface NetworkBoot {
  readonly target: 'Pxe' | 'UefiHttp';
  /** For UefiHttp, where the BMC is told the URL instead of DHCP. */
  readonly httpBootUri?: string;
}

/** Boots from the network once, at the next start. */
export async function networkBootOnce(
  bmc: Bmc,
  uri: string,
  { target, httpBootUri }: NetworkBoot,
  options: CallOptions = {},
): Promise<void> {
  const { value, etag } = await bmc.read(uri, system, { ...options, priority: 'boot' });
  bmc.learnManufacturer(value.Manufacturer);
  const allowed = value.Boot?.['BootSourceOverrideTarget@Redfish.AllowableValues'];
  if (allowed !== undefined && allowed.length > 0 && !allowed.includes(target)) {
    throw new RedfishError({
      code: 'NotSupported',
      message: `${uri} cannot boot once by ${target}; it offers ${allowed.join(', ')}`,
    });
  }
  const Boot = {
    BootSourceOverrideEnabled: 'Once',
    BootSourceOverrideTarget: target,
    ...bmc.traits.overrideMode(value.Boot ?? emptyBoot),
    ...(httpBootUri === undefined ? {} : { HttpBootUri: httpBootUri }),
  };
  await patchBoot(bmc, uri, value, { Boot }, { ...options, priority: 'boot', ifMatch: etag });
}

/** Takes back a one-time override that was not used. */
export async function clearBootOverride(bmc: Bmc, uri: string, options: CallOptions = {}): Promise<void> {
  const { value, etag } = await bmc.read(uri, system, { ...options, priority: 'boot' });
  if (value.Boot?.BootSourceOverrideEnabled === 'Disabled') return;
  await patchBoot(
    bmc,
    uri,
    value,
    { Boot: { BootSourceOverrideEnabled: 'Disabled' } },
    { ...options, priority: 'boot', ifMatch: etag },
  );
}

/**
 * Sets the persistent boot order. Devices the BMC has besides keep their place behind; an order that already begins as
 * wanted is left alone, and a pending one-time override is never touched.
 */
export async function setBootOrder(
  bmc: Bmc,
  uri: string,
  devices: readonly string[],
  options: CallOptions = {},
): Promise<void> {
  const { value, etag } = await bmc.read(uri, system, { ...options, priority: 'boot' });
  const current = value.Boot?.BootOrder ?? [];
  if (devices.every((device, index) => current[index] === device)) return;
  const BootOrder = [...devices, ...current.filter((device) => !devices.includes(device))];
  await patchBoot(bmc, uri, value, { Boot: { BootOrder } }, { ...options, priority: 'boot', ifMatch: etag });
}

const emptyBoot = {
  BootSourceOverrideEnabled: undefined,
  BootSourceOverrideTarget: undefined,
  BootSourceOverrideMode: undefined,
  'BootSourceOverrideTarget@Redfish.AllowableValues': undefined,
  HttpBootUri: undefined,
  BootOrder: undefined,
};

/** Newer BMCs (iDRAC 10) take boot changes only on the settings object that the system names. */
async function patchBoot(
  bmc: Bmc,
  uri: string,
  resource: SystemResource,
  body: object,
  options: WriteOptions,
): Promise<void> {
  const settings = resource['@Redfish.Settings']?.SettingsObject?.['@odata.id'];
  try {
    await bmc.patch(uri, body, options);
  } catch (error) {
    const refused =
      error instanceof RedfishError &&
      error.status !== undefined &&
      error.status >= 400 &&
      error.status < 500 &&
      error.status !== 401;
    if (!refused || settings === undefined || settings === uri) throw error;
    await bmc.patch(settings, body, {
      ...options,
      ifMatch: (await bmc.read(settings, system.partial(), options)).etag,
    });
  }
}
