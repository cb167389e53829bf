import type { Clock } from '@metal/kube/clock.ts';
import type { BmcAccess } from './bmc-access.ts';
import type { OperatorCaches } from './context.ts';

export interface PromptLooksOptions {
  readonly access: BmcAccess;
  readonly caches: Pick<OperatorCaches, 'bmcs' | 'servers'>;
  readonly clock: Clock;
  /** Where replicas share the BMCs, those of others are theirs to look at; without it, all may be looked at here. */
  readonly mayLookAt?: (bmcName: string) => boolean;
}

/** A BMC that talks without end is looked at this often and not more. */
const quietMs = 10_000;

/**
 * Turns what BMCs push into looks: a BMC that says that something changed is looked at before its time, and so are its
 * machines. What was pushed is never believed as such: it only says when to look.
 *
 *   event ──► look ── 10 s ──► (another look, if there were more events meanwhile) ── 10 s ──► …
 */
export class PromptLooks implements Disposable {
  readonly #options: PromptLooksOptions;
  /** BMCs that were looked at a moment ago; true when they have spoken since. */
  readonly #quiet = new Map<string, { spokeAgain: boolean; readonly timer: Disposable }>();

  constructor(options: PromptLooksOptions) {
    this.#options = options;
  }

  heardFrom(bmcName: string): void {
    const quiet = this.#quiet.get(bmcName);
    if (quiet !== undefined) quiet.spokeAgain = true;
    else this.#look(bmcName);
  }

  [Symbol.dispose](): void {
    for (const { timer } of this.#quiet.values()) timer[Symbol.dispose]();
    this.#quiet.clear();
  }

  #look(bmcName: string): void {
    const { access, caches, clock, mayLookAt } = this.#options;
    if (caches.bmcs.get(bmcName) === undefined || mayLookAt?.(bmcName) === false) return;
    const timer = clock.setTimeout(quietMs, () => {
      const spokeAgain = this.#quiet.get(bmcName)?.spokeAgain === true;
      this.#quiet.delete(bmcName);
      if (spokeAgain) this.#look(bmcName);
    });
    this.#quiet.set(bmcName, { spokeAgain: false, timer });
    access.memory(bmcName, undefined).distrust();
    access.learned.emit(bmcName);
    for (const { metadata } of caches.servers.by('bmc', bmcName)) {
      access.system(metadata.uid ?? '').distrust();
      access.stale.emit(metadata.name);
    }
  }
}
