import { BlockList, isIP } from 'node:net';

/** Whether a text is an IP address or a network: `192.0.2.7`, `192.0.2.0/24`, `2001:db8::/32`. */
export function isAddressOrNetwork(text: string): boolean {
  const [address = '', length, ...rest] = text.split('/');
  const version = isIP(address);
  if (version === 0 || rest.length > 0) return false;
  return length === undefined || (/^\d{1,3}$/.test(length) && Number(length) <= (version === 4 ? 32 : 128));
}

/** Whether an address equals one of these addresses or is in one of these networks. False for other text. */
export function addressMatcher(entries: readonly string[]): (address: string) => boolean {
  const members = new BlockList();
  for (const entry of entries) {
    const [address = '', length] = entry.split('/');
    const family = isIP(address) === 6 ? 'ipv6' : 'ipv4';
    if (length === undefined) members.addAddress(address, family);
    else members.addSubnet(address, Number(length), family);
  }
  return (address) => {
    const bare = unmapped(address).replace(/%.*$/, '');
    return isIP(bare) !== 0 && members.check(bare, isIP(bare) === 6 ? 'ipv6' : 'ipv4');
  };
}

/** The IPv4 address of an IPv4-mapped IPv6 address (RFC 4291, 2.5.5.2), the form that a dual-stack socket reports. */
export const unmapped = (address: string): string => address.replace(/^::ffff:(?=\d+\.)/, '');
