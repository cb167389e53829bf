import type { Server } from '@metal/api/v1alpha1/server.ts';
import type { BmcConnectionPool } from '../../../bmc-connections/connection-pool.ts';
import { connectionOf, type Connection, inlineConnectionOf } from '../../../bmc-connections/connection.ts';
import { observedInlineBmcOf } from '../../../bmc-connections/login-state.ts';
import type { RejectedLogin } from '../../../bmc-connections/rejected-login.ts';
import { inlineConnectionName } from '../../../bmc-connections/shard-key.ts';
import type { OperatorCaches } from '../../../caches.ts';
import type { OperatorConfig } from '../../../options.ts';
import type { ServerReason } from '../reasons.ts';

/** The BMC of the server, and whether requests may be sent to it. */
export interface BmcFacts {
  /** Key of the BMC in the connection pool. */
  readonly bmcName: string;
  readonly connection: Connection | undefined;
  readonly bmc: {
    readonly isReachable: boolean;
    /** The BMC object, or the secret of an inline BMC, exists. */
    readonly exists: boolean;
    readonly reason: ServerReason;
    readonly message: string;
  };
  /** A login that an inline BMC rejected. For a BMC object it is in the status of that object. */
  readonly rejectedLogin?: RejectedLogin | undefined;
}

const reachable = { isReachable: true, exists: true, reason: 'Connected', message: '' } as const;

interface FactsInput {
  readonly caches: Pick<OperatorCaches, 'bmcs' | 'endpoints' | 'bmcSecrets'>;
  readonly config: OperatorConfig;
  readonly bmcConnections: BmcConnectionPool;
}

export function bmcFacts(server: Server, context: FactsInput): BmcFacts {
  const bmcName = server.spec.bmcRef?.name ?? '';
  if (bmcName === '') return resolveInlineBmc(server, context);
  const resolved = resolveReferencedBmc(bmcName, context);
  return resolved.bmc.isReachable
    ? { ...resolved, bmc: unreadableSystem(server, bmcName, context) ?? resolved.bmc }
    : resolved;
}

/** The BMC returns other systems, but not this one. No request is sent until a refresh of the BMC reads it again. */
function unreadableSystem(
  { spec }: Server,
  bmcName: string,
  { bmcConnections }: FactsInput,
): BmcFacts['bmc'] | undefined {
  const missing = bmcConnections.observation(bmcName)?.missing ?? [];
  const found = missing.find(({ path }) => path === spec.systemURI);
  if (found === undefined) return undefined;
  const message = `BMC "${bmcName}" answers, but cannot give this system (${found.status ?? found.code}); nothing is done to the server`;
  return { isReachable: false, exists: true, reason: 'SystemUnreadable', message };
}

function resolveInlineBmc(server: Server, context: FactsInput): BmcFacts {
  const { connection, blocker } = inlineConnectionOf(server, context.caches, context.config);
  const bmc =
    blocker === undefined
      ? reachable
      : { isReachable: false, exists: false, reason: 'BMCNotUsable' as const, message: blocker.message };
  // Without an address or credentials, a change of the login cannot be detected.
  const rejectedLogin =
    connection === undefined
      ? server.status?.rejectedLogin
      : observedInlineBmcOf(server, connection, context).rejectedLogin;
  return { bmcName: inlineConnectionName(server), connection, bmc, rejectedLogin };
}

function resolveReferencedBmc(bmcName: string, { caches, config }: FactsInput): BmcFacts {
  const bmc = caches.bmcs.get(bmcName);
  if (bmc === undefined) {
    const message = `BMC "${bmcName}" of spec.bmcRef does not exist; create it, or correct spec.bmcRef`;
    return {
      bmcName,
      connection: undefined,
      bmc: { isReachable: false, exists: false, reason: 'BMCNotFound', message },
    };
  }
  const { connection, blocker } = connectionOf(bmc, caches, config);
  if (bmc.status?.state === 'Enabled' && blocker === undefined) return { bmcName, connection, bmc: reachable };
  const ready = bmc.status?.conditions?.find(({ type }) => type === 'Ready');
  const why = blocker?.reason ?? ready?.reason ?? 'NotYetSeen';
  return {
    bmcName,
    connection,
    bmc: {
      isReachable: false,
      exists: true,
      reason: 'BMCNotReady',
      message: `BMC "${bmcName}" is not ready (${why}); its condition Ready has the cause`,
    },
  };
}
