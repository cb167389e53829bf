import { lookup } from 'node:dns/promises';
import type { BmcCredentials } from '../../provisioner/back-end.ts';
import { Password } from '@metal/redfish/http/password.ts';
import type { IronicPass } from '../ironic-pass.ts';
import type { IronicNode } from '../node/ironic-node.ts';
import { ramdiskKeys } from './ramdisk-info.ts';

type Info = Readonly<Record<string, unknown>>;

/** Members of `driver_info` that the access to the BMC does not determine. */
const otherKeys: readonly string[] = [...ramdiskKeys, 'force_persistent_boot_device'];

/** Member of `extra`: the version of the credentials in `driver_info`, which Ironic masks. */
export const credentialsMark = 'metal3_credentials';
export const markOf = ({ secretName, version }: BmcCredentials): string => `${secretName}@${version}`;

/** Access to the BMC as Ironic needs it. It has the password: never log it. */
export async function driverInfoOf({ access, address, options }: IronicPass): Promise<Info> {
  const { username = '', password = '' } = access.credentials ?? {};
  const verifiesCertificate = access.host.spec.bmc?.disableCertificateVerification !== true;
  const { externalUrlV6 } = options;
  return {
    ...address.infoOf({ username, password: new Password(password), verifiesCertificate }),
    ...(externalUrlV6 !== undefined && (await isIpv6(address.host)) ? { external_http_url: externalUrlV6 } : {}),
  };
}

/** An address that does not resolve here has none. */
const isIpv6 = async (host: string): Promise<boolean> => (await lookup(host).catch(() => undefined))?.family === 6;

/** Passwords are masked in what Ironic returns: their version decides. */
export function isOutdated({ access }: IronicPass, node: IronicNode, wanted: Info): boolean {
  const { credentials } = access;
  if (credentials !== undefined && node.extra[credentialsMark] !== markOf(credentials)) return true;
  const visible = Object.keys({ ...wanted, ...verificationOf(node.driver_info) }).filter(
    (key) => !/password/.test(key),
  );
  return visible.some((key) => node.driver_info[key] !== wanted[key]);
}

const verificationOf = (info: Info): Info =>
  Object.fromEntries(Object.entries(info).filter(([key]) => key.endsWith('_verify_ca')));

/** Replaces the access to the BMC, and keeps what does not belong to it. */
export const renewed = (present: Info, wanted: Info): Info => ({
  ...Object.fromEntries(Object.entries(present).filter(([key]) => otherKeys.includes(key))),
  ...wanted,
});
