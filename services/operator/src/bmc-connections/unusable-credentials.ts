import type { BMCSecret } from '@metal/api/v1alpha1/bmc-secret.ts';
import { unusableCredentialsAnnotation } from '@metal/api/wire/contract.ts';
import type { KubeObject } from '@metal/kube/kinds/kind.ts';
import { versionOf } from './credentials.ts';

/**
 * The BMC was reset to factory settings since this version of the BMCSecret: another login with it could lock an account. Any
 * change of the BMCSecret has the login tried again.
 */
export const hasUnusableCredentials = (
  { metadata }: Pick<KubeObject, 'metadata'>,
  secret: BMCSecret | undefined,
): boolean => secret !== undefined && metadata.annotations?.[unusableCredentialsAnnotation] === versionOf(secret);
