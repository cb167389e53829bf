import type { ServerBootConfiguration } from '@metal/api/v1alpha1/server-boot-configuration.ts';
import { cleanupAttemptAnnotation, internalBootType, typeAnnotation } from '@metal/api/wire/contract.ts';

/** The operator boots the probe with it, to learn what the machine is made of. A cleanup boots the same image to erase. */
export function isDiscovery({ metadata: { annotations } }: ServerBootConfiguration): boolean {
  return annotations?.[typeAnnotation] === internalBootType && annotations[cleanupAttemptAnnotation] === undefined;
}
