import type { ServerBootConfiguration } from '../v1alpha1/server-boot-configuration.ts';
import { cleanupAttemptAnnotation, deploymentAnnotation, internalBootType, typeAnnotation } from './contract.ts';

/** Whether the operator made the boot configuration for a discovery, a cleanup or a deployment, not for a claim. */
export const isInternalBoot = ({ metadata }: ServerBootConfiguration): boolean =>
  metadata.annotations?.[typeAnnotation] === internalBootType;

/** Whether it boots the agent that erases disks or, in mode None, reports the start. */
export const isCleanupBoot = (boot: ServerBootConfiguration): boolean =>
  isInternalBoot(boot) && boot.metadata.annotations?.[cleanupAttemptAnnotation] !== undefined;

/** UID of the boot configuration whose disk image the agent of this boot writes; undefined for any other boot. */
export const deploymentOf = (boot: ServerBootConfiguration): string | undefined =>
  isInternalBoot(boot) ? boot.metadata.annotations?.[deploymentAnnotation] : undefined;

/** Whether it boots the probe for a hardware inventory. The other boots of the operator use the same image. */
export const isDiscoveryBoot = (boot: ServerBootConfiguration): boolean =>
  isInternalBoot(boot) && !isCleanupBoot(boot) && deploymentOf(boot) === undefined;
