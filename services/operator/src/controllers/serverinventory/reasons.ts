import type { ReasonCatalogue } from '@metal/kube/controller/decide.ts';

export const inventoryReasons = {
  FirmwareReadScheduled: {
    meaning: 'Firmware and BIOS attributes are read from the BMC later, for the status of the ServerInventory.',
    remedy: 'Nothing.',
    weight: 'ok',
    actor: 'operator',
  },
  FirmwareReadDue: {
    meaning: 'Firmware and BIOS attributes are being read from the BMC.',
    remedy: 'Nothing.',
    weight: 'working',
    actor: 'operator',
  },
} as const satisfies ReasonCatalogue;

export type InventoryReason = keyof typeof inventoryReasons;
