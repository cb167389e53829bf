import type * as z from 'zod';
import type { ethernetInterface } from '../schemas.ts';

export interface NetworkInterface {
  readonly id: string | undefined;
  readonly name: string | undefined;
  /** Lower case. */
  readonly macAddress: string | undefined;
  readonly speedMbps: number | undefined;
}

export const networkInterfaceOf = (item: z.output<typeof ethernetInterface>): NetworkInterface => ({
  id: item.Id,
  name: item.Name,
  macAddress: (item.PermanentMACAddress ?? item.MACAddress)?.toLowerCase(),
  speedMbps: item.SpeedMbps,
});
