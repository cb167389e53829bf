import type { Server } from '@metal/api/v1alpha1/server.ts';
import { acceptSystemUuidAnnotation } from '@metal/api/wire/contract.ts';
import type { SystemSummary } from '@metal/redfish/resources/systems.ts';

export interface RejectedSystem {
  readonly reason:
    | 'SystemWithoutUUID'
    | 'DuplicateSystemUUID'
    | 'SystemIdentityChanged'
    | 'AcceptedServerNotFound'
    | 'ResourcesUnreadable'
    | 'TooManySystems';
  readonly message: string;
}

/** The first of the rejected systems, and how many there are besides: one message for all of them. */
export function summaryOf([first, ...others]: readonly RejectedSystem[]): RejectedSystem | undefined {
  if (first === undefined || others.length === 0) return first;
  return { reason: first.reason, message: `${first.message} (and ${others.length} more)` };
}

export const tooMany = (count: number, most: number): RejectedSystem => ({
  reason: 'TooManySystems',
  message: `it reports ${count} systems, and at most ${most} are expected; if they are real, raise --max-systems-per-bmc`,
});

export const withoutUuid = (uri: string): RejectedSystem => ({
  reason: 'SystemWithoutUUID',
  message: `${uri} reports neither UUID nor serial number; set one of them in its firmware`,
});

/** Whether the serial number is shared decides about the UUID, and an unreadable system may have the same one. */
export const listIncomplete = ({ uri }: SystemSummary, unreadable: string): RejectedSystem => ({
  reason: 'ResourcesUnreadable',
  message: `${uri} reports no UUID and gets its Server once ${unreadable} can be read: both may have one serial number`,
});

export function identityChanged({ uri, uuidDerivedFrom }: SystemSummary, uuid: string, before: Server): RejectedSystem {
  const now = uuidDerivedFrom === undefined ? `now reports UUID ${uuid}` : 'no longer reports a UUID';
  return {
    reason: 'SystemIdentityChanged',
    message: `${uri} ${now}, and its Server ${before.metadata.name} has ${before.spec.systemUUID}; if the board was exchanged, annotate the Server with metal.ironcore.dev/accept-system-uuid=${uuid}`,
  };
}

export const acceptedServerNotFound = ({ metadata, spec }: Server): RejectedSystem => ({
  reason: 'AcceptedServerNotFound',
  message: `Server ${metadata.name} is to move to this BMC, which reports no system with UUID ${metadata.annotations?.[acceptSystemUuidAnnotation] ?? spec.systemUUID}; correct its annotations`,
});

export const duplicateWithinBmc = (system: SystemSummary, uuid: string, otherUri: string): RejectedSystem => ({
  reason: 'DuplicateSystemUUID',
  message: `${claimOf(system, uuid)}, and so has ${otherUri} behind the same BMC; correct the firmware`,
});

export interface Duplicate {
  /** Other BMCs that report the UUID. */
  readonly others: readonly string[];
  readonly known: Server | undefined;
  readonly isCreatedHere: boolean;
}

/** A machine that reports no UUID has none that could be corrected. */
const claimOf = ({ uri, uuidDerivedFrom }: SystemSummary, uuid: string): string =>
  uuidDerivedFrom === undefined
    ? `${uri} has UUID ${uuid}`
    : `${uri} has UUID ${uuid}, derived from ${uuidDerivedFrom}`;

export function duplicate(
  system: SystemSummary,
  uuid: string,
  { others, known, isCreatedHere }: Duplicate,
): RejectedSystem {
  const without = isCreatedHere ? 'this older BMC gets its Server' : 'no Server is made for it';
  const holder = known === undefined ? without : `Server ${known.metadata.name} keeps it`;
  const [other, ...more] = others;
  const systemReporters =
    other === undefined
      ? 'a Server of another BMC'
      : `BMC ${other}${more.length > 0 ? ` and ${more.length} more` : ''}`;
  const correction = system.uuidDerivedFrom === undefined ? 'correct the firmware, or ' : '';
  return {
    reason: 'DuplicateSystemUUID',
    message: `${claimOf(system, uuid)}, and so has ${systemReporters}; ${holder}; ${correction}delete the surplus BMC`,
  };
}
