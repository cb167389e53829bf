import type { Server } from '@metal/api/v1alpha1/server.ts';
import { ServerClaim } from '@metal/api/v1alpha1/server-claim.ts';
import { userDataSecretType } from '@metal/api/wire/contract.ts';
import { Secret } from '@metal/kube/builtin.ts';
import type { KubeClient } from '@metal/kube/client.ts';
import { KubeError } from '@metal/kube/errors.ts';
import type { EventRecorder, EventText } from '@metal/kube/events.ts';
import type { Logger } from 'pino';
import { Refusal } from './refusal.ts';

export interface UserDataOptions {
  client: KubeClient;
  events: EventRecorder;
  log: Logger;
}

/** The values by key, or why there are none. */
export type UserData =
  | { readonly values: ReadonlyMap<string, Buffer>; readonly reason?: never }
  | { readonly values?: never; readonly reason: string };

/**
 * User data of the claim that holds the server now. A claim that only has the name of the one that was bound gets
 * nothing, and nobody's Secret is read for a server that is not Reserved.
 */
export class UserDataReader {
  readonly #options: UserDataOptions;

  constructor(options: UserDataOptions) {
    this.#options = options;
  }

  /** @throws Refusal 500 when there is user data and it cannot be given. */
  async of({ metadata, spec, status }: Server): Promise<UserData> {
    const ref = spec.serverClaimRef;
    if (ref === undefined) return { reason: 'no claim holds this server' };
    if (status?.state !== 'Reserved') return { reason: `this server is ${status?.state ?? 'Initial'}, not Reserved` };
    const claim = await this.#orRefuse(metadata.name, () => this.#options.client.find(ServerClaim, ref));
    if (claim === undefined) return { reason: 'the claim of this server is gone' };
    if (ref.uid === undefined) return { reason: 'the server does not say by UID which claim holds it' };
    if (claim.metadata.uid !== ref.uid)
      return { reason: 'this server is held by an earlier claim of the same name; it is given back first' };
    const { name } = claim.spec.userDataRef ?? {};
    if (name === undefined || name === '') return { reason: 'the claim refers to no user data' };
    return this.#read(claim, name);
  }

  async #read(claim: ServerClaim, name: string): Promise<UserData> {
    const { namespace } = claim.metadata;
    const secret = await this.#orRefuse(
      claim.metadata.name,
      () => this.#options.client.find(Secret, { namespace, name }),
      (error) => this.#tell(claim, unreadable(error, name)),
    );
    if (secret === undefined) return { reason: 'the Secret that the claim refers to does not exist' };
    if (secret.type !== userDataSecretType) {
      this.#tell(claim, wrongType(secret));
      throw new Refusal(500, `wrong secret type for user-data '${secret.type ?? ''}'`);
    }
    const values = Object.entries(secret.data ?? {}).map(([key, text]) => [key, Buffer.from(text, 'base64')] as const);
    return { values: new Map(values) };
  }

  /** What the API server says stays in our log. */
  async #orRefuse<T>(about: string, call: () => Promise<T>, onError?: (error: KubeError) => void): Promise<T> {
    try {
      return await call();
    } catch (error) {
      if (!(error instanceof KubeError)) throw error;
      this.#options.log.error({ about, code: error.code, err: error }, 'user data cannot be read');
      onError?.(error);
      throw new Refusal(500, 'user data cannot be read now; try again', { cause: error });
    }
  }

  #tell(claim: ServerClaim, text: Pick<EventText, 'reason' | 'note'>): void {
    this.#options.events.record(claim, { type: 'Warning', action: 'ServeMetadata', ...text });
  }
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
