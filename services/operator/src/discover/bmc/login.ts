import type { BMC } from '@metal/api/v1alpha1/bmc.ts';
import { originOf } from '@metal/redfish/endpoint.ts';
import type { Connection } from '../../connection.ts';
import type { OperatorContext } from '../../context.ts';
import type { BmcMemory } from '../../observations.ts';
import type { Login } from '../../rejected-login.ts';
import { versionOf } from '../../secret-value.ts';
import { isConvertible } from '../bmc-secret/conversion.ts';

type Surroundings = Pick<OperatorContext, 'access'> & LoginSources;
interface LoginSources {
  readonly caches: Pick<OperatorContext['caches'], 'bmcSecrets'>;
  readonly config: Pick<OperatorContext['config'], 'convertsBmcSecrets'>;
}

/** What this process remembers of the BMC of this object, and that it rejected the login, whichever process it told. */
export function memoryOf(
  bmc: BMC,
  connection: Connection | undefined,
  { access, caches, config }: Surroundings,
): BmcMemory {
  const { name } = bmc.metadata;
  const login = connection && loginOf(bmc, connection, { caches, config });
  if (connection === undefined || login === undefined) return access.memory(name, connection);
  return access.memoryOfLogin(name, connection, { login, rejected: bmc.status?.rejectedLogin });
}

/** Undefined while the BMCSecret is about to be changed by ourselves, which makes it no other one. */
export function loginOf(
  { metadata, spec }: Pick<BMC, 'metadata' | 'spec'>,
  { endpoint }: Pick<Connection, 'endpoint'>,
  { caches, config }: LoginSources,
): Login | undefined {
  const secret = caches.bmcSecrets.get(spec?.bmcSecretRef.name ?? '');
  if (secret === undefined || isConvertible(secret, config)) return undefined;
  return {
    bmcSecretVersion: versionOf(secret),
    address: originOf(endpoint),
    generation: metadata.generation ?? 0,
  };
}
