import type { Account, AccountService, LoginResult } from '@metal/redfish/resources/accounts.ts';
import type { Password } from '@metal/redfish/http/bmc.ts';
import type { RedfishError } from '@metal/redfish/errors.ts';

/** One look at the account service. `at` is in milliseconds of the clock. */
export interface AccountObservation {
  readonly at: number;
  readonly service: AccountService;
  readonly account: Account | undefined;
}

/** A login that was tried. */
export interface LoginVerification {
  readonly password: Password;
  readonly result: LoginResult;
  readonly at: number;
  /** This process had put that very password on the BMC before. */
  readonly afterPasswordWrite: boolean;
  /** The operator itself was not let in at that time. */
  readonly whileLockedOut: boolean;
}

/** The BMC would not do what was asked; pointless to ask again for the same. */
export interface AccountRejection {
  readonly error: RedfishError;
  readonly desired: string;
  readonly retryAt: number;
}

/** Whether trying again helps is not known; a refused account is asked for again this much later. */
const rejectionTtlMs = 10 * 60_000;

/** What this process last learned of one account. Lost on restart, and then simply looked up again. */
export class ObservedAccount {
  observation: AccountObservation | undefined;
  verification: LoginVerification | undefined;
  rejection: AccountRejection | undefined;
  /** UID of a BMCSecret that was made here and whose password no BMC has heard of. */
  freshSecret: string | undefined;
  /** Last time a login was rejected, whatever the password. */
  rejectedAt: number | undefined;
  deletingSince: number | undefined;
  /** The account is dealt with; the BMCUser may go. */
  isDone = false;
  #writtenPassword: Password | undefined;

  /** From here on nobody knows what the BMC has, until it answers. */
  beginPasswordWrite(): void {
    this.freshSecret = undefined;
    this.verification = undefined;
    this.observation = undefined;
    this.#writtenPassword = undefined;
  }

  recordWrittenPassword(password: Password): void {
    this.#writtenPassword = password;
  }

  /** What was placed is as it should be: whatever differs from now on was somebody else. */
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

/** The memories of all accounts, by the UID of their BMCUser, and the turns that accounts of one BMC take. */
export class ObservedAccounts {
  readonly #accounts = new Map<string, ObservedAccount>();
  readonly #queues = new Map<string, Promise<unknown>>();

  of(userUid: string): ObservedAccount {
    const known = this.#accounts.get(userUid);
    if (known !== undefined) return known;
    const account = new ObservedAccount();
    this.#accounts.set(userUid, account);
    return account;
  }

  forget(userUid: string): void {
    this.#accounts.delete(userUid);
  }

  /** One after the other per BMC: two accounts must not fill the same slot. */
  enqueue<T>(bmcName: string, work: () => Promise<T>): Promise<T> {
    const run = (this.#queues.get(bmcName) ?? Promise.resolve()).then(work);
    const finished = run
      .catch(() => undefined)
      .then(() => {
        if (this.#queues.get(bmcName) === finished) this.#queues.delete(bmcName);
      });
    this.#queues.set(bmcName, finished);
    return run;
  }
}
