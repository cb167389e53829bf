import type { Account, AccountService, LoginAnswer } from '@metal/redfish/accounts.ts';
import type { Password } from '@metal/redfish/bmc.ts';
import type { RedfishError } from '@metal/redfish/errors.ts';

/** One look at the account service. `at` is in milliseconds of the clock. */
export interface AccountLook {
  readonly at: number;
  readonly service: AccountService;
  readonly account: Account | undefined;
}

/** A login that was tried. */
export interface LoginTrial {
  readonly password: Password;
  readonly answer: LoginAnswer;
  readonly at: number;
  /** This process had put that very password on the BMC before. */
  readonly afterPlacing: boolean;
  /** The operator itself was not let in at that time. */
  readonly whileLockedOut: boolean;
}

/** The BMC would not do what was asked; pointless to ask again for the same. */
export interface AccountRefusal {
  readonly error: RedfishError;
  readonly wish: string;
  readonly retryAt: number;
}

/** Whether trying again helps is not known; a refused account is asked for again this much later. */
const refusalStandsForMs = 10 * 60_000;

/** What this process last learned of one account. Lost on restart, and then simply looked up again. */
export class AccountMemory {
  look: AccountLook | undefined;
  trial: LoginTrial | undefined;
  refusal: AccountRefusal | undefined;
  /** UID of a BMCSecret that was made here and whose password no BMC has heard of. */
  freshSecret: string | undefined;
  /** Last time a login was rejected, whatever the password. */
  rejectedAt: number | undefined;
  leavingSince: number | undefined;
  /** The account is dealt with; the BMCUser may go. */
  isDone = false;
  #placed: Password | undefined;

  /** From here on nobody knows what the BMC has, until it answers. */
  beginPlacing(): void {
    this.freshSecret = undefined;
    this.trial = undefined;
    this.look = undefined;
    this.#placed = undefined;
  }

  placed(password: Password): void {
    this.#placed = password;
  }

  /** What was placed is as it should be: whatever differs from now on was somebody else. */
  forgetPlacing(): void {
    this.#placed = undefined;
  }

  isPlaced(password: Password): boolean {
    return this.#placed?.reveal() === password.reveal();
  }

  tried(password: Password, answer: LoginAnswer, at: number, { whileLockedOut }: { whileLockedOut: boolean }): void {
    this.trial = { password, answer, at, afterPlacing: this.isPlaced(password), whileLockedOut };
    if (answer !== 'accepted') this.rejectedAt = at;
  }

  trialOf(password: Password): LoginTrial | undefined {
    return this.trial?.password.reveal() === password.reveal() ? this.trial : undefined;
  }

  refused(error: RedfishError, wish: string, now: number): void {
    this.refusal = { error, wish, retryAt: now + refusalStandsForMs };
  }
}

/** The memories of all accounts, by the UID of their BMCUser, and the turns that accounts of one BMC take. */
export class AccountMemories {
  readonly #memories = new Map<string, AccountMemory>();
  readonly #lines = new Map<string, Promise<unknown>>();

  of(userUid: string): AccountMemory {
    const known = this.#memories.get(userUid);
    if (known !== undefined) return known;
    const memory = new AccountMemory();
    this.#memories.set(userUid, memory);
    return memory;
  }

  forget(userUid: string): void {
    this.#memories.delete(userUid);
  }

  /** One after the other per BMC: two accounts must not fill the same slot. */
  inTurn<T>(bmcName: string, work: () => Promise<T>): Promise<T> {
    const turn = (this.#lines.get(bmcName) ?? Promise.resolve()).then(work);
    const settled = turn
      .catch(() => undefined)
      .then(() => {
        if (this.#lines.get(bmcName) === settled) this.#lines.delete(bmcName);
      });
    this.#lines.set(bmcName, settled);
    return turn;
  }
}
