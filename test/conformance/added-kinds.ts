/** Kinds that v0.7.0 does not have, by name. */
export const addedKinds: readonly string[] = [
  'BIOSAttributeRegistry',
  'ErasureReport',
  'FirmwareVersion',
  'FirmwareVersionSet',
  'MACAddressIndex',
  'ServerInventory',
];
