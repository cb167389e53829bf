import type { BMC } from '@metal/api/v1alpha1/bmc.ts';
import type { BMCSecret } from '@metal/api/v1alpha1/bmc-secret.ts';
import type { BMCUser } from '@metal/api/v1alpha1/bmc-user.ts';
import { seconds } from '@metal/kube/decide.ts';
import { controllerOf } from '@metal/kube/kind.ts';
import type { AccountService } from '@metal/redfish/accounts.ts';
import type { AccountMemory } from '../../account-memories.ts';
import { type Connection, connectionOf } from '../../connection.ts';
import type { OperatorContext } from '../../context.ts';
import { isRejection } from '../../observations.ts';
import { spread } from '../../spread.ts';
import { memoryOf } from '../../login.ts';
import type { BmcUserReason } from './reasons.ts';
import { printTime, type Rotation, rotationOf } from './rotation.ts';
import { type NamedSecret, namedSecretOf, obstacleInSecret } from './secret.ts';

export type BmcUserPhase = 'Pending' | 'Rotating' | 'Ready' | 'Error';
export type BmcUserAction =
  | 'look'
  | 'prepareSecret'
  | 'putAccount'
  | 'tryLogin'
  | 'handOver'
  | 'dropSuperseded'
  | 'deleteAccount'
  | 'keepAccount'
  | 'leaveBehind';

export interface Hindrance {
  readonly reason: BmcUserReason;
  readonly message: string;
}

/**
 * What the BMC says to the password of the BMCSecret. `unknownToBmc`: rejected, and we have not put it there.
 * `rejected`: rejected although we have.
 */
export type Login = 'untested' | 'accepted' | 'unknownToBmc' | 'rejected' | 'forbidden';

export interface BmcUserFacts {
  readonly bmc: BMC | undefined;
  readonly connection: Connection | undefined;
  /** What is missing before anything can be done; its arrival wakes us. */
  readonly obstacle: Hindrance | undefined;
  /** What only a person can change. */
  readonly mistake: Hindrance | undefined;
  readonly refusal: (Hindrance & { readonly retryInMs: number }) | undefined;
  /** The BMC answers the operator, so that accounts can be read and changed. */
  readonly isBmcReady: boolean;
  /** The operator logs in with this very account. */
  readonly isOwnAccount: boolean;
  /** The BMC object names the BMCSecret of this BMCUser. */
  readonly isHandedOver: boolean;
  readonly secret: NamedSecret | undefined;
  /** The password of the BMCSecret works, and everybody who needs it has it. */
  readonly isSettled: boolean;
  readonly login: Login;
  /** RFC 3339; of the password that works. */
  readonly lastRotation: string | undefined;
  /** Milliseconds until a login may be tried; 0 or less when it may. */
  readonly nextTrialInMs: number;
  /** Nobody but us can know this password, or we have just put it there: no need to ask the BMC first. */
  readonly isFresh: boolean;
  readonly isPlaced: boolean;
  readonly service: AccountService | undefined;
  readonly account: {
    /** Undefined until the BMC was looked at. */
    readonly isMissing: boolean | undefined;
    readonly roleId: string | undefined;
    readonly id: string | undefined;
    readonly isLocked: boolean;
    readonly isDrifted: boolean;
    readonly passwordExpiration: string | undefined;
  };
  readonly nextLookInMs: number;
  readonly rotation: Rotation;
  /** BMCSecrets made for this BMCUser that nothing refers to. */
  readonly superseded: readonly BMCSecret[];
  readonly isDone: boolean;
  readonly leavingForMs: number;
}

const accountLookMs = seconds(600);
const lockedLookMs = seconds(60);
const pauseAfterRejectionMs = seconds(5);

export function readBmcUserFacts(user: BMCUser, context: OperatorContext, { now }: { now: number }): BmcUserFacts {
  const { caches, accounts, config } = context;
  const memory = accounts.of(user.metadata.uid ?? '');
  const bmc = caches.bmcs.get(user.spec.bmcRef?.name ?? '');
  const { connection } = bmc === undefined ? {} : connectionOf(bmc, caches, config);
  const secret = namedSecretOf(user, caches.bmcSecrets);
  const isOwnAccount = connection?.username === user.spec.userName;
  const isHandedOver = !isOwnAccount || bmc?.spec?.bmcSecretRef.name === secret?.name;
  const failure = bmc && memoryOf(bmc, connection, context).failure;
  // What failed a moment ago is not asked again before the BMC's own controller has seen it answer.
  const isBmcReady = bmc?.status?.state === 'Enabled' && connection !== undefined && failure === undefined;
  const login = loginOf(user, secret, { memory, isBmcReady });
  const isRecorded = isRecordedAsEffective(user, secret);
  const isEffective = isRecorded || (login === 'accepted' && isHandedOver);
  const lastRotation = lastRotationOf(user, secret, isEffective, memory);
  const passwordExpiration = memory.look?.account?.passwordExpiration;
  const rotation = rotationOf(user, { lastRotation, passwordExpiration, now });
  const isFresh = secret !== undefined && memory.freshSecret === secret.uid;
  const isLockedOut = isOwnAccount && failure !== undefined && isRejection(failure.error);
  const isWhatWasRejected = secret?.credentials.password.reveal() === connection?.password.reveal();
  const mayTryAnyway =
    isLockedOut && !isWhatWasRejected && !isFresh && !isRecorded && (login === 'untested' || login === 'accepted');
  if (user.metadata.deletionTimestamp !== undefined) memory.leavingSince ??= now;
  return {
    bmc,
    connection,
    obstacle: obstacleOf(user, bmc, isBmcReady || mayTryAnyway) ?? obstacleInSecret(user, secret),
    mistake: rotation.mistake ?? mistakeOf(login, secret),
    refusal: refusalOf(memory, wishOf(user, secret), now),
    isBmcReady,
    isOwnAccount,
    isHandedOver,
    secret,
    isSettled: secret !== undefined && isEffective,
    login,
    lastRotation,
    nextTrialInMs: memory.rejectedAt === undefined ? 0 : memory.rejectedAt + pauseAfterRejectionMs - now,
    isFresh,
    isPlaced: secret !== undefined && memory.isPlaced(secret.credentials.password),
    service: memory.look?.service,
    account: accountOf(user, memory),
    nextLookInMs: nextLookIn(user, memory, now),
    rotation,
    superseded: isEffective ? supersededOf(user, context) : [],
    isDone: memory.isDone,
    leavingForMs: memory.leavingSince === undefined ? 0 : now - memory.leavingSince,
  };
}

/** What a refusal of the BMC was about: another wish is worth another try. */
export const wishOf = ({ spec }: BMCUser, secret: NamedSecret | undefined): string =>
  JSON.stringify([spec.userName, spec.roleID, secret?.version]);

function obstacleOf(user: BMCUser, bmc: BMC | undefined, isUsable: boolean): Hindrance | undefined {
  const name = user.spec.bmcRef?.name ?? '';
  if (name === '') return { reason: 'NoBMC', message: 'spec.bmcRef names no BMC; set it' };
  if (bmc === undefined)
    return { reason: 'BMCNotFound', message: `BMC "${name}" does not exist; create it or correct spec.bmcRef` };
  if (isUsable) return undefined;
  const why = bmc.status?.conditions?.find(({ type, status }) => type === 'Ready' && status !== 'True');
  const because = why === undefined ? '' : ` (${why.reason}: ${why.message})`;
  return {
    reason: 'BMCNotReady',
    message: `BMC "${name}" is ${bmc.status?.state ?? 'Pending'}${because}; goes on when it is Enabled`,
  };
}

function loginOf(
  { status }: BMCUser,
  secret: NamedSecret | undefined,
  { memory, isBmcReady }: { memory: AccountMemory; isBmcReady: boolean },
): Login {
  if (secret === undefined) return 'untested';
  const trial = memory.trialOf(secret.credentials.password);
  if (trial === undefined) return status?.rejectedBMCSecretVersion === secret.version ? 'rejected' : 'untested';
  // The operator comes in again: the account was given the right that it lacked.
  if (trial.answer === 'forbidden' && trial.whileLockedOut && isBmcReady) return 'untested';
  if (trial.answer !== 'rejected') return trial.answer;
  return trial.afterPlacing ? 'rejected' : 'unknownToBmc';
}

/** v0.7.0 recorded the name only. */
function isRecordedAsEffective({ status }: BMCUser, secret: NamedSecret | undefined): boolean {
  const { effectiveBMCSecretRef: effective, effectiveBMCSecretVersion: version } = status ?? {};
  return secret !== undefined && effective?.name === secret.name && (version ?? secret.version) === secret.version;
}

/** When the password that works came, also before the status says so: what is new is not due again. */
function lastRotationOf(
  { status }: BMCUser,
  secret: NamedSecret | undefined,
  isEffective: boolean,
  memory: AccountMemory,
): string | undefined {
  const trial = secret && memory.trialOf(secret.credentials.password);
  if (trial?.answer !== 'accepted' || !isEffective) return status?.lastRotation;
  const isNews = trial.afterPlacing || status?.effectiveBMCSecretRef?.name !== secret?.name;
  return isNews ? printTime(trial.at) : (status?.lastRotation ?? printTime(trial.at));
}

function mistakeOf(login: Login, secret: NamedSecret | undefined): Hindrance | undefined {
  const remedy = 'correct it, or annotate metal.ironcore.dev/operation=rotate-credentials to have another made';
  if (login === 'rejected')
    return {
      reason: 'LoginRejected',
      message: `the BMC took the password of BMCSecret "${secret?.name ?? ''}" and rejects the login with it; not tried again, ${remedy}`,
    };
  if (login === 'forbidden')
    return {
      reason: 'LoginForbidden',
      message: `the BMC does not let the account log in with BMCSecret "${secret?.name ?? ''}"; allow it there or choose another roleID, then ${remedy}`,
    };
  return undefined;
}

function refusalOf({ refusal }: AccountMemory, wish: string, now: number): BmcUserFacts['refusal'] {
  if (refusal === undefined || refusal.wish !== wish || refusal.retryAt <= now) return undefined;
  const { error, retryAt } = refusal;
  const isFull = error.code === 'NotSupported' && error.status === undefined;
  const reason = isFull ? 'NoFreeAccountSlot' : 'AccountRefused';
  return { reason, message: `${error.message}; tried again every ten minutes`, retryInMs: retryAt - now };
}

function accountOf({ spec, status }: BMCUser, { look }: AccountMemory): BmcUserFacts['account'] {
  if (look === undefined) {
    const { id, passwordExpiration } = status ?? {};
    return { isMissing: undefined, roleId: undefined, id, isLocked: false, isDrifted: false, passwordExpiration };
  }
  const { account } = look;
  return {
    isMissing: account === undefined,
    id: account?.id,
    roleId: account?.roleId,
    isLocked: account?.locked ?? false,
    isDrifted: account === undefined || !account.enabled || (account.roleId ?? spec.roleID) !== spec.roleID,
    passwordExpiration: account?.passwordExpiration,
  };
}

function nextLookIn({ metadata }: BMCUser, { look }: AccountMemory, now: number): number {
  if (look === undefined) return 0;
  const interval = look.account?.locked === true ? lockedLookMs : spread(accountLookMs, metadata.name);
  return look.at + interval - now;
}

/** Only what was made for this BMCUser: BMCSecrets that people gave are theirs. */
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
