import { Server } from '@metal/api/v1alpha1/server.ts';
import { ServerClaim } from '@metal/api/v1alpha1/server-claim.ts';
import { userDataSecretType } from '@metal/api/wire/contract.ts';
import { Secret } from '@metal/kube/kinds/builtin.ts';
import type { KubeClient } from '@metal/kube/client/client.ts';
import type { Clock } from '@metal/kube/runtime/clock.ts';
import { KubeError } from '@metal/kube/errors.ts';
import type { EventRecorder, EventText } from '@metal/kube/client/events.ts';
import type { Kind, KubeObject, ObjectRef } from '@metal/kube/kinds/kind.ts';
import type { Logger } from 'pino';
import { HttpError } from '@metal/http/http-error.ts';
import { RequestLimiter } from '@metal/http/request-limiter.ts';

export interface UserDataOptions {
  client: Pick<KubeClient, 'find'>;
  events: EventRecorder;
  clock: Clock;
  log: Logger;
}

/**
 * Machines whose user data is read at the same time, with one request each at a time. Together with the 24 requests of the boot
 * service, which may share the connections, this is the number of connections to the API server.
 */
const maxConcurrent = 8;
const queueTimeoutMs = 5_000;
/** An API server that hangs must not block a machine. */
const deadlineMs = 10_000;
const retryAfterSeconds = 5;

const overloaded = (): HttpError =>
  new HttpError(503, 'too many machines ask at once; try again', { retryAfterSeconds });

type ClaimRef = NonNullable<Server['spec']['serverClaimRef']>;

interface Reading {
  readonly about: string;
  readonly deadline: AbortSignal;
  /** No further read starts after that. A running read continues: an abort would close its connection, see docs/decisions/0058. */
  readonly gone: AbortSignal;
  readonly onError?: (error: KubeError) => void;
}

/** The values by key, or the reason why there are none. */
export type UserData =
  | { readonly values: ReadonlyMap<string, Buffer>; readonly reason?: never }
  | { readonly values?: never; readonly reason: string };

/**
 * Reads the user data of the claim that is bound to the server, by UID. No Secret is read for a server that is not Reserved.
 *
 * Many machines that start at the same time request their user data together. Requests beyond the limit wait in this
 * process, and not among the API requests of others.
 */
export class UserDataReader {
  readonly #options: UserDataOptions;
  readonly #limiter: RequestLimiter;

  constructor(options: UserDataOptions) {
    this.#options = options;
    this.#limiter = new RequestLimiter({ maxConcurrent, queueTimeoutMs, overloaded, clock: options.clock });
  }

  /**
   * No read starts after `gone`.
   * @throws HttpError 500 if the user data cannot be read, 503 on overload; the reason of `gone`
   */
  async of(server: Server, gone: AbortSignal): Promise<UserData> {
    const cached = holdingClaim(server);
    if (cached.ref === undefined) return cached;
    const about = server.metadata.name;
    return this.#limiter.run(() => this.#readOf(server, { about, deadline: AbortSignal.timeout(deadlineMs), gone }));
  }

  /** The cache may lag: the Server itself is read, as the claim may have been released or evicted. */
  async #readOf({ metadata: { name: serverName, uid } }: Server, reading: Reading): Promise<UserData> {
    const server = await this.#find(Server, { name: serverName }, reading);
    if (server === undefined || server.metadata.uid !== uid) return { reason: 'this server is gone' };
    const { ref, reason } = holdingClaim(server);
    if (ref === undefined) return { reason };
    const claim = await this.#find(ServerClaim, ref, reading);
    if (claim === undefined) return { reason: 'the claim of this server is gone' };
    if (ref.uid === undefined) return { reason: 'the server does not say by UID which claim holds it' };
    if (claim.metadata.uid !== ref.uid)
      return { reason: 'this server is held by an earlier claim of the same name; it is given back first' };
    const { name } = claim.spec.userDataRef ?? {};
    if (name === undefined || name === '') return { reason: 'the claim refers to no user data' };
    return this.#readSecret(claim, name, reading);
  }

  async #readSecret(claim: ServerClaim, name: string, reading: Reading): Promise<UserData> {
    const { name: about, namespace } = claim.metadata;
    const onError = (error: KubeError) => this.#recordEvent(claim, unreadable(error, name));
    const secret = await this.#find(Secret, { namespace, name }, { ...reading, about, onError });
    if (secret === undefined) return { reason: 'the Secret that the claim refers to does not exist' };
    if (secret.type !== userDataSecretType) {
      this.#recordEvent(claim, wrongType(secret));
      throw new HttpError(500, `wrong secret type for user-data '${secret.type ?? ''}'`);
    }
    const values = Object.entries(secret.data ?? {}).map(([key, text]) => [key, Buffer.from(text, 'base64')] as const);
    return { values: new Map(values) };
  }

  /** Errors of the API server stay in the log. */
  async #find<T extends KubeObject>(
    kind: Kind<T>,
    ref: ObjectRef,
    { about, deadline, gone, onError }: Reading,
  ): Promise<T | undefined> {
    gone.throwIfAborted();
    try {
      return await this.#options.client.find(kind, ref, { signal: deadline });
    } catch (error) {
      if (!(error instanceof KubeError)) throw error;
      this.#options.log.error({ about, code: error.code, err: error }, 'user data cannot be read');
      onError?.(error);
      throw new HttpError(500, 'user data cannot be read now; try again', { cause: error });
    }
  }

  #recordEvent(claim: ServerClaim, text: Pick<EventText, 'reason' | 'note'>): void {
    this.#options.events.record(claim, { type: 'Warning', action: 'ServeMetadata', ...text });
  }
}

/** The reference to the claim that may read its user data from this server, or the reason why there is none. */
function holdingClaim({ spec, status }: Server): { ref: ClaimRef; reason?: never } | { ref?: never; reason: string } {
  const ref = spec.serverClaimRef;
  if (ref === undefined) return { reason: 'no claim holds this server' };
  if (status?.state !== 'Reserved') return { reason: `this server is ${status?.state ?? 'Initial'}, not Reserved` };
  return ref.evicted === true ? { reason: 'the claim of this server was evicted' } : { ref };
}

const unreadable = ({ code }: KubeError, secret: string): Pick<EventText, 'reason' | 'note'> => ({
  reason: 'UserDataUnreadable',
  note:
    code === 'Forbidden'
      ? `the metadata service may not read Secret ${secret}: bind the ClusterRole metal-operator-user-data-reader to it in this namespace`
      : `the metadata service could not read Secret ${secret} (${code}); the machine has to ask again`,
});

const wrongType = ({ metadata, type }: Secret): Pick<EventText, 'reason' | 'note'> => ({
  reason: 'UserDataOfWrongType',
  note: `Secret ${metadata.name} is of type ${type ?? 'none'}; expected ${userDataSecretType}. The type of a Secret cannot be changed: make it anew`,
});
