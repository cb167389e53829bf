import { ServerClaim } from '@metal/api/v1alpha1/server-claim.ts';
import type { KubeClient } from '@metal/kube/client.ts';
import type { Node } from '@metal/simulator/fleet.ts';
import type { Subject } from './subject.ts';

export type ClaimWish = Partial<ServerClaim['spec']> &
  Pick<ServerClaim['spec'], 'image'> & { on?: Node; name?: string };

/** A claim that a story made. */
export class ClaimHandle {
  readonly #client: KubeClient;
  readonly #claim: ServerClaim;
  readonly subject: Subject<ServerClaim>;

  constructor(client: KubeClient, claim: ServerClaim, subject: Subject<ServerClaim>) {
    this.#client = client;
    this.#claim = claim;
    this.subject = subject;
  }

  get name(): string {
    return this.#claim.metadata.name;
  }

  get uid(): string {
    return this.#claim.metadata.uid ?? '';
  }

  get phase(): string | undefined {
    return this.subject.now?.status?.phase;
  }

  reaches(phase: 'Bound' | 'Unbound'): Promise<ServerClaim> {
    return this.subject.reaches(phase);
  }

  says(reason: string): Promise<ServerClaim> {
    return this.subject.says(reason);
  }

  /** Asks for deletion; `isGone` waits for it. */
  async delete(): Promise<void> {
    await this.#client.delete(ServerClaim, this.#claim.metadata, { uid: this.uid });
  }

  isGone(): Promise<void> {
    return this.subject.isGone();
  }
}
