import type { BmcDriver } from '@metal/api/metal3/bmc-drivers.ts';
import { addressKey, type BmcLogin, driverInfo, type DriverInfo } from '../../bmc/driver-info.ts';
import { parseBmcAddress } from '../../bmc/parse-bmc-address.ts';

/** The address of a BMC in the words of Ironic. */
export interface NodeAddress {
  readonly driver: Omit<BmcDriver, 'driver'> & { readonly driver: string };
  /** Key of the address in `driver_info`. */
  readonly key: string;
  /** Name or IP address of the BMC, without brackets. */
  readonly host: string;
  infoOf(login: BmcLogin): DriverInfo;
}

export type ParsedNodeAddress = { readonly address: NodeAddress } | { readonly problem: string };
/** Other hardware types than those of BareMetalHosts are possible for tests of the back end. */
export type ParseNodeAddress = (text: string) => ParsedNodeAddress;

export const parseNodeAddress: ParseNodeAddress = (text) => {
  const parsed = parseBmcAddress(text);
  if ('problem' in parsed) return parsed;
  const { address } = parsed;
  const { driver, host } = address;
  return { address: { driver, host, key: addressKey(address), infoOf: (login) => driverInfo(address, login) } };
};
