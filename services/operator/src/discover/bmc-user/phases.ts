import { act, type Decision, go, minutes, type PhaseTable, rest, rowsOf, seconds, wait } from '@metal/kube/decide.ts';
import type { BmcUserAction, BmcUserFacts, BmcUserPhase, Hindrance } from './facts.ts';
import type { BmcUserReason } from './reasons.ts';

const row = rowsOf<BmcUserPhase, BmcUserFacts, BmcUserAction, BmcUserReason>();

type Judgement<To extends BmcUserPhase = never> = Decision<To, BmcUserAction, BmcUserReason>;

const untilSomebodyActs = minutes(60);
const untilUnlockedMs = seconds(60);
/** How long a deletion waits for a BMC that does not answer. */
const patienceMs = minutes(5);

/**
 * A new password is brought in so that at every moment a BMCSecret holds the one that works:
 *
 *   prepareSecret          putAccount           tryLogin             handOver            dropSuperseded
 *   BMCSecret made,   ──►  account has it  ──►  login accepted  ──►  BMC object names ──► those that nothing
 *   spec names it                               (own account:        it; then status      refers to any more
 *                                               the operator uses    says effective
 *                                               it already)
 *
 * A process that dies in between finds a BMCSecret in spec that status does not call effective, and begins by trying
 * it: what was placed is not placed again.
 */
export const bmcUserPhases: PhaseTable<BmcUserPhase, BmcUserFacts, BmcUserAction, BmcUserReason> = {
  Pending: row(['Rotating', 'Ready', 'Error'], (user) => {
    if (user.obstacle !== undefined) return wait(untilSomebodyActs, user.obstacle.reason, user.obstacle.message);
    const trouble = troubleOf(user);
    if (trouble !== undefined) return go('Error', trouble.reason, trouble.message);
    if (user.isBmcReady && user.nextLookInMs <= 0) return act('look', 'AccountNotYetSeen');
    if (user.isSettled && newSecretWish(user) === undefined) return go('Ready', 'PasswordVerified');
    return go('Rotating', whyRotate(user));
  }),
  Rotating: row(['Pending', 'Ready', 'Error'], (user) => {
    if (user.obstacle !== undefined) return go('Pending', user.obstacle.reason, user.obstacle.message);
    const trouble = troubleOf(user);
    if (trouble !== undefined) return go('Error', trouble.reason, trouble.message);
    if (user.isBmcReady && user.nextLookInMs <= 0) return act('look', 'AccountNotYetSeen');
    const wish = newSecretWish(user);
    if (wish !== undefined) return act('prepareSecret', wish);
    if (user.isSettled) return go('Ready', 'PasswordVerified');
    return bringIn(user);
  }),
  Ready: row(['Pending', 'Rotating', 'Error'], (user) => {
    if (user.obstacle !== undefined) return go('Pending', user.obstacle.reason, user.obstacle.message);
    const trouble = troubleOf(user);
    if (trouble !== undefined) return go('Error', trouble.reason, trouble.message);
    if (!user.isSettled || newSecretWish(user) !== undefined) return go('Rotating', whyRotate(user));
    if (user.superseded.length > 0) return act('dropSuperseded', 'DroppingSuperseded');
    if (user.nextLookInMs <= 0) return act('look', 'PeriodicLook');
    if (user.account.isDrifted) return putRight(user);
    return wait(Math.min(user.nextLookInMs, user.rotation.next?.inMs ?? user.nextLookInMs), 'PasswordVerified');
  }),
  Error: row(['Pending'], (user) => {
    const trouble = troubleOf(user);
    if (user.obstacle !== undefined || trouble === undefined) return go('Pending', 'ConfigurationChanged');
    return wait(user.refusal?.retryInMs ?? untilSomebodyActs, trouble.reason, trouble.message);
  }),
};

/** Never needs the hardware to finish: what could not be deleted is left behind, and said. */
export function judgeDeletion(user: BmcUserFacts): Judgement {
  if (user.isDone || user.obstacle?.reason === 'NoBMC') return rest;
  if (user.bmc === undefined) return act('leaveBehind', 'AccountLeftBehind');
  if (user.isOwnAccount) return act('keepAccount', 'AccountKept');
  const isNeverPlaced = user.secret === undefined && user.account.id === undefined;
  if (isNeverPlaced) return rest;
  if (user.leavingForMs >= patienceMs) return act('leaveBehind', 'AccountLeftBehind');
  if (user.isBmcReady && user.refusal === undefined) return act('deleteAccount', 'AccountDeleted');
  return wait(patienceMs - user.leavingForMs, 'BMCNotReady', user.refusal?.message ?? user.obstacle?.message);
}

/** A password that did not work may be replaced on request; otherwise only one that works is. */
function troubleOf(user: BmcUserFacts): Hindrance | undefined {
  if (user.refusal !== undefined) return user.refusal;
  const isAboutLogin = user.login === 'rejected' || user.login === 'forbidden';
  return isAboutLogin && user.rotation.isRequested ? undefined : user.mistake;
}

/** Why a BMCSecret is to be made now. While one is being brought in, none is. */
function newSecretWish(user: BmcUserFacts): BmcUserReason | undefined {
  if (user.secret === undefined) return 'AccountWanted';
  const isUseless = user.login === 'rejected' || user.login === 'forbidden';
  return user.isSettled || isUseless ? user.rotation.wish : undefined;
}

function whyRotate(user: BmcUserFacts): BmcUserReason {
  return newSecretWish(user) ?? 'SecretChanged';
}

/** Once per look: a BMC that has its own way is not fought over it. */
function putRight(user: BmcUserFacts): Judgement {
  if (!user.isPlaced) return act('putAccount', 'AccountDrifted');
  const found = user.account.isMissing === true ? 'has no such account' : `has it with role "${user.account.roleId}"`;
  return wait(user.nextLookInMs, 'AccountDrifted', `the account was put right, and the BMC still ${found}`);
}

function bringIn(user: BmcUserFacts): Judgement {
  if (user.login === 'accepted') return act('handOver', 'HandingOver');
  if (user.account.isLocked)
    return wait(untilUnlockedMs, 'AccountLocked', 'the BMC has locked the account; looked at again in a minute');
  if (user.login === 'unknownToBmc') return act('putAccount', 'PasswordUnknownToBMC');
  const isNotThere = user.account.isMissing === true && !user.isPlaced;
  if (user.isFresh || isNotThere) return act('putAccount', 'PlacingPassword');
  if (user.nextTrialInMs <= 0) return act('tryLogin', 'VerifyingPassword');
  return wait(
    user.nextTrialInMs,
    'VerifyingPassword',
    'an earlier password was rejected; the next is tried in a moment',
  );
}
