import { minutes, seconds } from '@metal/kube/runtime/durations.ts';
import { act, type Decision, go, type PhaseTable, rest, rowsOf, wait } from '@metal/kube/controller/decide.ts';
import type { BmcUserAction, BmcUserFacts, BmcUserPhase } from './facts.ts';
import type { Blocker } from './secret.ts';
import type { BmcUserReason } from './reasons.ts';

const row = rowsOf<BmcUserPhase, BmcUserFacts, BmcUserAction, BmcUserReason>();

type BmcUserDecision<To extends BmcUserPhase = never> = Decision<To, BmcUserAction, BmcUserReason>;

const resyncMs = minutes(60);
const untilUnlockedMs = seconds(60);
/** How long a deletion waits for an unreachable BMC. */
const deletionTimeoutMs = minutes(5);

/**
 * Order of a rotation. At all times a BMCSecret holds the valid password:
 *
 *   prepareSecret          putAccount           tryLogin             updateBmcSecretRef    dropSuperseded
 *   BMCSecret created, ──► account has it  ──►  login accepted  ──►  BMC references it ──► unreferenced
 *   spec references it                          (own account:        (own account), then   BMCSecrets deleted
 *                                               the operator uses    status: effective
 *                                               it already)
 *
 * After a crash the BMCSecret in spec is not effective in status, and a login is tried first: a written password is not
 * written again.
 */
export const bmcUserTable: PhaseTable<BmcUserPhase, BmcUserFacts, BmcUserAction, BmcUserReason> = {
  Pending: row(['Rotating', 'Ready', 'Error'], (user) => {
    if (user.blocker !== undefined) return wait(resyncMs, user.blocker.reason, user.blocker.message);
    const problem = problemOf(user);
    if (problem !== undefined) return go('Error', problem.reason, problem.message);
    if (user.isBmcReady && user.nextPollInMs <= 0) return act('observeAccounts', 'AccountNotYetSeen');
    if (user.isEffective && newSecretReason(user) === undefined) return go('Ready', 'PasswordVerified');
    return go('Rotating', rotationReason(user));
  }),
  Rotating: row(['Pending', 'Ready', 'Error'], (user) => {
    if (user.blocker !== undefined) return go('Pending', user.blocker.reason, user.blocker.message);
    const problem = problemOf(user);
    if (problem !== undefined) return go('Error', problem.reason, problem.message);
    if (user.isBmcReady && user.nextPollInMs <= 0) return act('observeAccounts', 'AccountNotYetSeen');
    const reason = newSecretReason(user);
    if (reason !== undefined) return act('prepareSecret', reason);
    if (user.isEffective) return go('Ready', 'PasswordVerified');
    return deployPassword(user);
  }),
  Ready: row(['Pending', 'Rotating', 'Error'], (user) => {
    if (user.blocker !== undefined) return go('Pending', user.blocker.reason, user.blocker.message);
    const problem = problemOf(user);
    if (problem !== undefined) return go('Error', problem.reason, problem.message);
    if (!user.isEffective || newSecretReason(user) !== undefined) return go('Rotating', rotationReason(user));
    if (user.superseded.length > 0) return act('dropSuperseded', 'DroppingSuperseded');
    if (user.nextPollInMs <= 0) return act('observeAccounts', 'PeriodicLook');
    if (user.account.isDrifted) return correctDrift(user);
    return wait(Math.min(user.nextPollInMs, user.rotation.next?.inMs ?? user.nextPollInMs), 'PasswordVerified');
  }),
  Error: row(['Pending'], (user) => {
    const problem = problemOf(user);
    if (user.blocker !== undefined || problem === undefined) return go('Pending', 'ConfigurationChanged');
    return wait(user.rejection?.retryInMs ?? resyncMs, problem.reason, problem.message);
  }),
};

/** Does not depend on the hardware: an event reports an account that is left behind. */
export function decideDeletion(user: BmcUserFacts): BmcUserDecision {
  if (user.isDone || user.blocker?.reason === 'NoBMC') return rest;
  if (user.bmc === undefined) return act('leaveBehind', 'AccountLeftBehind');
  if (user.isOwnAccount) return act('keepAccount', 'AccountKept');
  const isNeverPlaced = user.secret === undefined && user.account.id === undefined;
  if (isNeverPlaced) return rest;
  if (user.leavingForMs >= deletionTimeoutMs) return act('leaveBehind', 'AccountLeftBehind');
  if (user.isBmcReady && user.rejection === undefined) return act('deleteAccount', 'AccountDeleted');
  return wait(deletionTimeoutMs - user.leavingForMs, 'BMCNotReady', user.rejection?.message ?? user.blocker?.message);
}

/** A rejected password is replaced on request only; a valid one also when it is due. */
function problemOf(user: BmcUserFacts): Blocker | undefined {
  if (user.rejection !== undefined) return user.rejection;
  const isAboutLogin = user.login === 'rejected' || user.login === 'forbidden';
  return isAboutLogin && user.rotation.isRequested ? undefined : user.userError;
}

/** Why a BMCSecret is to be created now. Never during a rotation. */
function newSecretReason(user: BmcUserFacts): BmcUserReason | undefined {
  if (user.secret === undefined) return 'AccountWanted';
  const isUseless = user.login === 'rejected' || user.login === 'forbidden';
  return user.isEffective || isUseless ? user.rotation.reason : undefined;
}

function rotationReason(user: BmcUserFacts): BmcUserReason {
  return newSecretReason(user) ?? 'SecretChanged';
}

/** Once per observation: no repeat if the BMC reverts it. */
function correctDrift(user: BmcUserFacts): BmcUserDecision {
  if (!user.isPlaced) return act('putAccount', 'AccountDrifted');
  const found = user.account.isMissing === true ? 'has no such account' : `has it with role "${user.account.roleId}"`;
  return wait(user.nextPollInMs, 'AccountDrifted', `the account was put right, and the BMC still ${found}`);
}

function deployPassword(user: BmcUserFacts): BmcUserDecision {
  if (user.login === 'accepted') return act('updateBmcSecretRef', 'HandingOver');
  if (user.account.isLocked)
    return wait(untilUnlockedMs, 'AccountLocked', 'the BMC has locked the account; looked at again in a minute');
  if (user.login === 'unknownToBmc') return act('putAccount', 'PasswordUnknownToBMC');
  const isAbsent = user.account.isMissing === true && !user.isPlaced;
  if (user.isFresh || isAbsent) return act('putAccount', 'PlacingPassword');
  if (user.nextTrialInMs <= 0) return act('tryLogin', 'VerifyingPassword');
  return wait(
    user.nextTrialInMs,
    'VerifyingPassword',
    'an earlier password was rejected; the next is tried in a moment',
  );
}
