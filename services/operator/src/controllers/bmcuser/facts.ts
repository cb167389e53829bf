import type { BMC } from '@metal/api/v1alpha1/bmc.ts';
import type { BMCSecret } from '@metal/api/v1alpha1/bmc-secret.ts';
import type { BMCUser } from '@metal/api/v1alpha1/bmc-user.ts';
import { seconds } from '@metal/kube/runtime/durations.ts';
import { controllerOf } from '@metal/kube/kinds/kind.ts';
import type { AccountService } from '@metal/redfish/resources/accounts.ts';
import type { ObservedAccount } from './observed-account.ts';
import { type Connection, connectionOf } from '../../bmc-connections/connection.ts';
import type { OperatorContext } from '../context.ts';
import { jitter } from '@metal/kube/runtime/jitter.ts';
import { observedBmcOf } from '../../bmc-connections/login-state.ts';
import { printTime, type Rotation, rotationOf } from './rotation.ts';
import { isRejection } from '../../bmc-connections/observed-bmc.ts';
import { type NamedSecret, namedSecretOf, blockerInSecret, type Blocker } from './secret.ts';

export type BmcUserPhase = 'Pending' | 'Rotating' | 'Ready' | 'Error';
export type BmcUserAction =
  | 'observeAccounts'
  | 'prepareSecret'
  | 'putAccount'
  | 'tryLogin'
  | 'updateBmcSecretRef'
  | 'dropSuperseded'
  | 'deleteAccount'
  | 'keepAccount'
  | 'leaveBehind';

/**
 * Result of a login with the BMCSecret's password. `unknownToBmc`: rejected, and this process did not write it.
 * `rejected`: although it did.
 */
export type Login = 'untested' | 'accepted' | 'unknownToBmc' | 'rejected' | 'forbidden';

export interface BmcUserFacts {
  readonly bmc: BMC | undefined;
  readonly connection: Connection | undefined;
  /** A missing object or state; its change triggers a reconcile. */
  readonly blocker: Blocker | undefined;
  /** An error that only a person can fix. */
  readonly userError: Blocker | undefined;
  readonly rejection: (Blocker & { readonly retryInMs: number }) | undefined;
  /** The operator can read and change accounts on the BMC. */
  readonly isBmcReady: boolean;
  /** The operator logs in with this account. */
  readonly isOwnAccount: boolean;
  /** The BMC object has this BMCUser's BMCSecret. */
  readonly isReferencedByBmc: boolean;
  readonly secret: NamedSecret | undefined;
  /** The password of the BMCSecret is valid, and its users have it. */
  readonly isEffective: boolean;
  readonly login: Login;
  /** RFC 3339; of the valid password. */
  readonly lastRotation: string | undefined;
  /** Milliseconds until a login may be tried; 0 or less: now. */
  readonly nextTrialInMs: number;
  /** This process created the password, and no BMC has it: no login is needed before. */
  readonly isFresh: boolean;
  readonly isPlaced: boolean;
  readonly service: AccountService | undefined;
  readonly account: {
    /** Undefined until the BMC was observed. */
    readonly isMissing: boolean | undefined;
    readonly roleId: string | undefined;
    readonly id: string | undefined;
    readonly isLocked: boolean;
    readonly isDrifted: boolean;
    readonly passwordExpiration: string | undefined;
  };
  readonly nextPollInMs: number;
  readonly rotation: Rotation;
  /** Unreferenced BMCSecrets created for this BMCUser. */
  readonly superseded: readonly BMCSecret[];
  readonly isDone: boolean;
  readonly leavingForMs: number;
}

const accountPollIntervalMs = seconds(600);
const lockedPollIntervalMs = seconds(60);
const pauseAfterRejectionMs = seconds(5);

export function readBmcUserFacts(
  user: BMCUser,
  context: OperatorContext,
  { now, memory }: { readonly now: number; readonly memory: Readonly<ObservedAccount> },
): BmcUserFacts {
  const { caches, config } = context;
  const bmc = caches.bmcs.get(user.spec.bmcRef?.name ?? '');
  const { connection } = bmc === undefined ? {} : connectionOf(bmc, caches, config);
  const secret = namedSecretOf(user, caches.bmcSecrets);
  const isOwnAccount = connection?.username === user.spec.userName;
  const isReferencedByBmc = !isOwnAccount || bmc?.spec?.bmcSecretRef.name === secret?.name;
  const failure = bmc && observedBmcOf(bmc, connection, context).failure;
  // After a failure, no request before the BMC controller gets a response.
  const isBmcReady = bmc?.status?.state === 'Enabled' && connection !== undefined && failure === undefined;
  const login = loginOf(user, secret, { memory, isBmcReady });
  const isRecorded = isRecordedAsEffective(user, secret);
  const isEffective = isRecorded || (login === 'accepted' && isReferencedByBmc);
  const lastRotation = lastRotationOf(user, secret, isEffective, memory);
  const passwordExpiration = memory.observation?.account?.passwordExpiration;
  const rotation = rotationOf(user, { lastRotation, passwordExpiration, now });
  const isFresh = secret !== undefined && memory.freshSecret === secret.uid;
  const isLockedOut = isOwnAccount && failure !== undefined && isRejection(failure.error);
  const isRejectedPassword = secret?.credentials.password.reveal() === connection?.password.reveal();
  const mayTryAnyway =
    isLockedOut && !isRejectedPassword && !isFresh && !isRecorded && (login === 'untested' || login === 'accepted');
  return {
    bmc,
    connection,
    blocker: blockerOf(user, bmc, isBmcReady || mayTryAnyway) ?? blockerInSecret(user, secret),
    userError: rotation.userError ?? userErrorOf(login, secret),
    rejection: rejectionOf(memory, requestKeyOf(user, secret), now),
    isBmcReady,
    isOwnAccount,
    isReferencedByBmc,
    secret,
    isEffective: secret !== undefined && isEffective,
    login,
    lastRotation,
    nextTrialInMs: memory.rejectedAt === undefined ? 0 : memory.rejectedAt + pauseAfterRejectionMs - now,
    isFresh,
    isPlaced: secret !== undefined && memory.isWrittenPassword(secret.credentials.password),
    service: memory.observation?.service,
    account: accountOf(user, memory),
    nextPollInMs: nextPollIn(user, memory, now),
    rotation,
    superseded: isEffective ? supersededOf(user, context) : [],
    isDone: memory.isDone,
    leavingForMs: memory.deletingSince === undefined ? 0 : now - memory.deletingSince,
  };
}

/** Identifies the rejected request: a changed one is tried again. */
export const requestKeyOf = ({ spec }: BMCUser, secret: NamedSecret | undefined): string =>
  JSON.stringify([spec.userName, spec.roleID, secret?.version]);

function blockerOf(user: BMCUser, bmc: BMC | undefined, isUsable: boolean): Blocker | undefined {
  const name = user.spec.bmcRef?.name ?? '';
  if (name === '') return { reason: 'NoBMC', message: 'spec.bmcRef names no BMC; set it' };
  if (bmc === undefined)
    return { reason: 'BMCNotFound', message: `BMC "${name}" does not exist; create it or correct spec.bmcRef` };
  if (isUsable) return undefined;
  const ready = bmc.status?.conditions?.find(({ type }) => type === 'Ready');
  return {
    reason: 'BMCNotReady',
    message: `BMC "${name}" is not ready (${ready?.reason ?? 'NotYetSeen'}); its condition Ready has the cause`,
  };
}

function loginOf(
  { status }: BMCUser,
  secret: NamedSecret | undefined,
  { memory, isBmcReady }: { memory: Readonly<ObservedAccount>; isBmcReady: boolean },
): Login {
  if (secret === undefined) return 'untested';
  const trial = memory.verificationOf(secret.credentials.password);
  if (trial === undefined) return status?.rejectedBMCSecretVersion === secret.version ? 'rejected' : 'untested';
  // The operator can log in again: the account has the missing privilege now.
  if (trial.result === 'forbidden' && trial.whileLockedOut && isBmcReady) return 'untested';
  if (trial.result !== 'rejected') return trial.result;
  return trial.afterPasswordWrite ? 'rejected' : 'unknownToBmc';
}

/** v0.7.0 recorded the name only. */
function isRecordedAsEffective({ status }: BMCUser, secret: NamedSecret | undefined): boolean {
  const { effectiveBMCSecretRef: effective, effectiveBMCSecretVersion: version } = status ?? {};
  return secret !== undefined && effective?.name === secret.name && (version ?? secret.version) === secret.version;
}

/** Time of the valid password, also before the status has it: a new password is not due. */
function lastRotationOf(
  { status }: BMCUser,
  secret: NamedSecret | undefined,
  isEffective: boolean,
  memory: Readonly<ObservedAccount>,
): string | undefined {
  const trial = secret && memory.verificationOf(secret.credentials.password);
  if (trial?.result !== 'accepted' || !isEffective) return status?.lastRotation;
  const isNew = trial.afterPasswordWrite || status?.effectiveBMCSecretRef?.name !== secret?.name;
  return isNew ? printTime(trial.at) : (status?.lastRotation ?? printTime(trial.at));
}

function userErrorOf(login: Login, secret: NamedSecret | undefined): Blocker | undefined {
  const remedy = 'annotate metal.ironcore.dev/operation=rotate-credentials';
  if (login === 'rejected')
    return {
      reason: 'LoginRejected',
      message: `the BMC rejects the login with BMCSecret "${secret?.name ?? ''}"; correct it, or ${remedy}`,
    };
  if (login === 'forbidden')
    return {
      reason: 'LoginForbidden',
      message: `the BMC forbids the login with BMCSecret "${secret?.name ?? ''}"; allow it or choose another roleID, then ${remedy}`,
    };
  return undefined;
}

function rejectionOf(
  { rejection }: Readonly<ObservedAccount>,
  requestKey: string,
  now: number,
): BmcUserFacts['rejection'] {
  if (rejection === undefined || rejection.desired !== requestKey || rejection.retryAt <= now) return undefined;
  const { error, retryAt } = rejection;
  const isFull = error.code === 'NotSupported' && error.status === undefined;
  const reason = isFull ? 'NoFreeAccountSlot' : 'AccountRefused';
  return { reason, message: error.message, retryInMs: retryAt - now };
}

function accountOf({ spec, status }: BMCUser, { observation }: Readonly<ObservedAccount>): BmcUserFacts['account'] {
  if (observation === undefined) {
    const { id, passwordExpiration } = status ?? {};
    return { isMissing: undefined, roleId: undefined, id, isLocked: false, isDrifted: false, passwordExpiration };
  }
  const { account } = observation;
  return {
    isMissing: account === undefined,
    id: account?.id,
    roleId: account?.roleId,
    isLocked: account?.locked ?? false,
    isDrifted: account === undefined || !account.enabled || (account.roleId ?? spec.roleID) !== spec.roleID,
    passwordExpiration: account?.passwordExpiration,
  };
}

function nextPollIn({ metadata }: BMCUser, { observation }: Readonly<ObservedAccount>, now: number): number {
  if (observation === undefined) return 0;
  const interval =
    observation.account?.locked === true ? lockedPollIntervalMs : jitter(accountPollIntervalMs, metadata.name);
  return observation.at + interval - now;
}

/** Only those created for this BMCUser, never BMCSecrets of users. */
function supersededOf({ metadata, spec }: BMCUser, { caches }: OperatorContext): BMCSecret[] {
  const isUsed = (name: string) =>
    name === spec.bmcSecretRef?.name ||
    caches.bmcs.by('secret', name).length > 0 ||
    caches.servers.by('inlineSecret', name).length > 0 ||
    caches.bmcUsers.by('secret', name).length > 0;
  return caches.bmcSecrets
    .by('owner', metadata.uid ?? '')
    .filter(
      (secret) =>
        controllerOf(secret)?.uid === metadata.uid &&
        secret.metadata.deletionTimestamp === undefined &&
        !isUsed(secret.metadata.name),
    );
}
