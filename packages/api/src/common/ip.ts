import { rule } from '@metal/kube/cel.ts';
import * as z from 'zod';

/**
 * What Go's netip.ParseAddr reads: IPv4, IPv6, IPv6 with a zone, IPv4 mapped into IPv6. CEL's isIP knows neither zones
 * nor mapped addresses, so the zone is cut off and the mapping prefix is replaced by one that isIP takes.
 */
const isAddress = "isIP(self.split('%', 2)[0].lowerAscii().replace('ffff:', 'fffe:'))";
const zoneOnlyAfterIpv6 = "(!self.contains('%') || self.matches('^[^%]*:[^%]*%.+$'))";

/** An IPv4 or IPv6 address, without prefix length and without port. */
export const ip = rule(z.string(), `${isAddress} && ${zoneOnlyAfterIpv6}`, 'must be an IPv4 or IPv6 address');
