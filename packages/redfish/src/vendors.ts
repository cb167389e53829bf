/** Vendors whose BMCs leave the standard somewhere. */
export type Vendor = 'Dell' | 'HPE' | 'Lenovo' | 'Supermicro';

/** Names without case, punctuation and legal form. */
const vendors: ReadonlyMap<string, Vendor> = new Map([
  ['dell', 'Dell'],
  ['dellemc', 'Dell'],
  ['delltechnologies', 'Dell'],
  ['hpe', 'HPE'],
  ['hp', 'HPE'],
  ['hewlettpackard', 'HPE'],
  ['hewlettpackardenterprise', 'HPE'],
  ['lenovo', 'Lenovo'],
  ['supermicro', 'Supermicro'],
  ['supermicrocomputer', 'Supermicro'],
]);

const legalForms: ReadonlySet<string> = new Set([
  'inc',
  'incorporated',
  'corp',
  'corporation',
  'co',
  'company',
  'ltd',
  'limited',
  'llc',
  'lp',
  'group',
]);

/**
 * The vendor by Manufacturer of Redfish, which differs between models and firmware of one vendor. Undefined for any other one; a
 * longer name that only begins alike is another one.
 */
export function vendorOf(manufacturer: string | undefined): Vendor | undefined {
  const words = (manufacturer ?? '').toLowerCase().match(/[a-z0-9]+/g) ?? [];
  const end = words.findLastIndex((word) => !legalForms.has(word));
  return vendors.get(words.slice(0, end + 1).join(''));
}
