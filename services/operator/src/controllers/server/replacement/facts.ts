import type { Server } from '@metal/api/v1alpha1/server.ts';
import { acceptSystemUuidAnnotation } from '@metal/api/wire/contract.ts';

/**
 * none: nothing was confirmed. requested: a person confirmed the UUID of a new mainboard. accepted: the Server has it, and its
 * hardware is to be read anew.
 */
export type ReplacementFacts = 'none' | 'requested' | 'accepted';

export function replacementOf({ metadata, spec }: Pick<Server, 'metadata' | 'spec'>): ReplacementFacts {
  const uuid = metadata.annotations?.[acceptSystemUuidAnnotation];
  if (uuid === undefined) return 'none';
  return uuid.toLowerCase() === spec.systemUUID.toLowerCase() ? 'accepted' : 'requested';
}
