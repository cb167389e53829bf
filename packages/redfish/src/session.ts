import * as z from 'zod';
import { unlessAborted } from './aborted.ts';
import { answeredWith, type Asked, jsonOf, refusalOf } from './answer.ts';
import type { Clock } from './clock.ts';
import { pathOf } from './endpoint.ts';
import { closedError, RedfishError } from './errors.ts';
import type { Password } from './password.ts';
import type { Exchange, RawAnswer } from './transport.ts';

export interface Credentials {
  readonly username: string;
  readonly password: Password;
}

type Send = (exchange: Pick<Exchange, 'method' | 'path' | 'headers' | 'body'>) => Promise<RawAnswer>;

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

type Pass =
  | { readonly kind: 'session'; readonly token: string; readonly path: string | undefined }
  /** With Basic the first request is the login. */
  | { readonly kind: 'basic'; readonly until: number };

/** A request may be sent with this pass; disposed of when it is known what came of that. */
interface Admission extends Disposable {
  readonly pass: Pass;
}

interface Run {
  readonly asked: Asked;
  readonly signal?: AbortSignal | undefined;
  /** What an account has when the request succeeds. */
  readonly newCredentials?: Credentials | undefined;
}

/** A BMC whose sessions are used up is asked again when they have expired there. */
const sessionsRefusedForMs = 30 * 60_000;

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
  #pass: Pass | undefined;
  #login: Promise<Pass> | undefined;
  /** A request with a Basic pass that is not proven: what it brings decides whether another may be sent. */
  #trial: Promise<void> | undefined;
  /** With which the BMC has answered a request with Basic. New ones, and a new password of our own, are others. */
  #proven: Credentials | undefined;
  #rejection: RedfishError | undefined;
  /** While our own password is being changed nobody knows which one the BMC takes: what has to log in waits. */
  #change: Promise<void> | undefined;
  #closed = false;

  constructor(options: AuthenticationOptions) {
    this.#options = options;
    this.#credentials = options.credentials;
  }

  /** Sends an authenticated request; logs in before when needed, and once more when the session has expired. */
  async run(request: (headers: Record<string, string>) => Promise<RawAnswer>, { asked, signal, newCredentials }: Run) {
    using admission = await this.#admitted(signal);
    const { pass } = admission;
    const credentials = this.#credentials;
    const headers = this.#headersOf(pass);
    const isOwn = newCredentials?.username === credentials.username;
    const answer = await (isOwn ? this.#changing(newCredentials, () => request(headers)) : request(headers));
    if (answer.status !== 401) return this.#prove(pass, credentials, answer);
    await this.#settled(signal);
    if (pass.kind === 'basic' && credentials === this.#credentials)
      throw this.#reject(refusalOf(answer, asked, this.#options.clock.now()));
    admission[Symbol.dispose]();
    return this.#again(request, pass, asked, signal);
  }

  /** Until a Basic pass is proven one request goes at a time: a wrong password is sent once, however many ask. */
  async #admitted(signal: AbortSignal | undefined): Promise<Admission> {
    for (;;) {
      await this.#settled(signal);
      const pass = await this.#current(signal);
      if (pass.kind === 'session' || this.#proven === this.#credentials)
        return { pass, [Symbol.dispose]: () => undefined };
      if (this.#trial === undefined) return { pass, [Symbol.dispose]: this.#beginTrial() };
      await unlessAborted(this.#trial, signal);
    }
  }

  #beginTrial(): () => void {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#trial = promise;
    return () => {
      if (this.#trial === promise) this.#trial = undefined;
      resolve();
    };
  }

  async #changing(credentials: Credentials, request: () => Promise<RawAnswer>): Promise<RawAnswer> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#change = promise;
    try {
      await this.#login?.catch(() => undefined);
      const answer = await request();
      if (answer.status < 300) this.#credentials = credentials;
      return answer;
    } finally {
      this.#change = undefined;
      resolve();
    }
  }

  async #settled(signal: AbortSignal | undefined): Promise<void> {
    if (this.#change !== undefined) await (signal === undefined ? this.#change : unlessAborted(this.#change, signal));
  }

  /** Other credentials end the state `rejected`; the session of the former ones is ended. */
  async replace(credentials: Credentials): Promise<void> {
    await this.#login?.catch(() => undefined);
    const pass = this.#pass;
    this.#forget(pass);
    this.#rejection = undefined;
    this.#credentials = credentials;
    if (pass?.kind === 'session') await this.#end(pass, pass.token);
  }

  /** Ends the session at the BMC, best effort, and refuses further use. */
  async logout(): Promise<void> {
    this.#closed = true;
    await this.#login?.catch(() => undefined);
    const pass = this.#pass;
    this.#forget(pass);
    if (pass?.kind === 'session') await this.#end(pass, pass.token);
  }

  async #again(
    request: (headers: Record<string, string>) => Promise<RawAnswer>,
    expired: Pass,
    asked: Asked,
    signal: AbortSignal | undefined,
  ): Promise<RawAnswer> {
    this.#forget(expired);
    using admission = await this.#admitted(signal);
    const { pass } = admission;
    const credentials = this.#credentials;
    const answer = await request(this.#headersOf(pass));
    if (answer.status !== 401) return this.#prove(pass, credentials, answer);
    if (pass.kind === 'basic') throw this.#reject(refusalOf(answer, asked, this.#options.clock.now()));
    // The login works, so the credentials are right and the first session is perhaps still open.
    if (expired.kind === 'session') await this.#end(expired, pass.token);
    throw new RedfishError({
      code: 'Forbidden',
      message: `${answeredWith(asked, 401)} in a fresh session of user "${this.#credentials.username}"; give the account more rights`,
      status: 401,
    });
  }

  /** Concurrent calls share one login; giving up on a call does not end the login of the others. */
  async #current(signal: AbortSignal | undefined): Promise<Pass> {
    if (this.#rejection !== undefined) throw this.#rejection;
    if (this.#closed) throw closedError();
    const pass = this.#pass;
    if (pass !== undefined && (pass.kind === 'session' || this.#options.clock.now() < pass.until)) return pass;
    this.#login ??= this.#logIn().finally(() => {
      this.#login = undefined;
    });
    return signal === undefined ? this.#login : unlessAborted(this.#login, signal);
  }

  async #logIn(): Promise<Pass> {
    const path = await this.#options.sessionsPath();
    const pass = path === undefined ? this.#basic(Number.POSITIVE_INFINITY) : await this.#createSession(path);
    this.#pass = pass;
    this.#options.onSessions(pass.kind === 'session' ? 1 : 0);
    return pass;
  }

  async #createSession(path: string): Promise<Pass> {
    const { origin, clock, send } = this.#options;
    const { username, password } = this.#credentials;
    const body = { UserName: username, Password: password.reveal() };
    const answer = await send({ method: 'POST', path, headers: {}, body });
    const asked = { origin, method: 'POST', path };
    const token = answer.headers['x-auth-token'];
    if (answer.status < 300 && typeof token === 'string') {
      return { kind: 'session', token, path: sessionPathOf(answer, asked) };
    }
    const refusal = refusalOf(answer, asked, clock.now());
    if (refusesCredentials(refusal)) throw this.#reject(refusal);
    const forGood = [404, 405, 501].includes(answer.status);
    return this.#basic(forGood ? Number.POSITIVE_INFINITY : clock.now() + sessionsRefusedForMs);
  }

  #basic(until: number): Pass {
    return { kind: 'basic', until };
  }

  #headersOf(pass: Pass): Record<string, string> {
    if (pass.kind === 'session') return { 'x-auth-token': pass.token };
    const { username, password } = this.#credentials;
    const pair = Buffer.from(`${username}:${password.reveal()}`, 'utf8').toString('base64');
    return { authorization: `Basic ${pair}` };
  }

  /** What is refused or fails may have been answered before anybody looked at the password. */
  #prove(pass: Pass, credentials: Credentials, answer: RawAnswer): RawAnswer {
    if (pass.kind === 'basic' && answer.status < 300) this.#proven = credentials;
    return answer;
  }

  /** Remembers that the credentials are wrong: each further try would bring the account closer to its lock. */
  #reject({ status, messageIds }: RedfishError): RedfishError {
    this.#proven = undefined;
    const { origin } = this.#options;
    this.#pass = undefined;
    const remedy = status === 403 ? ', or give the user the right to log in' : '';
    this.#rejection = new RedfishError({
      code: 'AuthenticationFailed',
      message: `${origin} rejected user "${this.#credentials.username}" with ${status}${messageIds.length > 0 ? ` (${messageIds.join(', ')})` : ''}; correct the credentials${remedy}. User and password are not sent again until they change, so that the account is not locked`,
      status,
      messageIds,
    });
    return this.#rejection;
  }

  #forget(pass: Pass | undefined): void {
    if (pass === undefined || this.#pass !== pass) return;
    this.#pass = undefined;
    this.#options.onSessions(0);
  }

  /** A session that cannot be ended expires at the BMC by itself. */
  async #end({ path }: Pass & { kind: 'session' }, token: string): Promise<void> {
    if (path === undefined) return;
    await this.#options.send({ method: 'DELETE', path, headers: { 'x-auth-token': token } }).catch(() => undefined);
  }
}

const created = z.object({ '@odata.id': z.string() });

function sessionPathOf(answer: RawAnswer, asked: Asked): string | undefined {
  const { location } = answer.headers;
  if (location !== undefined) return pathOf(location);
  try {
    const body = created.safeParse(jsonOf(answer, asked));
    return body.success ? pathOf(body.data['@odata.id']) : undefined;
  } catch {
    // The session works without its address; it just cannot be ended early.
    return undefined;
  }
}

/** iLO answers 400 to a wrong password and says so only in the message identifier. */
function refusesCredentials({ status, messageIds }: RedfishError): boolean {
  return (
    status === 401 ||
    status === 403 ||
    messageIds.some((id) => /Unauthorized|InvalidCredential|AccountLocked/i.test(id))
  );
}
