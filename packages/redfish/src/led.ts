import type { Bmc, CallOptions } from './bmc.ts';
import { system } from './schemas.ts';

/** Sets the locator light, by the newer property where the BMC has it (Redfish 2020.3) and by IndicatorLED elsewhere. */
export async function setLocatorLed(
  bmc: Bmc,
  uri: string,
  light: 'Lit' | 'Blinking' | 'Off',
  options: CallOptions = {},
): Promise<void> {
  const { value, etag } = await bmc.read(uri, system, options);
  const body =
    value.LocationIndicatorActive === undefined
      ? { IndicatorLED: light }
      : { LocationIndicatorActive: light !== 'Off' };
  await bmc.patch(uri, body, { ...options, ifMatch: etag });
}
