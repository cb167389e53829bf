import type { AdmissionCheck } from '@metal/kube/kinds/admission.ts';
import { addressSchemes, bmcSchemes, schemesWith } from '../bmc-drivers.ts';
import { listOf } from './cel-text.ts';

const scheme = '[A-Za-z][A-Za-z0-9+.-]*';
const label = '[0-9A-Za-z]([0-9A-Za-z-]{0,61}[0-9A-Za-z])?';
const host = String.raw`(\[[0-9A-Fa-f:.]+\]|${label}(\.${label})*)`;
/** Scheme, optional user, host, optional port, and the rest. */
const wellFormed = String.raw`^${scheme}://([^/?#@]*@)?${host}(:[0-9]{0,5})?([/?#].*)?$`;

const ipv6 = `variables.bmcUrl.find(r'^[^/]*//[^/?#]*').find(r'\\[[^\\]]*\\]')`;

/**
 * The address in CEL. `bmcUrl` is the address with its scheme: a bare host, with or without a port, is one of IPMI; in
 * `scheme:host` the slashes may be missing. The parser of the controller is exact in addition about escapes and ports.
 */
export const bmcAddressVariables = {
  bmcAddress: `has(object.spec.bmc) ? object.spec.bmc.address : ''`,
  bmcUrl:
    `variables.bmcAddress.matches(r'^${scheme}://') ? variables.bmcAddress : ` +
    `variables.bmcAddress.matches(r'^${scheme}:') ? variables.bmcAddress.replace(':', '://', 1) : ` +
    `'ipmi://' + variables.bmcAddress`,
  isBmcUrl:
    `variables.bmcUrl.matches(r'${wellFormed}') && (${ipv6} == '' || isIP(${ipv6}.replace('[', '').replace(']', ''))) && ` +
    `(!variables.bmcAddress.startsWith('[') || variables.bmcAddress.matches(r'^\\[[^\\]]*\\]:[0-9]+$'))`,
  bmcScheme: `variables.isBmcUrl ? variables.bmcUrl.split('://')[0].lowerAscii() : ''`,
  /** The scheme without +http; empty without an address, and for unknown schemes. */
  bmcFamily: `variables.bmcScheme in ${listOf(addressSchemes)} ? variables.bmcScheme.split('+')[0] : ''`,
};

/** CEL: there is a valid address, and its driver has none of this. */
export const lacks = (families: readonly string[]): string =>
  `(variables.bmcFamily != '' && !(variables.bmcFamily in ${listOf(families)}))`;

export const isSecureBootDriver = schemesWith(({ hasSecureBoot }) => hasSecureBoot);
export const isRaidDriver = schemesWith(({ interfaces }) => interfaces.raid !== 'no-raid');
export const isFastDriver = schemesWith(({ fastInspect }) => fastInspect !== undefined);
export const isMacDriver = schemesWith(({ needsMac }) => needsMac);

export const bmcAddressChecks: readonly AdmissionCheck[] = [
  {
    holds: `variables.bmcAddress == '' || variables.isBmcUrl`,
    message: `'spec.bmc.address: expected an address such as redfish-virtualmedia://192.0.2.7/redfish/v1/Systems/1 or ipmi://[2001:db8::7]:623, found "' + variables.bmcAddress + '"'`,
  },
  {
    holds: `!variables.isBmcUrl || variables.bmcAddress == '' || variables.bmcFamily != ''`,
    message: `'spec.bmc.address: unknown type "' + variables.bmcScheme + '" of BMC in "' + variables.bmcAddress + '": expected one of ${bmcSchemes.join(', ')}, those of Redfish also with +http or +https; a host name with a port needs a type, for example ipmi://'`,
  },
];
