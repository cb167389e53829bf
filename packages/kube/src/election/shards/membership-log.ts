import type { Logger } from 'pino';
import { isConflict } from '../../errors.ts';

/** Sharing, as one replica knows it. */
interface MembershipSummary {
  readonly members: readonly string[];
  /** Members that this replica waits for. */
  readonly blockers: readonly string[];
  /** Part of all keys that this replica may act on: 0 to 1. */
  readonly share: number;
}

/** Logs one replica's membership, a line per change. */
export class MembershipLog {
  readonly #log: Logger;
  readonly #self: string;
  #lastLogged = '';

  constructor(log: Logger, self: string) {
    this.#log = log;
    this.#self = self;
  }

  joined(): void {
    this.#log.info({ replica: this.#self }, 'joined the replicas that share the keys');
  }

  changed({ members, blockers, share }: MembershipSummary): void {
    const percent = Math.round(share * 100);
    const summary = JSON.stringify([members, blockers, percent]);
    if (this.#lastLogged === summary) return;
    this.#lastLogged = summary;
    this.#log.info(
      { replica: this.#self, members, ...(blockers.length === 0 ? {} : { waitsFor: blockers }) },
      `one of ${members.length} replicas, owns ${percent} % of the keys`,
    );
  }

  removed(lease: string): void {
    this.#log.info({ lease }, 'the expired lease of a replica is removed');
  }

  notRemoved(lease: string, error: unknown): void {
    if (!isConflict(error))
      this.#log.warn({ lease, error: messageOf(error) }, 'the expired lease of a replica cannot be removed');
  }

  /** Conflicts are expected: writes are guarded. */
  failed(error: unknown): void {
    if (!isConflict(error))
      this.#log.debug({ error: messageOf(error) }, 'a lease of the replicas could not be read or written');
  }
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
