import type { Server } from '@metal/api/v1alpha1/server.ts';
import type { ErasureMode, SettingReset } from '@metal/api/wire/erasure.ts';
import type { OperatorContext } from '../../context.ts';

/** What a cleanup does. */
export interface CleanupPolicy {
  readonly disks: ErasureMode;
  readonly bios: SettingReset;
  readonly bootOrder: SettingReset;
}

/** What the server asks for, or else the site, at this moment. */
export const policyOf = ({ spec }: Server, { config }: Pick<OperatorContext, 'config'>): CleanupPolicy => ({
  disks: spec.cleanup?.disks ?? config.cleanupDisks,
  bios: spec.cleanup?.bios ?? config.cleanupBios,
  bootOrder: spec.cleanup?.bootOrder ?? config.cleanupBootOrder,
});

export const requestsNothing = ({ disks, bios, bootOrder }: CleanupPolicy): boolean =>
  disks === 'None' && bios === 'None' && bootOrder === 'None';

/** Disks are erased from within; and a BIOS is reset while the machine starts, which one that started can tell. */
export const needsBoot = ({ disks, bios }: CleanupPolicy): boolean => disks !== 'None' || bios !== 'None';

export const policyText = ({ disks, bios, bootOrder }: CleanupPolicy): string =>
  `disks ${disks}, BIOS ${bios}, boot order ${bootOrder}`;
