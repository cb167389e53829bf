import type { ServerBootConfiguration } from '../v1alpha1/server-boot-configuration.ts';
import { cleanupAttemptAnnotation, internalBootType, typeAnnotation } from './contract.ts';

/** Whether the operator made the boot configuration for a discovery or a cleanup, not for a claim. */
export const isInternalBoot = ({ metadata }: ServerBootConfiguration): boolean =>
  metadata.annotations?.[typeAnnotation] === internalBootType;

/** Whether it boots the probe for a hardware inventory. A cleanup boots the same image to erase disks. */
export const isDiscoveryBoot = (boot: ServerBootConfiguration): boolean =>
  isInternalBoot(boot) && boot.metadata.annotations?.[cleanupAttemptAnnotation] === undefined;

/** Whether it boots the agent that erases disks or, in mode None, reports the start. */
export const isCleanupBoot = (boot: ServerBootConfiguration): boolean => isInternalBoot(boot) && !isDiscoveryBoot(boot);
