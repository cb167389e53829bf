import type { BMCSecret } from '@metal/api/v1alpha1/bmc-secret.ts';
import type { BMCUser } from '@metal/api/v1alpha1/bmc-user.ts';
import { Password } from '@metal/redfish/http/bmc.ts';
import type { Credentials } from '@metal/redfish/http/password.ts';
import { missingKeyOf, secretValue, versionOf } from '../../bmc-connections/credentials.ts';
import type { BmcUserReason } from './reasons.ts';
import type { Cache } from '@metal/kube/cache/store.ts';

/** The BMCSecret of a BMCUser. */
export interface NamedSecret {
  readonly name: string;
  readonly uid: string;
  /** Changes whenever the password may have changed. */
  readonly version: string;
  readonly missingKey: string | undefined;
  readonly credentials: Credentials;
}

export function namedSecretOf({ spec }: BMCUser, secrets: Cache<BMCSecret>): NamedSecret | undefined {
  const secret = secrets.get(spec.bmcSecretRef?.name ?? '');
  if (secret === undefined) return undefined;
  const { name, uid = '' } = secret.metadata;
  return {
    name,
    uid,
    version: versionOf(secret),
    missingKey: missingKeyOf(secret),
    credentials: {
      username: secretValue(secret, 'username') ?? '',
      password: new Password(secretValue(secret, 'password') ?? ''),
    },
  };
}

export function blockerInSecret({ spec }: BMCUser, secret: NamedSecret | undefined): Blocker | undefined {
  const name = spec.bmcSecretRef?.name ?? '';
  const orMade = 'or remove spec.bmcSecretRef to have one made';
  if (name === '') return undefined;
  if (secret === undefined)
    return { reason: 'BMCSecretNotFound', message: `BMCSecret "${name}" does not exist; create it, ${orMade}` };
  if (secret.missingKey !== undefined)
    return {
      reason: 'BMCSecretIncomplete',
      message: `BMCSecret "${name}" lacks key ${secret.missingKey}; add it, ${orMade}`,
    };
  if (secret.credentials.username !== spec.userName)
    return {
      reason: 'BMCSecretOfAnotherUser',
      message: `BMCSecret "${name}" is for user "${secret.credentials.username}" and spec.userName is "${spec.userName}"; correct one of them, ${orMade}`,
    };
  return undefined;
}

export interface Blocker {
  readonly reason: BmcUserReason;
  readonly message: string;
}
