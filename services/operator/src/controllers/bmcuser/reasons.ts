import type { ReasonCatalogue } from '@metal/kube/controller/decide.ts';

const nothing = 'Nothing; it passes by itself.';
const goesOn = { remedy: nothing, weight: 'working', actor: 'operator' } as const;

/** Every reason a BMCUser gives. */
export const bmcUserReasons = {
  PasswordVerified: {
    meaning: 'The password of the BMCSecret was tried at the BMC and works.',
    remedy: 'Nothing; this is how it should be.',
    weight: 'ok',
    actor: 'operator',
  },
  NoBMC: {
    meaning: 'spec.bmcRef names no BMC.',
    remedy: 'Set spec.bmcRef.',
    weight: 'needsPerson',
    actor: 'person',
    command: 'kubectl edit bmcuser {name}',
  },
  BMCNotFound: {
    meaning: 'The BMC that spec.bmcRef names does not exist.',
    remedy: 'Create it, or correct spec.bmcRef.',
    weight: 'needsPerson',
    actor: 'person',
    pointsTo: 'BMC',
    command: 'kubectl edit bmcuser {name}',
  },
  BMCNotReady: {
    meaning: 'The BMC cannot be worked with now; its own condition says why.',
    remedy: 'Look at the conditions of the BMC.',
    weight: 'waiting',
    actor: 'hardware',
    pointsTo: 'BMC',
  },
  BMCSecretNotFound: {
    meaning: 'The BMCSecret that spec.bmcSecretRef names does not exist.',
    remedy: 'Create it, or remove spec.bmcSecretRef to have one made.',
    weight: 'needsPerson',
    actor: 'person',
    pointsTo: 'BMCSecret',
    command: 'kubectl edit bmcuser {name}',
  },
  BMCSecretIncomplete: {
    meaning: 'The BMCSecret lacks its key username or password.',
    remedy: 'Add the key, or remove spec.bmcSecretRef to have a BMCSecret made.',
    weight: 'needsPerson',
    actor: 'person',
    pointsTo: 'BMCSecret',
    command: 'kubectl edit bmcsecret {spec.bmcSecretRef.name}',
  },
  BMCSecretOfAnotherUser: {
    meaning: 'The user name in the BMCSecret is not spec.userName.',
    remedy: 'Correct one of them, or remove spec.bmcSecretRef to have a BMCSecret made.',
    weight: 'needsPerson',
    actor: 'person',
    pointsTo: 'BMCSecret',
    command: 'kubectl edit bmcuser {name}',
  },
  InvalidRotationPeriod: {
    meaning: 'spec.rotationPeriod is no duration, or shorter than a minute.',
    remedy: 'Write it like 720h or 1h30m.',
    weight: 'needsPerson',
    actor: 'person',
    command: 'kubectl edit bmcuser {name}',
  },
  AccountNotYetSeen: { meaning: 'The accounts of the BMC are about to be read.', ...goesOn },
  PeriodicLook: { meaning: 'The accounts of the BMC are read now and then.', ...goesOn },
  AccountWanted: { meaning: 'The account gets its first password.', ...goesOn },
  SecretChanged: { meaning: 'spec.bmcSecretRef, or the password there, is new; it is brought in.', ...goesOn },
  RotationRequested: { meaning: 'A new password was asked for by annotation.', ...goesOn },
  RotationDue: { meaning: 'The rotation period is over; a new password is brought in.', ...goesOn },
  PasswordExpired: { meaning: 'The BMC says that the password has expired; a new one is brought in.', ...goesOn },
  VerifyingPassword: {
    meaning: 'The password is tried at the BMC. Tries after a rejected one keep a pause, so that nothing is locked.',
    ...goesOn,
  },
  PlacingPassword: { meaning: 'Account, role and password are put on the BMC.', ...goesOn },
  PasswordUnknownToBMC: {
    meaning: 'The account has another password than the BMCSecret; it gets that of the BMCSecret.',
    ...goesOn,
  },
  HandingOver: {
    meaning: 'The operator itself uses this account; the BMC object is given the new BMCSecret.',
    ...goesOn,
  },
  DroppingSuperseded: { meaning: 'BMCSecrets that were replaced are deleted.', ...goesOn },
  AccountDrifted: {
    meaning: 'The account is missing on the BMC, switched off, or has another role; it is put right.',
    remedy: 'Find out who else changes accounts on this BMC, if it comes back.',
    weight: 'working',
    actor: 'operator',
  },
  AccountLocked: {
    meaning: 'The BMC has locked the account. No login is tried until it is unlocked.',
    remedy: 'Wait, or unlock the account on the BMC; find out who tries wrong passwords.',
    weight: 'waiting',
    actor: 'hardware',
    command: 'kubectl describe bmcuser {name}',
  },
  LoginRejected: {
    meaning: 'The BMC took the password and then rejected the login with it. It is not tried again.',
    remedy: 'Give another password, or annotate metal.ironcore.dev/operation=rotate-credentials.',
    weight: 'failed',
    actor: 'person',
    command: 'kubectl annotate bmcuser {name} metal.ironcore.dev/operation=rotate-credentials',
  },
  LoginForbidden: {
    meaning: 'The BMC knows the account but does not let it log in. It is not tried again.',
    remedy: 'Choose a roleID that may log in, or allow Redfish logins for the account on the BMC.',
    weight: 'failed',
    actor: 'person',
    command: 'kubectl edit bmcuser {name}',
  },
  NoFreeAccountSlot: {
    meaning: 'All account slots of the BMC are taken.',
    remedy: 'Delete an account on the BMC. Tried again every ten minutes.',
    weight: 'failed',
    actor: 'person',
    command: 'kubectl describe bmcuser {name}',
  },
  AccountRefused: {
    meaning: 'The BMC refused the account: its password, its role or its name.',
    remedy: 'Correct what the message names. Tried again every ten minutes.',
    weight: 'failed',
    actor: 'person',
    command: 'kubectl edit bmcuser {name}',
  },
  ConfigurationChanged: { meaning: 'What kept the account in Error is over.', ...goesOn },
  AccountDeleted: { meaning: 'The account is deleted on the BMC.', remedy: nothing, weight: 'ok', actor: 'operator' },
  AccountLeftBehind: {
    meaning: 'The BMCUser is gone; its account is perhaps still on the BMC, because the BMC could not be asked.',
    remedy: 'Delete the account on the BMC by hand.',
    weight: 'needsPerson',
    actor: 'person',
    command: 'kubectl get bmc {spec.bmcRef.name} -o wide',
  },
  AccountKept: {
    meaning: 'The BMCUser is gone; its account stays on the BMC, because the operator itself uses it.',
    remedy: 'Nothing; or give the BMC another bmcSecretRef first, then delete the account by hand.',
    weight: 'ok',
    actor: 'operator',
  },
} as const satisfies ReasonCatalogue;

export type BmcUserReason = keyof typeof bmcUserReasons;
