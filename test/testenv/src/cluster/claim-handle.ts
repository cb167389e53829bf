import { ServerClaim } from '@metal/api/v1alpha1/server-claim.ts';
import type { KubeClient } from '@metal/kube/client/client.ts';
import type { Node } from '@metal/simulator/fleet.ts';
import type { WatchedObject } from './watched-object.ts';

export type ClaimOptions = Partial<ServerClaim['spec']> &
  Pick<ServerClaim['spec'], 'image'> & { on?: Node; name?: string };

/** A claim that a story created. */
export class ClaimHandle {
  readonly #client: KubeClient;
  readonly #claim: ServerClaim;
  readonly watched: WatchedObject<ServerClaim>;

  constructor(client: KubeClient, claim: ServerClaim, watched: WatchedObject<ServerClaim>) {
    this.#client = client;
    this.#claim = claim;
    this.watched = watched;
  }

  get name(): string {
    return this.#claim.metadata.name;
  }

  get uid(): string {
    return this.#claim.metadata.uid ?? '';
  }

  get phase(): string | undefined {
    return this.watched.now?.status?.phase;
  }

  reaches(phase: 'Bound' | 'Unbound'): Promise<ServerClaim> {
    return this.watched.reaches(phase);
  }

  hasReason(reason: string): Promise<ServerClaim> {
    return this.watched.hasReason(reason);
  }

  /** Requests deletion; `isGone` waits for it. */
  async delete(): Promise<void> {
    await this.#client.delete(ServerClaim, this.#claim.metadata, { uid: this.uid });
  }

  isGone(): Promise<void> {
    return this.watched.isGone();
  }
}
