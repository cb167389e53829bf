import type { BMC } from '@metal/api/v1alpha1/bmc.ts';
import { byAge } from '@metal/kube/kinds/kind.ts';
import {
  addressOf,
  connectionOf,
  type Connection,
  type ConnectionBlocker,
} from '../../../bmc-connections/connection.ts';
import type { OperatorContext } from '../../context.ts';
import type { RejectedLogin } from '../../../bmc-connections/rejected-login.ts';
import { jitter } from '@metal/kube/runtime/jitter.ts';
import type { BmcReason } from './reasons.ts';
import { observedBmcOf } from '../../../bmc-connections/login-state.ts';
import { type BmcOperation, operationOf, type ResetFacts, resetFactsOf } from '../reset/resets.ts';
import { type RejectedSystem, summaryOf } from './rejected-systems.ts';
import type { Reconcile } from '@metal/kube/controller/definition.ts';
import type { ObservedBmc } from '../../../bmc-connections/observed-bmc.ts';
import { isRejection } from '../../../bmc-connections/observed-bmc.ts';
import { planSystems, type SystemsPlan } from './systems.ts';

/** While it resets, the state that people see is Pending, as in v0.7.0. */
export type BmcPhase = 'Pending' | 'Enabled' | 'Error' | 'ResetRequested' | 'Resetting';
export type BmcAction =
  | 'observe'
  | 'recordManager'
  | 'createServers'
  | 'updateServers'
  | 'recordRejectionEvent'
  | 'dropOperation'
  | 'acceptReset'
  | 'sendReset';

export interface BmcFacts {
  readonly ip: string | undefined;
  readonly macAddress: string | undefined;
  readonly connection: Connection | undefined;
  /** Why there is nothing to connect to. */
  readonly blocker: ConnectionBlocker | undefined;
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
  readonly observation: ObservedBmc['observation'];
  /** Milliseconds until the next periodic look; 0 or less when due. */
  readonly nextPollInMs: number;
  readonly managerRecorded: boolean;
  /** Nothing was said of it before. */
  readonly isNew: boolean;
  readonly systems: SystemsPlan;
  /** What of the systems is refused, all in one, and whether an event has told it. */
  readonly rejection: (RejectedSystem & { readonly isReported: boolean }) | undefined;
  readonly operation: BmcOperation | undefined;
  readonly reset: ResetFacts;
  readonly sshHostKey: string | undefined;
}

/** What only a person puts right, at the BMC or here. */
const codesForHumans = new Set(['AuthenticationFailed', 'Forbidden', 'TlsUntrusted']);
/** Reason and message of v0.7.0 by HTTP status; what was seen follows the message. */
const messagesOfV070: Record<number, { reason: BmcReason; message: string }> = {
  401: { reason: 'AuthenticationFailed', message: 'BMC credentials are invalid' },
  500: { reason: 'InternalServerError', message: 'BMC internal server error' },
  503: { reason: 'ConnectionFailed', message: 'BMC service unavailable' },
};

export function readBmcFacts(bmc: BMC, context: OperatorContext, { now }: { now: number }): BmcFacts {
  const { connection, blocker } = connectionOf(bmc, context.caches, context.config);
  const memory = observedBmcOf(bmc, connection, context);
  const { observation } = memory;
  const { ip, macAddress } = addressOf(bmc, context.caches);
  const systems = systemsPlanOf(bmc, memory, context);
  return {
    ip,
    macAddress,
    connection,
    blocker,
    failure: failureOf(memory, now),
    // Without credentials or address nobody can tell whether they would be others.
    rejectedLogin: connection === undefined ? bmc.status?.rejectedLogin : memory.rejectedLogin,
    observation,
    nextPollInMs:
      observation === undefined ? 0 : observation.at + jitter(context.config.bmcResyncMs, bmc.metadata.name) - now,
    managerRecorded: (bmc.spec?.bmcUUID ?? '') !== '' || observation?.manager?.uuid === undefined,
    isNew: bmc.status?.state === undefined,
    systems,
    rejection: rejectionOf(systems, memory),
    operation: operationOf(bmc),
    reset: resetFactsOf(bmc, memory, context.config, now),
    sshHostKey: memory.sshHostKey,
  };
}

function failureOf({ failure }: ObservedBmc, now: number): BmcFacts['failure'] {
  if (failure === undefined) return undefined;
  const { error, since, retryAt } = failure;
  // Asking again may lock the account. Everything else is tried again now and then: it may have been put right.
  const mayRepeat = !isRejection(error);
  const legacy = messagesOfV070[mayRepeat ? (error.status ?? 0) : 401];
  // Words that stay the same from try to try: a BMC that is away costs no write per try.
  const next = `; failing since ${new Date(since).toISOString().slice(0, 19)}Z, tried again with pauses that grow to two minutes`;
  return {
    reason: legacy?.reason ?? error.code,
    message: `${legacy?.message ?? 'BMC connection error'}: ${error.message}${mayRepeat ? next : ''}`,
    needsHuman: codesForHumans.has(error.code),
    mayRepeat,
    retryInMs: retryAt - now,
  };
}

function rejectionOf({ rejected }: SystemsPlan, { reportedRejection }: ObservedBmc): BmcFacts['rejection'] {
  const summary = summaryOf(rejected);
  return summary && { ...summary, isReported: summary.message === reportedRejection };
}

function systemsPlanOf(bmc: BMC, { observation }: ObservedBmc, context: OperatorContext): SystemsPlan {
  const { caches, bmcConnections, config } = context;
  return planSystems({
    bmc,
    systems: observation?.systems ?? [],
    mostSystems: config.maxSystemsPerBmc,
    serversByUuid: (uuid) => caches.servers.by('uuid', uuid),
    ownServers: caches.servers.by('bmc', bmc.metadata.name),
    isNameTaken: (name) => caches.servers.get(name) !== undefined,
    systemReporters: (uuid) => bmcConnections.systemReporters(uuid),
    isOldest: (names) => names.every((name) => isOlder(bmc, caches.bmcs.get(name))),
  });
}

/** One that is gone comes after any other. */
const isOlder = (bmc: BMC, other: BMC | undefined): boolean => other === undefined || byAge(bmc, other) < 0;

export type BmcReconcile = Reconcile<BMC, BmcFacts, OperatorContext>;
