import type { Server } from '@metal/api/v1alpha1/server.ts';
import type { PowerState } from '@metal/redfish/systems.ts';
import { connectionOf, type Connection, inlineConnectionOf } from '../../connection.ts';
import type { BmcAccess } from '../../bmc-access.ts';
import { inlineLineOf } from '../../bmc-key.ts';
import type { OperatorConfig } from '../../config.ts';
import type { OperatorCaches, OperatorContext } from '../../context.ts';
import { memoryOfInline } from '../../login.ts';
import type { PowerCause, SystemMemory } from '../../observations.ts';
import type { RejectedLogin } from '../../rejected-login.ts';
import { spread } from '../../spread.ts';
import type { ServerReason } from './reasons.ts';

/** The BMC of the server, and whether it may be talked to. */
export interface BmcFacts {
  /** Name that the BMC actor goes by, and how to reach it. */
  readonly bmcName: string;
  readonly connection: Connection | undefined;
  readonly bmc: {
    readonly answers: boolean;
    /** The object or secret it needs exists. */
    readonly exists: boolean;
    readonly reason: ServerReason;
    readonly message: string;
  };
  /** What an inline BMC rejected. That of a BMC object is recorded there. */
  readonly rejectedLogin?: RejectedLogin | undefined;
}

export interface PowerFacts {
  readonly power: PowerState;
  /** Since the last look at the machine; undefined before the first. */
  readonly powerSeenMsAgo: number | undefined;
  /** How long it has been seen in this power state. */
  readonly powerForMs: number;
  readonly powerCause: PowerCause;
  readonly nextLookInMs: number;
  readonly transition:
    | {
        readonly target: 'On' | 'Off';
        readonly since: string;
        readonly sinceRequestMs: number;
        readonly forced: boolean;
        readonly attempts: number;
      }
    | undefined;
  readonly powerTimeoutMs: number;
  readonly maxPowerAttempts: number;
}

const answering = { answers: true, exists: true, reason: 'Connected', message: '' } as const;

interface Surroundings {
  readonly caches: Pick<OperatorCaches, 'bmcs' | 'endpoints' | 'bmcSecrets'>;
  readonly config: OperatorConfig;
  readonly access: BmcAccess;
}

/** A BMC that is ready was so at the address it had. What was seen of the machine does not outlive that address. */
export function bmcFacts(server: Server, context: Surroundings): BmcFacts {
  const facts = wayToMachine(server, context);
  context.access.system(server.metadata.uid ?? '').isReachedOver(facts.connection);
  return facts;
}

function wayToMachine(server: Server, context: Surroundings): BmcFacts {
  const bmcName = server.spec.bmcRef?.name ?? '';
  if (bmcName === '') return wayToInlineBmc(server, context);
  const way = wayToBmc(bmcName, context);
  return way.bmc.answers ? { ...way, bmc: unreadableSystem(server, bmcName, context) ?? way.bmc } : way;
}

/** The BMC gives other systems, and not this one: nothing is asked of it until a look at the BMC finds it again. */
function unreadableSystem({ spec }: Server, bmcName: string, { access }: Surroundings): BmcFacts['bmc'] | undefined {
  const missing = access.observation(bmcName)?.missing ?? [];
  const found = missing.find(({ path }) => path === spec.systemURI);
  if (found === undefined) return undefined;
  const message = `BMC "${bmcName}" answers, but cannot give this system (${found.status ?? found.code}); the server is left as it is until it can`;
  return { answers: false, exists: true, reason: 'SystemUnreadable', message };
}

function wayToInlineBmc(server: Server, context: Surroundings): BmcFacts {
  const { connection, obstacle } = inlineConnectionOf(server, context.caches, context.config);
  const bmc =
    obstacle === undefined
      ? answering
      : { answers: false, exists: false, reason: 'BMCNotUsable' as const, message: obstacle.message };
  // Without credentials or address nobody can tell whether they would be others.
  const rejectedLogin =
    connection === undefined ? server.status?.rejectedLogin : memoryOfInline(server, connection, context).rejectedLogin;
  return { bmcName: inlineLineOf(server), connection, bmc, rejectedLogin };
}

function wayToBmc(bmcName: string, { caches, config }: Surroundings): BmcFacts {
  const bmc = caches.bmcs.get(bmcName);
  if (bmc === undefined) {
    const message = `BMC "${bmcName}" of spec.bmcRef does not exist; create it, or correct spec.bmcRef`;
    return {
      bmcName,
      connection: undefined,
      bmc: { answers: false, exists: false, reason: 'BMCNotFound', message },
    };
  }
  const { connection, obstacle } = connectionOf(bmc, caches, config);
  if (bmc.status?.state === 'Enabled' && obstacle === undefined) return { bmcName, connection, bmc: answering };
  const ready = bmc.status?.conditions?.find(({ type }) => type === 'Ready');
  const why = obstacle?.message ?? ready?.message ?? 'it has not been reached yet';
  return {
    bmcName,
    connection,
    bmc: {
      answers: false,
      exists: true,
      reason: 'BMCNotReady',
      message: `BMC "${bmcName}" is not ready: ${why}; the server is left as it is until the BMC answers`,
    },
  };
}

/** The pause between looks at a changing power state starts here and doubles up to the polling interval. */
const firstLookAfterMs = 500;

export function powerFacts(
  server: Server,
  memory: SystemMemory,
  now: number,
  { config }: Pick<OperatorContext, 'config'>,
): PowerFacts {
  const { state, transition, power } = memory;
  const pauseMs =
    transition === undefined
      ? spread(config.serverResyncMs, server.metadata.name)
      : Math.min(firstLookAfterMs * 2 ** transition.looks, config.powerPollingIntervalMs);
  const lookedAt = Math.max(state?.at ?? 0, transition?.lastRequestAt ?? 0);
  return {
    power: state?.value.powerState ?? 'Unknown',
    powerSeenMsAgo: state === undefined ? undefined : now - state.at,
    powerForMs: power === undefined ? 0 : now - power.since,
    powerCause: power?.cause ?? 'unknown',
    nextLookInMs: state === undefined ? 0 : lookedAt + pauseMs - now,
    transition:
      transition === undefined
        ? undefined
        : {
            target: transition.target,
            forced: transition.forced,
            since: new Date(transition.firstRequestAt).toISOString(),
            sinceRequestMs: now - transition.lastRequestAt,
            attempts: transition.attempts,
          },
    powerTimeoutMs: config.powerTimeoutMs,
    maxPowerAttempts: config.powerAttempts,
  };
}
