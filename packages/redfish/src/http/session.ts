import * as z from 'zod';
import { unlessAborted } from './aborted.ts';
import { describeStatus, type RequestContext, jsonOf, errorFromResponse } from './parse-response.ts';
import type { Clock } from './clock.ts';
import { pathOf } from '../endpoint.ts';
import { closedError, RedfishError } from '../errors.ts';
import type { Password } from './password.ts';
import type { HttpRequest, RawResponse } from './transport.ts';

export interface Credentials {
  readonly username: string;
  readonly password: Password;
}

type Send = (request: Pick<HttpRequest, 'method' | 'path' | 'headers' | 'body'>) => Promise<RawResponse>;

export interface AuthenticationOptions {
  readonly origin: string;
  readonly clock: Clock;
  readonly credentials: Credentials;
  /** One exchange, without waiting for a turn: a login happens within the turn of the call that needs it. */
  readonly send: Send;
  /** Where sessions are created; undefined when the BMC has no sessions. */
  readonly sessionsPath: () => Promise<string | undefined>;
  readonly onSessions: (count: number) => void;
}

type AuthState =
  | { readonly kind: 'session'; readonly token: string; readonly path: string | undefined }
  /** With Basic the first request is the login. */
  | { readonly kind: 'basic'; readonly until: number };

/** A request may be sent with this pass; disposed of when it is known what came of that. */
interface Permit extends Disposable {
  readonly auth: AuthState;
}

interface RunOptions {
  readonly context: RequestContext;
  readonly signal?: AbortSignal | undefined;
  /** What an account has when the request succeeds. */
  readonly newCredentials?: Credentials | undefined;
}

/** A BMC whose sessions are used up is asked again when they have expired there. */
const sessionsRetryMs = 30 * 60_000;

/**
 * Who we are at one BMC.
 *
 *   unknown ──login──► session ──401 (expired)──► unknown
 *      │ └─no sessions there, or refused with anything but 401/403──► basic, one request at a time until one succeeds
 *      └──401/403 on login, 401 with Basic──► rejected: no traffic until new credentials come
 */
export class Authentication {
  readonly #options: AuthenticationOptions;
  #credentials: Credentials;
  #auth: AuthState | undefined;
  #login: Promise<AuthState> | undefined;
  /** A request with a Basic pass that is not proven: what it brings decides whether another may be sent. */
  #verification: Promise<void> | undefined;
  /** With which the BMC has answered a request with Basic. New ones, and a new password of our own, are others. */
  #verifiedCredentials: Credentials | undefined;
  #rejection: RedfishError | undefined;
  /** While our own password is being changed nobody knows which one the BMC takes: what has to log in waits. */
  #passwordChange: Promise<void> | undefined;
  #closed = false;

  constructor(options: AuthenticationOptions) {
    this.#options = options;
    this.#credentials = options.credentials;
  }

  /** Sends an authenticated request; logs in before when needed, and once more when the session has expired. */
  async run(
    request: (headers: Record<string, string>) => Promise<RawResponse>,
    { context, signal, newCredentials }: RunOptions,
  ) {
    using permit = await this.#acquirePermit(signal);
    const { auth } = permit;
    const credentials = this.#credentials;
    const headers = this.#headersOf(auth);
    const isOwn = newCredentials?.username === credentials.username;
    const response = await (isOwn ? this.#changePassword(newCredentials, () => request(headers)) : request(headers));
    if (response.status !== 401) return this.#markVerified(auth, credentials, response);
    await this.#awaitPasswordChange(signal);
    if (auth.kind === 'basic' && credentials === this.#credentials)
      throw this.#reject(errorFromResponse(response, context, this.#options.clock.now()));
    permit[Symbol.dispose]();
    return this.#retryWithNewLogin(request, auth, context, signal);
  }

  /** Until a Basic pass is proven one request goes at a time: a wrong password is sent once, however many ask. */
  async #acquirePermit(signal: AbortSignal | undefined): Promise<Permit> {
    for (;;) {
      await this.#awaitPasswordChange(signal);
      const auth = await this.#ensureLoggedIn(signal);
      if (auth.kind === 'session' || this.#verifiedCredentials === this.#credentials)
        return { auth, [Symbol.dispose]: () => undefined };
      if (this.#verification === undefined) return { auth, [Symbol.dispose]: this.#beginVerification() };
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
    if (this.#passwordChange !== undefined)
      await (signal === undefined ? this.#passwordChange : unlessAborted(this.#passwordChange, signal));
  }

  /** Other credentials end the state `rejected`; the session of the former ones is ended. */
  async replace(credentials: Credentials): Promise<void> {
    await this.#login?.catch(() => undefined);
    const auth = this.#auth;
    this.#clear(auth);
    this.#rejection = undefined;
    this.#credentials = credentials;
    if (auth?.kind === 'session') await this.#endSession(auth, auth.token);
  }

  /** Ends the session at the BMC, best effort, and refuses further use. */
  async logout(): Promise<void> {
    this.#closed = true;
    await this.#login?.catch(() => undefined);
    const auth = this.#auth;
    this.#clear(auth);
    if (auth?.kind === 'session') await this.#endSession(auth, auth.token);
  }

  async #retryWithNewLogin(
    request: (headers: Record<string, string>) => Promise<RawResponse>,
    expired: AuthState,
    context: RequestContext,
    signal: AbortSignal | undefined,
  ): Promise<RawResponse> {
    this.#clear(expired);
    using permit = await this.#acquirePermit(signal);
    const { auth } = permit;
    const credentials = this.#credentials;
    const response = await request(this.#headersOf(auth));
    if (response.status !== 401) return this.#markVerified(auth, credentials, response);
    if (auth.kind === 'basic') throw this.#reject(errorFromResponse(response, context, this.#options.clock.now()));
    // The login works, so the credentials are right and the first session is perhaps still open.
    if (expired.kind === 'session') await this.#endSession(expired, auth.token);
    throw new RedfishError({
      code: 'Forbidden',
      message: `${describeStatus(context, 401)} in a fresh session of user "${this.#credentials.username}"; give the account more rights`,
      status: 401,
    });
  }

  /** Concurrent calls share one login; giving up on a call does not end the login of the others. */
  async #ensureLoggedIn(signal: AbortSignal | undefined): Promise<AuthState> {
    if (this.#rejection !== undefined) throw this.#rejection;
    if (this.#closed) throw closedError();
    const auth = this.#auth;
    if (auth !== undefined && (auth.kind === 'session' || this.#options.clock.now() < auth.until)) return auth;
    this.#login ??= this.#logIn().finally(() => {
      this.#login = undefined;
    });
    return signal === undefined ? this.#login : unlessAborted(this.#login, signal);
  }

  async #logIn(): Promise<AuthState> {
    const path = await this.#options.sessionsPath();
    const auth = path === undefined ? this.#basic(Number.POSITIVE_INFINITY) : await this.#createSession(path);
    this.#auth = auth;
    this.#options.onSessions(auth.kind === 'session' ? 1 : 0);
    return auth;
  }

  async #createSession(path: string): Promise<AuthState> {
    const { origin, clock, send } = this.#options;
    const { username, password } = this.#credentials;
    const body = { UserName: username, Password: password.reveal() };
    const response = await send({ method: 'POST', path, headers: {}, body });
    const context = { origin, method: 'POST', path };
    const token = response.headers['x-auth-token'];
    if (response.status < 300 && typeof token === 'string') {
      return { kind: 'session', token, path: sessionPathOf(response, context) };
    }
    const error = errorFromResponse(response, context, clock.now());
    if (isCredentialsError(error)) throw this.#reject(error);
    const isPermanent = [404, 405, 501].includes(response.status);
    return this.#basic(isPermanent ? Number.POSITIVE_INFINITY : clock.now() + sessionsRetryMs);
  }

  #basic(until: number): AuthState {
    return { kind: 'basic', until };
  }

  #headersOf(auth: AuthState): Record<string, string> {
    if (auth.kind === 'session') return { 'x-auth-token': auth.token };
    const { username, password } = this.#credentials;
    const pair = Buffer.from(`${username}:${password.reveal()}`, 'utf8').toString('base64');
    return { authorization: `Basic ${pair}` };
  }

  /** What is refused or fails may have been answered before anybody looked at the password. */
  #markVerified(auth: AuthState, credentials: Credentials, response: RawResponse): RawResponse {
    if (auth.kind === 'basic' && response.status < 300) this.#verifiedCredentials = credentials;
    return response;
  }

  /** Remembers that the credentials are wrong: each further try would bring the account closer to its lock. */
  #reject({ status, messageIds }: RedfishError): RedfishError {
    this.#verifiedCredentials = undefined;
    const { origin } = this.#options;
    this.#auth = undefined;
    const remedy = status === 403 ? ', or give the user the right to log in' : '';
    this.#rejection = new RedfishError({
      code: 'AuthenticationFailed',
      message: `${origin} rejected user "${this.#credentials.username}" with ${status}${messageIds.length > 0 ? ` (${messageIds.join(', ')})` : ''}; correct the credentials${remedy}. User and password are not sent again until they change, so that the account is not locked`,
      status,
      messageIds,
    });
    return this.#rejection;
  }

  #clear(auth: AuthState | undefined): void {
    if (auth === undefined || this.#auth !== auth) return;
    this.#auth = undefined;
    this.#options.onSessions(0);
  }

  /** A session that cannot be ended expires at the BMC by itself. */
  async #endSession({ path }: AuthState & { kind: 'session' }, token: string): Promise<void> {
    if (path === undefined) return;
    await this.#options.send({ method: 'DELETE', path, headers: { 'x-auth-token': token } }).catch(() => undefined);
  }
}

const created = z.object({ '@odata.id': z.string() });

function sessionPathOf(response: RawResponse, context: RequestContext): string | undefined {
  const { location } = response.headers;
  if (location !== undefined) return pathOf(location);
  try {
    const body = created.safeParse(jsonOf(response, context));
    return body.success ? pathOf(body.data['@odata.id']) : undefined;
  } catch {
    // The session works without its address; it just cannot be ended early.
    return undefined;
  }
}

/** iLO answers 400 to a wrong password and says so only in the message identifier. */
function isCredentialsError({ status, messageIds }: RedfishError): boolean {
  return (
    status === 401 ||
    status === 403 ||
    messageIds.some((id) => /Unauthorized|InvalidCredential|AccountLocked/i.test(id))
  );
}
