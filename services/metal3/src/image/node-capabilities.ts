import type { BootMode } from '@metal/api/metal3/bare-metal-host-status.ts';

const capabilities: Readonly<Record<BootMode, readonly string[]>> = {
  UEFI: ['boot_mode:uefi'],
  UEFISecureBoot: ['boot_mode:uefi', 'secure_boot:true'],
  legacy: ['boot_mode:bios'],
};

/** `properties.capabilities` of a node: those of others stay. */
export function nodeCapabilities(present: string, bootMode: BootMode): string {
  const others = present.split(',').filter((entry) => entry !== '' && !/^(boot_mode|secure_boot):/.test(entry.trim()));
  return [...others, ...capabilities[bootMode]].join(',');
}

/** `instance_info.capabilities`. */
export const instanceCapabilities = (bootMode: BootMode): Readonly<Record<string, string>> =>
  bootMode === 'UEFISecureBoot' ? { secure_boot: 'true' } : {};
