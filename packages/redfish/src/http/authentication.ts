import { closedError, type RedfishError } from '../errors.ts';
import { unlessAborted } from './aborted.ts';
import type { AuthenticationOptions } from './authentication-options.ts';
import type { Interceptor, Send } from './interceptor.ts';
import { forbiddenInSession, rejectedLogin } from './login-errors.ts';
import { errorFromResponse } from './parse-response.ts';
import type { Credentials } from './password.ts';
import type { RawResponse, RedfishRequest } from './request.ts';
import {
  basicHeaders,
  closeSession,
  isCredentialsError,
  mayTakeBasic,
  openSession,
  type Session,
  type SessionRequest,
} from './session.ts';

/** With Basic the first request is the login. `until`: when a session is tried again; `refused`: the rejection of the last one. */
type AuthState = Session | { readonly kind: 'basic'; readonly until: number; readonly refused?: RedfishError };

/** Permission to send one request with this authentication; disposed of when the response is known. */
interface Permit extends Disposable {
  readonly auth: AuthState;
  /** The response decides whether other requests may use these Basic credentials. */
  readonly verifies: boolean;
}

/** Sessions that are used up at the BMC expire there; after this time one is requested again. */
const sessionsRetryMs = 30 * 60_000;

/**
 * Authenticates the requests to one BMC.
 *
 *   unknown ──login──► session ──401 (expired)──► unknown
 *      │ ├─no sessions there, or refused with anything but 401/403──► basic, one request at a time until one succeeds
 *      │ └─refused with 401/403, but not as wrong credentials──► basic, for one request: 401/403 again──┐
 *      └──wrong credentials on login, 401 with Basic──► rejected ◄──────────────────────────────────────┘
 *
 * Rejected: nothing is sent until the credentials are replaced.
 */
export class Authentication {
  readonly #options: AuthenticationOptions;
  readonly #sessionRequest: SessionRequest;
  #credentials: Credentials;
  #auth: AuthState | undefined;
  #login: Promise<AuthState> | undefined;
  /** A Basic request in flight whose credentials are not verified: its outcome decides whether another may be sent. */
  #verification: Promise<void> | undefined;
  /** Those of the last successful request, if it was with Basic. Replaced ones, or a new password, are not verified. */
  #verifiedCredentials: Credentials | undefined;
  #rejection: RedfishError | undefined;
  /** While the password of this client's own account is changed, either may be valid: logins wait. */
  #passwordChange: Promise<void> | undefined;
  #closed = false;

  constructor(options: AuthenticationOptions) {
    const { origin, clock, deadlineMs, send } = options;
    this.#options = options;
    this.#sessionRequest = { origin, now: () => clock.now(), deadlineMs, send };
    this.#credentials = options.credentials;
  }

  /** The last successful request was with Basic; credentials may have been rejected since. */
  get takesBasic(): boolean {
    return this.#verifiedCredentials !== undefined;
  }

  /** Adds the authentication to a request; logs in before when needed, and once more when the session has expired. */
  readonly intercept: Interceptor = async (request, next) => {
    const permit = await this.#acquirePermit(request.signal);
    if (!permit.verifies || request.method !== 'GET') return this.#sendWith(permit, request, next);
    // Like a login, it outlives its caller: the BMC counts a wrong password all the same, and the next request would repeat it.
    return unlessAborted(this.#sendWith(permit, { ...request, signal: undefined }, next), request.signal);
  };

  async #sendWith(acquired: Permit, request: RedfishRequest, next: Send): Promise<RawResponse> {
    using permit = acquired;
    const { auth } = permit;
    const credentials = this.#credentials;
    const response = await this.#send(request, auth, next);
    if (this.#isRefusedTwice(auth, response)) throw this.#rejectWith(auth, request, response);
    if (response.status !== 401) return this.#markVerified(auth, credentials, response);
    await this.#awaitPasswordChange(request.signal);
    if (auth.kind === 'basic' && credentials === this.#credentials) throw this.#rejectWith(auth, request, response);
    permit[Symbol.dispose]();
    return this.#retryWithNewLogin(request, auth, next);
  }

  async #retryWithNewLogin(request: RedfishRequest, expired: AuthState, next: Send): Promise<RawResponse> {
    this.#clear(expired);
    using permit = await this.#acquirePermit(request.signal);
    const { auth } = permit;
    const credentials = this.#credentials;
    const response = await next(this.#authenticated(request, auth));
    if (this.#isRefusedTwice(auth, response)) throw this.#rejectWith(auth, request, response);
    if (response.status !== 401) return this.#markVerified(auth, credentials, response);
    if (auth.kind === 'basic') throw this.#rejectWith(auth, request, response);
    // The login works, so the credentials are right; the first session is perhaps still open.
    if (expired.kind === 'session') await closeSession(this.#sessionRequest, expired, auth.token);
    throw forbiddenInSession(request, this.#options.origin, this.#credentials.username);
  }

  /** Replaces the credentials, which ends the state `rejected`; the session of the former ones is closed. */
  async replace(credentials: Credentials): Promise<void> {
    await this.#login?.catch(() => undefined);
    const auth = this.#auth;
    this.#clear(auth);
    this.#rejection = undefined;
    // A copy, which is not verified, even if they are the same.
    this.#credentials = { ...credentials };
    if (auth?.kind === 'session') await closeSession(this.#sessionRequest, auth, auth.token);
  }

  /** Closes the session at the BMC, best effort, and rejects further requests. */
  async logout(): Promise<void> {
    this.#closed = true;
    await this.#login?.catch(() => undefined);
    const auth = this.#auth;
    this.#clear(auth);
    if (auth?.kind === 'session') await closeSession(this.#sessionRequest, auth, auth.token);
  }

  #send(request: RedfishRequest, auth: AuthState, next: Send): Promise<RawResponse> {
    const authenticated = this.#authenticated(request, auth);
    const { newCredentials } = request;
    if (newCredentials?.username !== this.#credentials.username) return next(authenticated);
    return this.#changePassword(newCredentials, () => next(authenticated));
  }

  #authenticated(request: RedfishRequest, auth: AuthState): RedfishRequest {
    const added = auth.kind === 'session' ? { 'x-auth-token': auth.token } : basicHeaders(this.#credentials);
    return { ...request, headers: { ...request.headers, ...added } };
  }

  async #changePassword(credentials: Credentials, request: () => Promise<RawResponse>): Promise<RawResponse> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#passwordChange = promise;
    try {
      await this.#login?.catch(() => undefined);
      const response = await request();
      if (response.status < 300) this.#credentials = credentials;
      return response;
    } finally {
      this.#passwordChange = undefined;
      resolve();
    }
  }

  async #awaitPasswordChange(signal: AbortSignal | undefined): Promise<void> {
    if (this.#passwordChange !== undefined) await unlessAborted(this.#passwordChange, signal);
  }

  /** Until Basic credentials are verified one request is sent at a time: a wrong password is sent once, however many callers wait. */
  async #acquirePermit(signal: AbortSignal | undefined): Promise<Permit> {
    for (;;) {
      await this.#awaitPasswordChange(signal);
      const auth = await this.#ensureLoggedIn(signal);
      if (auth.kind === 'session' || this.#verifiedCredentials === this.#credentials)
        return { auth, verifies: false, [Symbol.dispose]: () => undefined };
      if (this.#verification === undefined)
        return { auth, verifies: true, [Symbol.dispose]: this.#beginVerification() };
      await unlessAborted(this.#verification, signal);
    }
  }

  #beginVerification(): () => void {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#verification = promise;
    return () => {
      if (this.#verification === promise) this.#verification = undefined;
      resolve();
    };
  }

  /** Neither a session nor Basic was accepted: the account may have no right to log in. */
  #isRefusedTwice(auth: AuthState, { status }: RawResponse): boolean {
    const isUnverified = this.#verifiedCredentials !== this.#credentials;
    return auth.kind === 'basic' && auth.refused !== undefined && isUnverified && status === 403;
  }

  /** Any other status may have been sent before the BMC checked the password. */
  #markVerified(auth: AuthState, credentials: Credentials, response: RawResponse): RawResponse {
    if (response.status < 300) this.#verifiedCredentials = auth.kind === 'basic' ? credentials : undefined;
    return response;
  }

  /** Concurrent requests share one login; aborting one of them does not abort the login. */
  async #ensureLoggedIn(signal: AbortSignal | undefined): Promise<AuthState> {
    if (this.#rejection !== undefined) throw this.#rejection;
    if (this.#closed) throw closedError();
    const auth = this.#auth;
    if (auth !== undefined && (auth.kind === 'session' || this.#options.clock.now() < auth.until)) return auth;
    this.#login ??= this.#logIn().finally(() => {
      this.#login = undefined;
    });
    return unlessAborted(this.#login, signal);
  }

  async #logIn(): Promise<AuthState> {
    const path = await this.#options.sessionsPath();
    const auth = path === undefined ? basicUntil(Number.POSITIVE_INFINITY) : await this.#tryOpenSession(path);
    this.#auth = auth;
    this.#options.onSessions(auth.kind === 'session' ? 1 : 0);
    return auth;
  }

  async #tryOpenSession(path: string): Promise<AuthState> {
    const { session, rejection } = await openSession(this.#sessionRequest, path, this.#credentials);
    if (session !== undefined) return session;
    if (isCredentialsError(rejection)) return this.#basicAfter(rejection);
    const isPermanent = [404, 405, 501].includes(rejection.status ?? 0);
    return basicUntil(isPermanent ? Number.POSITIVE_INFINITY : this.#options.clock.now() + sessionsRetryMs);
  }

  /** No session is tried again until the credentials change: each rejection may count towards a lockout. */
  #basicAfter(error: RedfishError): AuthState {
    if (!this.#options.basicFallback || !mayTakeBasic(error)) throw this.#reject(error);
    return { ...basicUntil(Number.POSITIVE_INFINITY), refused: error };
  }

  /** A BMC that forbids sessions to an account may answer 401 to its Basic: 403 says that the account may not log in. */
  #rejectWith(auth: AuthState, { method, path }: RedfishRequest, response: RawResponse): RedfishError {
    const { origin, clock } = this.#options;
    if (auth.kind === 'basic' && auth.refused?.status === 403 && !this.takesBasic) return this.#reject(auth.refused);
    return this.#reject(errorFromResponse(response, { origin, method, path }, clock.now()));
  }

  /** Records that the credentials are wrong: each further attempt brings the account closer to its lockout. */
  #reject(error: RedfishError): RedfishError {
    this.#auth = undefined;
    this.#rejection = rejectedLogin(error, this.#options.origin, this.#credentials.username);
    return this.#rejection;
  }

  #clear(auth: AuthState | undefined): void {
    if (auth === undefined || this.#auth !== auth) return;
    this.#auth = undefined;
    this.#options.onSessions(0);
  }
}

const basicUntil = (until: number) => ({ kind: 'basic', until }) as const;
