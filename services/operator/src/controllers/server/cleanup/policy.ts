import type { Server } from '@metal/api/v1alpha1/server.ts';
import type { ErasureMode, SettingReset } from '@metal/api/wire/erasure.ts';
import type { OperatorContext } from '../../context.ts';

/** The parts of a cleanup. */
export interface CleanupPolicy {
  readonly disks: ErasureMode;
  readonly bios: SettingReset;
  readonly bootOrder: SettingReset;
}

/** From the spec of the server, or else from the options of the operator. */
export const policyOf = ({ spec }: Server, { config }: Pick<OperatorContext, 'config'>): CleanupPolicy => ({
  disks: spec.cleanup?.disks ?? config.cleanupDisks,
  bios: spec.cleanup?.bios ?? config.cleanupBios,
  bootOrder: spec.cleanup?.bootOrder ?? config.cleanupBootOrder,
});

export const requestsNothing = ({ disks, bios, bootOrder }: CleanupPolicy): boolean =>
  disks === 'None' && bios === 'None' && bootOrder === 'None';

/** The probe erases disks on the machine. A BIOS reset takes effect at a start, which the probe reports. */
export const needsBoot = ({ disks, bios }: CleanupPolicy): boolean => disks !== 'None' || bios !== 'None';

export const policyText = ({ disks, bios, bootOrder }: CleanupPolicy): string =>
  `disks ${disks}, BIOS ${bios}, boot order ${bootOrder}`;
