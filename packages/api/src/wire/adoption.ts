import type { Server } from '../v1alpha1/server.ts';
import type { ServerClaim } from '../v1alpha1/server-claim.ts';
import { adoptedAnnotation, operationAnnotation, operations } from './contract.ts';

/** The next claim takes the machine over as it is: only a claim that names the Server, and has nothing to boot. */
export const isAdoptionRequested = ({ metadata }: Pick<Server, 'metadata'>): boolean =>
  metadata.annotations?.[operationAnnotation] === operations.adopt;

/** UID of the claim that took the machine over as it was. */
export const adoptingClaimOf = ({ metadata }: Pick<Server, 'metadata'>): string | undefined =>
  metadata.annotations?.[adoptedAnnotation];

/** The claim took the machine over as it was, and has booted nothing on it since. */
export const isAdoptedBy = (
  server: Pick<Server, 'metadata' | 'status'>,
  { metadata }: Pick<ServerClaim, 'metadata'>,
): boolean =>
  metadata.uid !== undefined &&
  adoptingClaimOf(server) === metadata.uid &&
  server.status?.servedReprovision === undefined;

/** Nothing is written or booted for the claim: only the power follows it. */
export const hasNothingToBoot = ({ image, diskImage }: ServerClaim['spec']): boolean =>
  (image ?? '') === '' && diskImage === undefined;
