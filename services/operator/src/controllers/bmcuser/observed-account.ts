import type { Account, AccountService } from '@metal/redfish/resources/accounts.ts';
import type { LoginResult } from '@metal/redfish/resources/login.ts';
import type { Password } from '@metal/redfish/http/bmc.ts';
import type { BMCUser } from '@metal/api/v1alpha1/bmc-user.ts';
import type { RedfishError } from '@metal/redfish/errors.ts';

/** One read of the account service. `at` is in milliseconds of the clock. */
export interface AccountObservation {
  readonly at: number;
  readonly service: AccountService;
  readonly account: Account | undefined;
}

/** Result of one login. */
export interface LoginVerification {
  readonly password: Password;
  readonly result: LoginResult;
  readonly at: number;
  /** True if this process had written this password to the BMC before. */
  readonly afterPasswordWrite: boolean;
  /** True if the BMC rejected the operator's own login at that time. */
  readonly whileLockedOut: boolean;
}

/** The BMC rejected a change of the account. The same change is not sent again before `retryAt`. */
export interface AccountRejection {
  readonly error: RedfishError;
  readonly desired: string;
  readonly retryAt: number;
}

/** A rejected change is sent again after this long: its cause may have gone. */
const rejectionTtlMs = 10 * 60_000;

/** Memory of one account. Lost on restart; the BMC is read again then. */
export class ObservedAccount {
  observation: AccountObservation | undefined;
  verification: LoginVerification | undefined;
  rejection: AccountRejection | undefined;
  /** UID of a BMCSecret that this process created and whose password no BMC has. */
  freshSecret: string | undefined;
  /** Last time a login was rejected, whatever the password. */
  rejectedAt: number | undefined;
  deletingSince: number | undefined;
  /** The account is deleted or kept; the finalizer may be removed. */
  isDone = false;
  #writtenPassword: Password | undefined;

  /** From here until the BMC responds the password of the account is unknown. */
  beginPasswordWrite(): void {
    this.freshSecret = undefined;
    this.verification = undefined;
    this.observation = undefined;
    this.#writtenPassword = undefined;
  }

  recordWrittenPassword(password: Password): void {
    this.#writtenPassword = password;
  }

  /** The account is as desired: a later difference is a foreign change. */
  clearWrittenPassword(): void {
    this.#writtenPassword = undefined;
  }

  isWrittenPassword(password: Password): boolean {
    return this.#writtenPassword?.reveal() === password.reveal();
  }

  recordVerification(
    password: Password,
    result: LoginResult,
    at: number,
    { whileLockedOut }: { whileLockedOut: boolean },
  ): void {
    this.verification = { password, result, at, afterPasswordWrite: this.isWrittenPassword(password), whileLockedOut };
    if (result !== 'accepted') this.rejectedAt = at;
  }

  verificationOf(password: Password): LoginVerification | undefined {
    return this.verification?.password.reveal() === password.reveal() ? this.verification : undefined;
  }

  recordRejection(error: RedfishError, desired: string, now: number): void {
    this.rejection = { error, desired, retryAt: now + rejectionTtlMs };
  }
}

/** Records when the deletion was first observed: an account that cannot be deleted is abandoned later. */
export function observeBmcUser(
  memory: ObservedAccount,
  { metadata }: BMCUser,
  _context: unknown,
  { now }: { now: number },
): void {
  if (metadata.deletionTimestamp !== undefined) memory.deletingSince ??= now;
}
