import type { ReasonCatalogue } from '@metal/kube/controller/decide.ts';

const nothing = 'Nothing; it passes by itself.';

/** Every reason a BMCUser gives. */
export const bmcUserReasons = {
  PasswordVerified: {
    meaning: 'The password of the BMCSecret was tried at the BMC and works.',
    remedy: 'Nothing; this is how it should be.',
  },
  NoBMC: { meaning: 'spec.bmcRef names no BMC.', remedy: 'Set spec.bmcRef.' },
  BMCNotFound: {
    meaning: 'The BMC that spec.bmcRef names does not exist.',
    remedy: 'Create it, or correct spec.bmcRef.',
  },
  BMCNotReady: {
    meaning: 'The BMC cannot be worked with now; its own condition says why.',
    remedy: 'Look at the conditions of the BMC.',
  },
  BMCSecretNotFound: {
    meaning: 'The BMCSecret that spec.bmcSecretRef names does not exist.',
    remedy: 'Create it, or remove spec.bmcSecretRef to have one made.',
  },
  BMCSecretIncomplete: {
    meaning: 'The BMCSecret lacks its key username or password.',
    remedy: 'Add the key, or remove spec.bmcSecretRef to have a BMCSecret made.',
  },
  BMCSecretOfAnotherUser: {
    meaning: 'The user name in the BMCSecret is not spec.userName.',
    remedy: 'Correct one of them, or remove spec.bmcSecretRef to have a BMCSecret made.',
  },
  InvalidRotationPeriod: {
    meaning: 'spec.rotationPeriod is no duration, or shorter than a minute.',
    remedy: 'Write it like 720h or 1h30m.',
  },
  AccountNotYetSeen: { meaning: 'The accounts of the BMC are about to be read.', remedy: nothing },
  PeriodicLook: { meaning: 'The accounts of the BMC are read now and then.', remedy: nothing },
  AccountWanted: { meaning: 'The account gets its first password.', remedy: nothing },
  SecretChanged: { meaning: 'spec.bmcSecretRef, or the password there, is new; it is brought in.', remedy: nothing },
  RotationRequested: { meaning: 'A new password was asked for by annotation.', remedy: nothing },
  RotationDue: { meaning: 'The rotation period is over; a new password is brought in.', remedy: nothing },
  PasswordExpired: { meaning: 'The BMC says that the password has expired; a new one is brought in.', remedy: nothing },
  VerifyingPassword: {
    meaning: 'The password is tried at the BMC. Tries after a rejected one keep a pause, so that nothing is locked.',
    remedy: nothing,
  },
  PlacingPassword: { meaning: 'Account, role and password are put on the BMC.', remedy: nothing },
  PasswordUnknownToBMC: {
    meaning: 'The account has another password than the BMCSecret; it gets that of the BMCSecret.',
    remedy: nothing,
  },
  HandingOver: {
    meaning: 'The operator itself uses this account; the BMC object is given the new BMCSecret.',
    remedy: nothing,
  },
  DroppingSuperseded: { meaning: 'BMCSecrets that were replaced are deleted.', remedy: nothing },
  AccountDrifted: {
    meaning: 'The account is missing on the BMC, switched off, or has another role; it is put right.',
    remedy: 'Find out who else changes accounts on this BMC, if it comes back.',
  },
  AccountLocked: {
    meaning: 'The BMC has locked the account. No login is tried until it is unlocked.',
    remedy: 'Wait, or unlock the account on the BMC; find out who tries wrong passwords.',
  },
  LoginRejected: {
    meaning: 'The BMC took the password and then rejected the login with it. It is not tried again.',
    remedy: 'Give another password, or annotate metal.ironcore.dev/operation=rotate-credentials.',
  },
  LoginForbidden: {
    meaning: 'The BMC knows the account but does not let it log in. It is not tried again.',
    remedy: 'Choose a roleID that may log in, or allow Redfish logins for the account on the BMC.',
  },
  NoFreeAccountSlot: {
    meaning: 'All account slots of the BMC are taken.',
    remedy: 'Delete an account on the BMC. Tried again every ten minutes.',
  },
  AccountRefused: {
    meaning: 'The BMC refused the account: its password, its role or its name.',
    remedy: 'Correct what the message names. Tried again every ten minutes.',
  },
  ConfigurationChanged: { meaning: 'What kept the account in Error is over.', remedy: nothing },
  AccountDeleted: { meaning: 'The account is deleted on the BMC.', remedy: nothing },
  AccountLeftBehind: {
    meaning: 'The BMCUser is gone; its account is perhaps still on the BMC, because the BMC could not be asked.',
    remedy: 'Delete the account on the BMC by hand.',
  },
  AccountKept: {
    meaning: 'The BMCUser is gone; its account stays on the BMC, because the operator itself uses it.',
    remedy: 'Nothing; or give the BMC another bmcSecretRef first, then delete the account by hand.',
  },
} as const satisfies ReasonCatalogue;

export type BmcUserReason = keyof typeof bmcUserReasons;
