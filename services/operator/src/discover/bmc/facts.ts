import type { BMC } from '@metal/api/v1alpha1/bmc.ts';
import { byAge } from '@metal/kube/kind.ts';
import { addressOf, connectionOf, type Connection, type Obstacle } from '../../connection.ts';
import type { OperatorContext } from '../../context.ts';
import { type BmcMemory, isRejection } from '../../observations.ts';
import type { RejectedLogin } from '../../rejected-login.ts';
import { spread } from '../../spread.ts';
import type { BmcReason } from './reasons.ts';
import { memoryOf } from '../../login.ts';
import { type BmcOperation, operationOf, type ResetFacts, resetFactsOf } from './resets.ts';
import { type RefusedSystem, summaryOf } from './refused-systems.ts';
import { planSystems, type SystemsPlan } from './systems.ts';

/** While it resets, the state that people see is Pending, as in v0.7.0. */
export type BmcPhase = 'Pending' | 'Enabled' | 'Error' | 'ResetRequested' | 'Resetting';
export type BmcAction =
  | 'observe'
  | 'recordManager'
  | 'createServers'
  | 'updateServers'
  | 'tellRefusal'
  | 'dropOperation'
  | 'acceptReset'
  | 'sendReset';

export interface BmcFacts {
  readonly ip: string | undefined;
  readonly macAddress: string | undefined;
  readonly connection: Connection | undefined;
  /** Why there is nothing to connect to. */
  readonly obstacle: Obstacle | undefined;
  readonly failure:
    | {
        readonly reason: BmcReason;
        readonly message: string;
        readonly needsHuman: boolean;
        readonly mayRepeat: boolean;
        readonly retryInMs: number;
      }
    | undefined;
  /** What is not sent again, by no process. */
  readonly rejectedLogin: RejectedLogin | undefined;
  readonly observation: BmcMemory['observation'];
  /** Milliseconds until the next periodic look; 0 or less when due. */
  readonly nextLookInMs: number;
  readonly managerRecorded: boolean;
  /** Nothing was said of it before. */
  readonly isNew: boolean;
  readonly systems: SystemsPlan;
  /** What of the systems is refused, all in one, and whether an event has told it. */
  readonly refusal: (RefusedSystem & { readonly told: boolean }) | undefined;
  readonly operation: BmcOperation | undefined;
  readonly reset: ResetFacts;
  readonly sshHostKey: string | undefined;
}

/** What only a person puts right, at the BMC or here. */
const codesForHumans = new Set(['AuthenticationFailed', 'Forbidden', 'TlsUntrusted']);
/** Reason and message of v0.7.0 by HTTP status; what was seen follows the message. */
const wordsOfV070: Record<number, { reason: BmcReason; message: string }> = {
  401: { reason: 'AuthenticationFailed', message: 'BMC credentials are invalid' },
  500: { reason: 'InternalServerError', message: 'BMC internal server error' },
  503: { reason: 'ConnectionFailed', message: 'BMC service unavailable' },
};

export function readBmcFacts(bmc: BMC, context: OperatorContext, { now }: { now: number }): BmcFacts {
  const { connection, obstacle } = connectionOf(bmc, context.caches, context.config);
  const memory = memoryOf(bmc, connection, context);
  const { observation } = memory;
  const { ip, macAddress } = addressOf(bmc, context.caches);
  const systems = systemsPlanOf(bmc, memory, context);
  return {
    ip,
    macAddress,
    connection,
    obstacle,
    failure: failureOf(memory, now),
    // Without credentials or address nobody can tell whether they would be others.
    rejectedLogin: connection === undefined ? bmc.status?.rejectedLogin : memory.rejectedLogin,
    observation,
    nextLookInMs:
      observation === undefined ? 0 : observation.at + spread(context.config.bmcResyncMs, bmc.metadata.name) - now,
    managerRecorded: (bmc.spec?.bmcUUID ?? '') !== '' || observation?.manager?.uuid === undefined,
    isNew: bmc.status?.state === undefined,
    systems,
    refusal: refusalOf(systems, memory),
    operation: operationOf(bmc),
    reset: resetFactsOf(bmc, memory, context.config, now),
    sshHostKey: memory.sshHostKey,
  };
}

function failureOf({ failure }: BmcMemory, now: number): BmcFacts['failure'] {
  if (failure === undefined) return undefined;
  const { error, since, retryAt } = failure;
  // Asking again may lock the account. Everything else is tried again now and then: it may have been put right.
  const mayRepeat = !isRejection(error);
  const words = wordsOfV070[mayRepeat ? (error.status ?? 0) : 401];
  // Words that stay the same from try to try: a BMC that is away costs no write per try.
  const next = `; failing since ${new Date(since).toISOString().slice(0, 19)}Z, tried again with pauses that grow to two minutes`;
  return {
    reason: words?.reason ?? error.code,
    message: `${words?.message ?? 'BMC connection error'}: ${error.message}${mayRepeat ? next : ''}`,
    needsHuman: codesForHumans.has(error.code),
    mayRepeat,
    retryInMs: retryAt - now,
  };
}

function refusalOf({ refused }: SystemsPlan, { refusalTold }: BmcMemory): BmcFacts['refusal'] {
  const summary = summaryOf(refused);
  return summary && { ...summary, told: summary.message === refusalTold };
}

function systemsPlanOf(bmc: BMC, { observation }: BmcMemory, context: OperatorContext): SystemsPlan {
  const { caches, access, config } = context;
  return planSystems({
    bmc,
    systems: observation?.systems ?? [],
    mostSystems: config.maxSystemsPerBmc,
    serversByUuid: (uuid) => caches.servers.by('uuid', uuid),
    ownServers: caches.servers.by('bmc', bmc.metadata.name),
    isNameTaken: (name) => caches.servers.get(name) !== undefined,
    reporters: (uuid) => access.reporters(uuid),
    isOldest: (names) => names.every((name) => isOlder(bmc, caches.bmcs.get(name))),
  });
}

/** One that is gone comes after any other. */
const isOlder = (bmc: BMC, other: BMC | undefined): boolean => other === undefined || byAge(bmc, other) < 0;
