import type { BMC } from '@metal/api/v1alpha1/bmc.ts';
import { decommissionedAnnotation } from '@metal/api/wire/contract.ts';
import { byAge } from '@metal/kube/kinds/kind.ts';
import {
  addressOf,
  connectionOf,
  type Connection,
  type ConnectionBlocker,
} from '../../../bmc-connections/connection.ts';
import type { OperatorContext } from '../../context.ts';
import type { RejectedLogin } from '../../../bmc-connections/rejected-login.ts';
import { type HealthChange, healthChangeOf, type ObservedHealth } from '../../health-condition.ts';
import { jitter } from '@metal/kube/runtime/jitter.ts';
import type { BmcReason } from './reasons.ts';
import { type BmcOperation, operationOf, type ResetFacts, resetFactsOf } from '../reset/resets.ts';
import { type RejectedSystem, summaryOf } from './rejected-systems.ts';
import type { Reconcile } from '@metal/kube/controller/definition.ts';
import type { ObservedBmc } from '../../../bmc-connections/observed-bmc.ts';
import { isRejection } from '../../../bmc-connections/observed-bmc.ts';
import { systemsPart } from '../../../bmc-connections/refresh-bmc.ts';
import { certificateToRecord } from '../../../bmc-connections/trusted-certificate.ts';
import { planSystems, type SystemsPlan } from './systems.ts';

/** During a reset `status.state` is Pending, as in v0.7.0. */
export type BmcPhase = 'Pending' | 'Enabled' | 'Error' | 'Decommissioned' | 'ResetRequested' | 'Resetting';
export type BmcAction =
  | 'observe'
  | 'recordCertificate'
  | 'recordManager'
  | 'createServers'
  | 'updateServers'
  | 'recordRejectionEvent'
  | 'recordHealthEvent'
  | 'dropOperation'
  | 'acceptReset'
  | 'sendReset';

export interface BmcFacts {
  readonly ip: string | undefined;
  readonly macAddress: string | undefined;
  readonly connection: Connection | undefined;
  /** Why there is no connection. */
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
  /** The certificate that the BMC showed and that is to be recorded, before anything is sent to it. */
  readonly certificateToRecord: string | undefined;
  /** The login that no process sends again. */
  readonly rejectedLogin: RejectedLogin | undefined;
  readonly observation: ObservedBmc['observation'];
  /** Milliseconds until the next periodic observation; 0 or less when due. */
  readonly nextPollInMs: number;
  readonly managerRecorded: boolean;
  /** All servers of the BMC are decommissioned: nothing is sent to it. */
  readonly isDecommissioned: boolean;
  /** The status has no state yet. */
  readonly isNew: boolean;
  readonly systems: SystemsPlan;
  /** Summary of the rejected systems, and whether an event has reported it. */
  readonly rejection: (RejectedSystem & { readonly isReported: boolean }) | undefined;
  /** Of the manager; undefined before it was observed. */
  readonly health: ObservedHealth | undefined;
  readonly healthChange: HealthChange | undefined;
  readonly operation: BmcOperation | undefined;
  readonly reset: ResetFacts;
  readonly sshHostKey: string | undefined;
}

/** Only an administrator can fix these, at the BMC or in the objects. */
const codesForHumans = new Set(['AuthenticationFailed', 'Forbidden', 'TlsUntrusted', 'CertificateChanged']);
/** Reason and message of v0.7.0 by HTTP status; the message of the error is appended. */
const messagesOfV070: Record<number, { reason: BmcReason; message: string }> = {
  401: { reason: 'AuthenticationFailed', message: 'BMC credentials are invalid' },
  500: { reason: 'InternalServerError', message: 'BMC internal server error' },
  503: { reason: 'ConnectionFailed', message: 'BMC service unavailable' },
};

export function readBmcFacts(bmc: BMC, context: OperatorContext, { now }: { now: number }): BmcFacts {
  const { connection, blocker } = connectionOf(bmc, context.caches, context.config);
  const observed = context.bmcConnections.lastObservedBmc(bmc.metadata.name, connection);
  const { observation } = observed;
  const { ip, macAddress } = addressOf(bmc, context.caches);
  const systems = systemsPlanOf(bmc, observed, context);
  return {
    ip,
    macAddress,
    connection,
    blocker,
    failure: failureOf(observed, now),
    certificateToRecord:
      connection && certificateToRecord(observed.failure?.error, bmc.spec?.protocol.tls, context.config),
    // Without credentials or address the login cannot be compared with the rejected one.
    rejectedLogin: connection === undefined ? bmc.status?.rejectedLogin : observed.rejectedLogin,
    observation,
    nextPollInMs:
      observation === undefined ? 0 : observation.at + jitter(context.config.bmcResyncMs, bmc.metadata.name) - now,
    managerRecorded: (bmc.spec?.bmcUUID ?? '') !== '' || observation?.manager?.uuid === undefined,
    isDecommissioned: bmc.metadata.annotations?.[decommissionedAnnotation] !== undefined,
    isNew: bmc.status?.state === undefined,
    systems,
    rejection: rejectionOf(systems, observed),
    ...healthFactsOf(bmc, observed),
    operation: operationOf(bmc),
    reset: resetFactsOf(bmc, observed, context.config, now),
    sshHostKey: observed.sshHostKey,
  };
}

function failureOf({ failure }: Readonly<ObservedBmc>, now: number): BmcFacts['failure'] {
  if (failure === undefined) return undefined;
  const { error, retryAt } = failure;
  // Another login attempt may lock the account. Any other failure is retried: it may have been fixed.
  const mayRepeat = !isRejection(error);
  const legacy = messagesOfV070[mayRepeat ? (error.status ?? 0) : 401];
  const prefix = ['TlsUntrusted', 'CertificateChanged'].includes(error.code)
    ? ''
    : `${legacy?.message ?? 'BMC connection error'}: `;
  return {
    reason: legacy?.reason ?? error.code,
    message: `${prefix}${error.message}`,
    needsHuman: codesForHumans.has(error.code),
    mayRepeat,
    retryInMs: retryAt - now,
  };
}

function healthFactsOf(
  bmc: BMC,
  { observation, reportedHealth = 'OK' }: Readonly<ObservedBmc>,
): Pick<BmcFacts, 'health' | 'healthChange'> {
  const report = observation?.manager?.health;
  if (report === undefined) return { health: undefined, healthChange: undefined };
  const health = { level: report.level, parts: report.causes };
  return { health, healthChange: healthChangeOf(bmc, health, reportedHealth) };
}

function rejectionOf({ rejected }: SystemsPlan, { reportedRejection }: Readonly<ObservedBmc>): BmcFacts['rejection'] {
  const summary = summaryOf(rejected);
  return summary && { ...summary, isReported: summary.message === reportedRejection };
}

function systemsPlanOf(bmc: BMC, { observation }: Readonly<ObservedBmc>, context: OperatorContext): SystemsPlan {
  const { caches, bmcConnections, config } = context;
  return planSystems({
    bmc,
    systems: observation?.systems ?? [],
    unreadable: observation?.missing?.find(({ part }) => part === systemsPart)?.path,
    mostSystems: config.maxSystemsPerBmc,
    serversByUuid: (uuid) => caches.servers.by('uuid', uuid),
    ownServers: caches.servers.by('bmc', bmc.metadata.name),
    accepting: caches.servers.by('acceptedBmc', bmc.metadata.name),
    isNameTaken: (name) => caches.servers.get(name) !== undefined,
    systemReporters: (uuid, uri) => bmcConnections.systemReporters(uuid, uri),
    isOldest: (names) => names.every((name) => isOlder(bmc, caches.bmcs.get(name))),
  });
}

/** A deleted BMC counts as younger. */
const isOlder = (bmc: BMC, other: BMC | undefined): boolean => other === undefined || byAge(bmc, other) < 0;

export type BmcReconcile = Reconcile<BMC, BmcFacts, OperatorContext>;
