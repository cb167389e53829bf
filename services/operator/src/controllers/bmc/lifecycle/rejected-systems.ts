import type { Server } from '@metal/api/v1alpha1/server.ts';
import type { SystemSummary } from '@metal/redfish/resources/systems.ts';

export interface RejectedSystem {
  readonly reason: 'SystemWithoutUUID' | 'DuplicateSystemUUID' | 'SystemIdentityChanged' | 'TooManySystems';
  readonly message: string;
}

const mostMessages = 3;

/** One reason and a message that fits into a condition for all rejected systems. */
export function summaryOf([first, ...others]: readonly RejectedSystem[]): RejectedSystem | undefined {
  if (first === undefined) return undefined;
  const messages = [first, ...others.slice(0, mostMessages - 1)].map(({ message }) => message).join('. ');
  const left = others.length + 1 - mostMessages;
  return { reason: first.reason, message: left > 0 ? `${messages}. And ${left} more` : messages };
}

export const tooMany = (count: number, most: number): RejectedSystem => ({
  reason: 'TooManySystems',
  message: `it reports ${count} systems, at most ${most} per BMC are expected; no new Server is made. If they are real, raise --max-systems-per-bmc`,
});

export const withoutUuid = (uri: string): RejectedSystem => ({
  reason: 'SystemWithoutUUID',
  message: `${uri} reports neither a UUID nor anything that one could be derived from; set UUID or serial number in its firmware, they are what tells machines apart`,
});

export function identityChanged({ uri, uuidDerivedFrom }: SystemSummary, uuid: string, before: Server): RejectedSystem {
  const now = uuidDerivedFrom === undefined ? `now reports UUID ${uuid}` : 'no longer reports a UUID';
  return {
    reason: 'SystemIdentityChanged',
    message: `${uri} ${now}, and its Server ${before.metadata.name} has ${before.spec.systemUUID}; no second Server is made while that one stands. If the board was exchanged, or the machine goes by this UUID for good, delete the Server when it is free`,
  };
}

export const duplicateWithinBmc = (uri: string, uuid: string, otherUri: string): RejectedSystem => ({
  reason: 'DuplicateSystemUUID',
  message: `${uri} has UUID ${uuid}, and so has ${otherUri} behind the same BMC; correct the firmware, two machines must not share a UUID`,
});

export interface Duplicate {
  /** Other BMCs that report the UUID. */
  readonly others: readonly string[];
  readonly known: Server | undefined;
  readonly isCreatedHere: boolean;
}

export function duplicate(uri: string, uuid: string, { others, known, isCreatedHere }: Duplicate): RejectedSystem {
  const without = isCreatedHere ? 'this BMC object is the oldest and gets its Server' : 'no Server is made for it';
  const holder = known === undefined ? without : `Server ${known.metadata.name} keeps it`;
  const systemReporters = others.length === 0 ? 'a Server of another BMC' : `BMC ${others.join(', ')}`;
  return {
    reason: 'DuplicateSystemUUID',
    message: `${uri} has UUID ${uuid}, and so has ${systemReporters}; ${holder}. Two machines must not share a UUID, and one machine needs only one BMC object: correct the firmware or delete the surplus BMC`,
  };
}
