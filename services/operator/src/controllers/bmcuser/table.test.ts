import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Password } from '@metal/redfish/http/bmc.ts';
import type { BmcUserFacts, BmcUserPhase } from './facts.ts';
import { bmcUserTable, decideDeletion } from './table.ts';

const calm: BmcUserFacts = {
  bmc: {
    apiVersion: 'metal.ironcore.dev/v1alpha1',
    kind: 'BMC',
    metadata: { name: 'bmc' },
    spec: { access: {}, bmcSecretRef: { name: 's' }, protocol: { name: 'Redfish', port: 443 } },
  },
  connection: undefined,
  blocker: undefined,
  userError: undefined,
  rejection: undefined,
  isBmcReady: true,
  isOwnAccount: false,
  isReferencedByBmc: true,
  secret: {
    name: 's',
    uid: 'u',
    version: 'u/1',
    missingKey: undefined,
    credentials: { username: 'ada', password: new Password('x') },
  },
  isEffective: true,
  login: 'untested',
  lastRotation: undefined,
  nextTrialInMs: 0,
  isFresh: false,
  isPlaced: false,
  service: undefined,
  account: {
    isMissing: false,
    roleId: 'Operator',
    id: '3',
    isLocked: false,
    isDrifted: false,
    passwordExpiration: undefined,
  },
  nextPollInMs: 600_000,
  rotation: { isRequested: false, reason: undefined, next: undefined, userError: undefined },
  superseded: [],
  isDone: false,
  leavingForMs: 0,
};
const blocker = { reason: 'BMCNotReady', message: 'away' } as const;
const rejection = { reason: 'NoFreeAccountSlot', message: 'full', retryInMs: 1_000 } as const;
const userError = { reason: 'LoginRejected', message: 'no' } as const;
const due = { ...calm.rotation, reason: 'RotationDue' } as const;
const requested = { ...calm.rotation, isRequested: true, reason: 'RotationRequested' } as const;
const missing = { ...calm.account, isMissing: true, isDrifted: true };
const pending = { isEffective: false } as const;
const old = { apiVersion: '', kind: 'BMCSecret', metadata: { name: 'old' } };

const lines: [title: string, phase: BmcUserPhase, facts: Partial<BmcUserFacts>, decided: string][] = [
  ['without a BMC it waits', 'Pending', { blocker }, 'wait BMCNotReady'],
  ['the accounts are read first', 'Pending', { nextPollInMs: 0 }, 'act observeAccounts'],
  ['a valid password is kept', 'Pending', {}, 'go Ready'],
  ['an account without BMCSecret gets one', 'Pending', { ...pending, secret: undefined }, 'go Rotating'],
  ['a rejection is reported', 'Pending', { ...pending, rejection }, 'go Error'],
  ['a BMCSecret is created if none is referenced', 'Rotating', { ...pending, secret: undefined }, 'act prepareSecret'],
  ['a due password is replaced', 'Rotating', { rotation: due }, 'act prepareSecret'],
  ['a new password is written without a login before', 'Rotating', { ...pending, isFresh: true }, 'act putAccount'],
  ['a missing account is created', 'Rotating', { ...pending, account: missing }, 'act putAccount'],
  [
    'an account that is not listed yet is not created twice',
    'Rotating',
    { ...pending, account: missing, isPlaced: true },
    'act tryLogin',
  ],
  ['after a crash the BMCSecret is tried before anything is changed', 'Rotating', pending, 'act tryLogin'],
  [
    'a password that the BMC does not know is written',
    'Rotating',
    { ...pending, login: 'unknownToBmc' },
    'act putAccount',
  ],
  [
    'after a rejection the next login waits',
    'Rotating',
    { ...pending, isPlaced: true, nextTrialInMs: 5_000 },
    'wait VerifyingPassword',
  ],
  [
    'no login is tried at a locked account',
    'Rotating',
    { ...pending, account: { ...calm.account, isLocked: true } },
    'wait AccountLocked',
  ],
  ['a rejected password is not retried', 'Rotating', { ...pending, login: 'rejected', userError }, 'go Error'],
  [
    'a rejected password is replaced on request',
    'Rotating',
    { ...pending, login: 'rejected', userError, rotation: requested },
    'act prepareSecret',
  ],
  [
    'a rotation in progress is not replaced by another',
    'Rotating',
    { ...pending, rotation: requested, isPlaced: true },
    'act tryLogin',
  ],
  [
    'the BMC object gets the BMCSecret of the own account once it is verified',
    'Rotating',
    { ...pending, login: 'accepted', isOwnAccount: true, isReferencedByBmc: false },
    'act updateBmcSecretRef',
  ],
  ['a verified password is Ready', 'Rotating', { login: 'accepted' }, 'go Ready'],
  ['a superseded BMCSecret is deleted', 'Ready', { superseded: [old] }, 'act dropSuperseded'],
  ['a due rotation begins', 'Ready', { rotation: due }, 'go Rotating'],
  ['another BMCSecret starts a rotation', 'Ready', pending, 'go Rotating'],
  ['accounts are polled', 'Ready', { nextPollInMs: 0 }, 'act observeAccounts'],
  ['a deleted account is created again', 'Ready', { account: missing }, 'act putAccount'],
  [
    'a BMC that reverts the account is not corrected again',
    'Ready',
    { account: missing, isPlaced: true },
    'wait AccountDrifted',
  ],
  ['an account in steady state waits', 'Ready', {}, 'wait PasswordVerified'],
  ['Error reports the error', 'Error', { ...pending, userError }, 'wait LoginRejected'],
  ['Error ends with its cause', 'Error', pending, 'go Pending'],
  ['Error ends on request', 'Error', { ...pending, login: 'rejected', userError, rotation: requested }, 'go Pending'],
];

for (const [title, phase, facts, decided] of lines) {
  test(`${phase}: ${title}`, () =>
    assert.equal(formatDecision(bmcUserTable[phase].decide({ ...calm, ...facts })), decided));
}

const leaving: [title: string, facts: Partial<BmcUserFacts>, decided: string][] = [
  ['the account is deleted', {}, 'act deleteAccount'],
  ['then the BMCUser is removed', { isDone: true }, 'rest'],
  ['without a BMC reference there is nothing to delete', { blocker: { reason: 'NoBMC', message: '' } }, 'rest'],
  ['a deletion does not wait for a deleted BMC', { bmc: undefined }, 'act leaveBehind'],
  ['a deletion waits for an unreachable BMC', { isBmcReady: false, blocker }, 'wait BMCNotReady'],
  ['… at most five minutes', { isBmcReady: false, blocker, leavingForMs: 300_000 }, 'act leaveBehind'],
  ['a rejected deletion ends after five minutes', { rejection, leavingForMs: 300_000 }, 'act leaveBehind'],
  ['the account that the operator uses stays', { isOwnAccount: true, isBmcReady: false, blocker }, 'act keepAccount'],
  [
    'an account without a write by the operator stays',
    { secret: undefined, account: { ...calm.account, id: undefined } },
    'rest',
  ],
];

for (const [title, facts, decided] of leaving) {
  test(`deletion: ${title}`, () => assert.equal(formatDecision(decideDeletion({ ...calm, ...facts })), decided));
}

function formatDecision(
  decision: ReturnType<typeof decideDeletion> | ReturnType<(typeof bmcUserTable)['Ready']['decide']>,
) {
  switch (decision.kind) {
    case 'go':
      return `go ${decision.phase}`;
    case 'act':
      return `act ${decision.action}`;
    case 'wait':
      return `wait ${decision.reason}`;
    case 'rest':
      return 'rest';
  }
}
