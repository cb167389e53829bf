import type { ServerBootConfiguration } from '../v1alpha1/server-boot-configuration.ts';
import { cleanupAttemptAnnotation, internalBootType, typeAnnotation } from './contract.ts';

/** The operator made it for itself, for a discovery or a cleanup, and not for a claim. */
export const isInternalBoot = ({ metadata }: ServerBootConfiguration): boolean =>
  metadata.annotations?.[typeAnnotation] === internalBootType;

/** It boots the probe, to learn what the machine is made of. A cleanup boots the same image to erase. */
export const isDiscoveryBoot = (boot: ServerBootConfiguration): boolean =>
  isInternalBoot(boot) && boot.metadata.annotations?.[cleanupAttemptAnnotation] === undefined;

/** It boots the agent that erases disks, or tells that the machine has started. */
export const isCleanupBoot = (boot: ServerBootConfiguration): boolean => isInternalBoot(boot) && !isDiscoveryBoot(boot);
