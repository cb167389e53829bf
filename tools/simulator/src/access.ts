import { randomBytes } from 'node:crypto';
import type { Clock } from './clock.ts';

export interface Account {
  readonly id: string;
  /** Empty for an unused slot. */
  username: string;
  password: string;
  role: string;
  enabled: boolean;
  /** RFC 3339; reported unchanged. */
  passwordExpiration: string | undefined;
}

export interface Session {
  readonly id: string;
  readonly username: string;
  readonly createdAt: number;
  usedAt: number;
  readonly client: string;
}

export interface AccessLimits {
  /** Concurrent sessions; undefined when the BMC offers none. */
  readonly sessionCap: number | undefined;
  /** Idle timeout of a session. */
  readonly sessionIdleMs: number;
  /** Consecutive wrong passwords that lock the account. */
  readonly lockAfterFailures: number;
  readonly lockForMs: number;
  /** Number of fixed account slots; undefined when accounts can be created and deleted. */
  readonly accountSlots: number | undefined;
}

/** On the label of the device. */
export const factoryAccount = { username: 'factory', password: 'on-the-label' };

/** Accounts, sessions and the account lockout of one BMC. */
export class Access {
  readonly accounts: Account[];
  /** Wrong user names or passwords since the start; a correct client causes one at most. */
  failedLogins = 0;
  readonly #clock: Clock;
  readonly #limits: AccessLimits;
  readonly #sessions = new Map<string, Session>();
  readonly #watchers = new Set<() => void>();
  #failuresInRow = 0;
  #lockedUntil = 0;

  constructor(clock: Clock, limits: AccessLimits, first: Pick<Account, 'username' | 'password'>) {
    this.#clock = clock;
    this.#limits = limits;
    this.accounts = accountsWith(first, limits.accountSlots);
  }

  /** Back to the factory account. Its password is not known to anybody who used the BMC before. */
  resetAccounts(): void {
    this.accounts.splice(0, this.accounts.length, ...accountsWith(factoryAccount, this.#limits.accountSlots));
    this.changed();
  }

  /** The factory account of the BMC. */
  get first(): Account | undefined {
    return this.accounts.find(({ username }) => username !== '');
  }

  /** Called after a login, a change of accounts, or a command of the shell. */
  onChange(watcher: () => void): Disposable {
    this.#watchers.add(watcher);
    return { [Symbol.dispose]: () => void this.#watchers.delete(watcher) };
  }

  changed(): void {
    for (const watcher of this.#watchers) watcher();
  }

  get sessions(): readonly Session[] {
    this.#expire();
    return [...this.#sessions.values()];
  }

  get isLocked(): boolean {
    return this.#clock.now() < this.#lockedUntil;
  }

  /** The account, or the reason of the rejection. A locked BMC does not check the password. */
  authenticate(username: unknown, password: unknown): Account | undefined {
    const account = this.accounts.find(
      (candidate) => candidate.enabled && candidate.username === username && username !== '',
    );
    if (!this.isLocked && account !== undefined && account.password === password) {
      this.#failuresInRow = 0;
      return account;
    }
    this.failedLogins += 1;
    this.#failuresInRow += 1;
    if (this.#failuresInRow >= this.#limits.lockAfterFailures) {
      this.#failuresInRow = 0;
      this.#lockedUntil = this.#clock.now() + this.#limits.lockForMs;
    }
    return undefined;
  }

  authenticateBasic(authorization: string): Account | undefined {
    const [scheme, encoded = ''] = authorization.split(' ', 2);
    if (scheme?.toLowerCase() !== 'basic') return undefined;
    const pair = Buffer.from(encoded, 'base64').toString('utf8');
    const colon = pair.indexOf(':');
    return this.authenticate(pair.slice(0, Math.max(colon, 0)), pair.slice(colon + 1));
  }

  /** Undefined when all sessions are in use. */
  openSession(username: string, client: string): { session: Session; token: string } | undefined {
    this.#expire();
    if (this.#sessions.size >= (this.#limits.sessionCap ?? 0)) return undefined;
    const now = this.#clock.now();
    const session = { id: randomBytes(4).toString('hex'), username, createdAt: now, usedAt: now, client };
    const token = randomBytes(16).toString('hex');
    this.#sessions.set(token, session);
    this.changed();
    return { session, token };
  }

  /** The account of an open session, which is used by this. */
  useSession(token: string): Account | undefined {
    this.#expire();
    const session = this.#sessions.get(token);
    if (session === undefined) return undefined;
    session.usedAt = this.#clock.now();
    return this.accounts.find(({ username }) => username === session.username);
  }

  /** The session of a token, without using it. */
  sessionOf(token: string): Session | undefined {
    return this.#sessions.get(token);
  }

  closeSession(id: string): boolean {
    for (const [token, session] of this.#sessions) if (session.id === id) return this.#sessions.delete(token);
    return false;
  }

  /** The sessions of one user, or of all. */
  dropSessions(ofUser?: string): void {
    for (const [token, { username }] of this.#sessions)
      if (ofUser === undefined || username === ofUser) this.#sessions.delete(token);
  }

  #expire(): void {
    const oldest = this.#clock.now() - this.#limits.sessionIdleMs;
    for (const [token, { usedAt }] of this.#sessions) if (usedAt < oldest) this.#sessions.delete(token);
  }
}

/** With fixed slots the first is reserved and the second is the factory account. */
function accountsWith(
  { username, password }: Pick<Account, 'username' | 'password'>,
  slots: number | undefined,
): Account[] {
  const ids = Array.from({ length: slots ?? 1 }, (_, index) => String(index + 1));
  const firstId = slots === undefined ? '1' : '2';
  return ids.map((id) =>
    id === firstId
      ? { id, username, password, role: 'Administrator', enabled: true, passwordExpiration: undefined }
      : { id, username: '', password: '', role: 'None', enabled: false, passwordExpiration: undefined },
  );
}
