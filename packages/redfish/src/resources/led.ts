import type { Bmc } from '../http/bmc.ts';
import { RedfishError } from '../errors.ts';
import type { SystemResource } from '../schemas.ts';
import { readSystemResource, type SystemCallOptions } from './systems.ts';

export type LocatorLight = 'Lit' | 'Blinking' | 'Off';

/**
 * Sets the locator light, by LocationIndicatorActive when the BMC has it (Redfish 2020.3) and by IndicatorLED otherwise.
 * Sends nothing when the light is already in the desired state.
 * @throws RedfishError NotSupported when the system has neither property.
 */
export async function setLocatorLed(
  bmc: Bmc,
  uri: string,
  light: LocatorLight,
  options: SystemCallOptions = {},
): Promise<'changed' | 'unchanged'> {
  const { value, etag } = await readSystemResource(bmc, uri, options);
  const change = changeFor(uri, value, light);
  if (change === undefined) return 'unchanged';
  try {
    await bmc.patch(uri, change, { ...options, ifMatch: etag });
  } catch (error) {
    // iDRAC supports Blinking and Off only, and a blinking light serves the purpose.
    const mayBlink = light === 'Lit' && 'IndicatorLED' in change && error instanceof RedfishError;
    if (!mayBlink || error.status !== 400) throw error;
    await bmc.patch(uri, { IndicatorLED: 'Blinking' }, { ...options, ifMatch: etag });
  }
  return 'changed';
}

function changeFor(uri: string, { LocationIndicatorActive, IndicatorLED }: SystemResource, light: LocatorLight) {
  if (LocationIndicatorActive !== undefined) {
    const wanted = light !== 'Off';
    return LocationIndicatorActive === wanted ? undefined : { LocationIndicatorActive: wanted };
  }
  if (IndicatorLED !== undefined) return IndicatorLED === light ? undefined : { IndicatorLED: light };
  throw new RedfishError({
    code: 'NotSupported',
    message: `${uri} has no locator light: neither LocationIndicatorActive nor IndicatorLED is reported`,
  });
}
