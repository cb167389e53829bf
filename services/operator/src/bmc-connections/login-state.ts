import type { BMC } from '@metal/api/v1alpha1/bmc.ts';
import type { Server } from '@metal/api/v1alpha1/server.ts';
import { originOf } from '@metal/redfish/endpoint.ts';
import { inlineConnectionName } from './shard-key.ts';
import { isConvertible } from './bmc-secret-conversion.ts';
import type { Connection } from './connection.ts';
import type { OperatorCaches } from '../caches.ts';
import type { OperatorConfig } from '../options.ts';
import type { BmcConnectionPool } from './connection-pool.ts';
import type { Login, RejectedLogin } from './rejected-login.ts';
import type { ObservedBmc } from './observed-bmc.ts';
import { versionOf } from './credentials.ts';

interface LoginStateContext extends LoginSources {
  readonly bmcConnections: BmcConnectionPool;
}
interface LoginSources {
  readonly caches: Pick<OperatorCaches, 'bmcSecrets'>;
  readonly config: Pick<OperatorConfig, 'convertsBmcSecrets'>;
}

/**
 * The observed state of the BMC of this object. Takes over a rejection that another process recorded in the status, and starts with
 * empty state, closing the session, when the login that was rejected has changed.
 */
export function observedBmcOf(bmc: BMC, connection: Connection | undefined, context: LoginStateContext): ObservedBmc {
  const { name, generation = 0 } = bmc.metadata;
  const bmcSecretName = bmc.spec?.bmcSecretRef.name;
  return restoredBmc(
    { connectionName: name, bmcSecretName, generation, rejected: bmc.status?.rejectedLogin },
    connection,
    context,
  );
}

/**
 * The same for an inline BMC. The generation of a Server does not identify the login: the operator writes to the spec of a Server as
 * well, and users change only the address or the BMCSecret in `spec.bmc`.
 */
export function observedInlineBmcOf(
  { metadata, spec, status }: Server,
  connection: Connection | undefined,
  context: LoginStateContext,
): ObservedBmc {
  const connectionName = inlineConnectionName({ metadata });
  const bmcSecretName = spec.bmc?.bmcSecretRef.name;
  return restoredBmc({ connectionName, bmcSecretName, rejected: status?.rejectedLogin }, connection, context);
}

interface Account {
  readonly connectionName: string;
  readonly bmcSecretName: string | undefined;
  readonly generation?: number;
  readonly rejected: RejectedLogin | undefined;
}

function restoredBmc(
  account: Account,
  connection: Connection | undefined,
  { bmcConnections, caches, config }: LoginStateContext,
): ObservedBmc {
  const login = connection && loginOf(account, connection, { caches, config });
  if (connection === undefined || login === undefined)
    return bmcConnections.observedBmc(account.connectionName, connection);
  return bmcConnections.observedBmcForLogin(account.connectionName, connection, { login, rejected: account.rejected });
}

/** Undefined while the operator is going to convert the BMCSecret: the conversion changes its version, not the login. */
export function loginOf(
  { bmcSecretName = '', generation }: Pick<Account, 'bmcSecretName' | 'generation'>,
  { endpoint }: Pick<Connection, 'endpoint'>,
  { caches, config }: LoginSources,
): Login | undefined {
  const secret = caches.bmcSecrets.get(bmcSecretName);
  if (secret === undefined || isConvertible(secret, config)) return undefined;
  const login = { bmcSecretVersion: versionOf(secret), address: originOf(endpoint) };
  return generation === undefined ? login : { ...login, generation };
}
