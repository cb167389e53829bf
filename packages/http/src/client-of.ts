/** An IPv4 address as people write it, also where a dual-stack socket reports it as IPv6. */
export const plainAddress = (address: string): string => address.replace(/^::ffff:(?=\d+\.)/, '');

/** The key of a client: an IPv4 address, or the /64 of an IPv6 address, as a client chooses the rest of it. */
export function clientOf(address: string): string {
  const bare = plainAddress(address).replace(/%.*$/, '');
  return bare.includes(':') ? groupsOf(bare).slice(0, 4).join(':') : bare;
}

/** All eight groups of an IPv6 address: `::` replaces groups of zeros. */
function groupsOf(address: string): string[] {
  const [head = [], tail = []] = address.split('::').map((part) => part.split(':').filter((group) => group !== ''));
  return [...head, ...Array<string>(Math.max(0, 8 - head.length - tail.length)).fill('0'), ...tail];
}
