import { isIpmi } from '@metal/api/metal3/bmc-drivers.ts';
import type { Password } from '@metal/redfish/http/password.ts';
import { type BmcAddress, hostInUrl } from './parse-bmc-address.ts';

/** Access of Ironic to a BMC: the `driver_info` of a node. It has the password: never log it. */
export type DriverInfo = Readonly<Record<string, string | boolean>>;

export interface BmcLogin {
  readonly username: string;
  readonly password: Password;
  readonly verifiesCertificate: boolean;
}

export const driverInfo = (address: BmcAddress, login: BmcLogin): DriverInfo =>
  isIpmi(address.scheme) ? ipmiInfo(address, login) : redfishInfo(address, login);

/** The key of the address, which Ironic does not mask: a difference means that the rest has to be sent again. */
export const addressKey = ({ scheme }: BmcAddress): string => (isIpmi(scheme) ? 'ipmi_address' : 'redfish_address');

function ipmiInfo({ host, port, query }: BmcAddress, login: BmcLogin): DriverInfo {
  return {
    ipmi_address: host,
    ipmi_port: port === '' ? '623' : port,
    ipmi_username: login.username,
    ipmi_password: login.password.reveal(),
    ipmi_priv_level: new URLSearchParams(query).get('privilegelevel') ?? 'ADMINISTRATOR',
    ...(login.verifiesCertificate ? {} : { ipmi_verify_ca: false }),
  };
}

function redfishInfo(address: BmcAddress, login: BmcLogin): DriverInfo {
  const { scheme, transport, port, path } = address;
  // Without one, Ironic takes the only system of the BMC.
  const hasSystem = !['', 'redfish/v1'].includes(path.replace(/^\/+|\/+$/g, ''));
  return {
    redfish_address: `${transport}://${hostInUrl(address)}${port === '' ? '' : `:${port}`}`,
    redfish_username: login.username,
    redfish_password: login.password.reveal(),
    ...(hasSystem || scheme === 'redfish-uefihttp' ? { redfish_system_id: path } : {}),
    ...(login.verifiesCertificate ? {} : { redfish_verify_ca: false }),
  };
}
