import { rule } from '@metal/kube/cel.ts';
import * as z from 'zod';

/** Six octets separated by `:` or `-`, any letter case. */
export const macAddressPattern = '^([0-9A-Fa-f]{2}[:-]){5}([0-9A-Fa-f]{2})$';

/** A MAC address as people give it. Empty is the same as absent, for the sake of templates that fill in nothing. */
export const macAddress = rule(
  z.string(),
  `self == '' || self.matches('${macAddressPattern}')`,
  'must be a MAC address: six octets in hexadecimal, separated by : or -',
);

/** One spelling for comparisons: lower case, colons. */
export const canonicalMac = (text: string): string => text.toLowerCase().replaceAll('-', ':');
