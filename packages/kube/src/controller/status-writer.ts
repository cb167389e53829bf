import { fieldManagerOf } from '../client/field-managers.ts';
import { keyOf, type KubeObject } from '../kinds/kind.ts';
import { applyOwned, dropRetiredManagers } from '../client/field-ownership.ts';
import { minutes } from '../runtime/durations.ts';
import type { ControllerRuntime, Outcome, PhaseControllerDefinition } from './definition.ts';
import { StatusDebouncer } from './status-debouncer.ts';
import { diffStatus, type StatusDiff } from './status-diff.ts';

/** The members of a controller's definition that make its status. */
type StatusDefinition<T extends KubeObject, Phase extends string, Facts> = Pick<
  PhaseControllerDefinition<T, Phase, Facts, string, never, never>,
  'name' | 'kind' | 'report' | 'conditionTypes' | 'progressFields' | 'changesOwnSpec'
>;

/** In place of the reason of a wait. */
const generationReason = 'observedGeneration';
/** Nobody waits for it: what a person changes in the spec shows in other fields. */
const generationDebounceMs = minutes(1);

/** When a status has to be written. */
export interface StatusUrgency {
  /** A change of phase is written at once. */
  readonly phaseChanged: boolean;
  /** Milliseconds for which a wait may go unreported; undefined for the default. */
  readonly reportAfterMs: number | undefined;
}

export interface StatusWriteListener<T> {
  /** Called after a write for an object that others changed meanwhile. */
  onMissedChange(key: string): void;
  /** Called after a write of the status. */
  onWritten?(before: T, after: T): void;
}

/**
 * Writes the status of one controller's objects by server-side apply: only if it changes, guarded by the resource version that
 * was reconciled, and without triggering a reconcile of its own.
 */
export class StatusWriter<T extends KubeObject, Phase extends string, Facts> {
  readonly #definition: StatusDefinition<T, Phase, Facts>;
  readonly #runtime: ControllerRuntime;
  readonly #listener: StatusWriteListener<T>;
  readonly #debouncer = new StatusDebouncer();
  readonly #loggedManagers = new Set<string>();
  /** Resource versions that the watch delivered during a write, by key. */
  readonly #seenDuringWrite = new Map<string, Set<string>>();

  constructor(
    definition: StatusDefinition<T, Phase, Facts>,
    runtime: ControllerRuntime,
    listener: StatusWriteListener<T>,
  ) {
    this.#definition = definition;
    this.#runtime = runtime;
    this.#listener = listener;
  }

  /** True if the change arrived during a write of this controller, which then accounts for it. */
  isDuringWrite(key: string, changed: T | undefined): boolean {
    const seen = this.#seenDuringWrite.get(key);
    seen?.add(changed?.metadata.resourceVersion ?? '');
    return seen !== undefined;
  }

  /** Returns the object as written, or as it was if its status has all of it. */
  async apply(object: T, facts: Facts, outcome: Outcome<Phase>): Promise<T> {
    const diff = this.#diff(object, facts, outcome);
    return diff === undefined ? object : this.#write(object, diff);
  }

  /** Writes now, or returns the milliseconds after which the status has to be written if it still differs. */
  async report(
    object: T,
    facts: Facts,
    outcome: Outcome<Phase>,
    { phaseChanged, reportAfterMs }: StatusUrgency,
  ): Promise<number> {
    const key = keyOf(object);
    const diff = this.#diff(object, facts, outcome);
    const remainingMs = diff === undefined ? 0 : this.#remainingMs(key, diff, outcome, { phaseChanged, reportAfterMs });
    if (remainingMs > 0) return remainingMs;
    if (diff === undefined) this.#debouncer.delete(key);
    else await this.#write(object, diff);
    return Number.POSITIVE_INFINITY;
  }

  /** Runs a write of the object; the change that it causes triggers no reconcile, any other does. */
  async writeQuietly(key: string, write: () => Promise<T>): Promise<T> {
    const seen = new Set<string>();
    this.#seenDuringWrite.set(key, seen);
    let own: string | undefined;
    try {
      const written = await write();
      own = written.metadata.resourceVersion;
      return written;
    } finally {
      this.#seenDuringWrite.delete(key);
      if ([...seen].some((version) => version !== own)) this.#listener.onMissedChange(key);
    }
  }

  delete(key: string): void {
    this.#debouncer.delete(key);
  }

  /** Milliseconds for which the difference may still be unwritten; 0 or less: write it now. */
  #remainingMs(
    key: string,
    diff: StatusDiff,
    { decision: { kind, reason = '' } }: Outcome<Phase>,
    { phaseChanged, reportAfterMs }: StatusUrgency,
  ): number {
    const now = this.#runtime.clock.now();
    if (diff.isOnlyGeneration && this.#definition.changesOwnSpec === true)
      return this.#debouncer.remainingMs(key, generationReason, now, generationDebounceMs);
    if (kind !== 'wait' || phaseChanged || !this.#mayDebounce(diff, reportAfterMs)) return 0;
    return this.#debouncer.remainingMs(key, reason, now, reportAfterMs);
  }

  /** True if the status in the API is accurate for the moment: unready, or the wait has a debounce of its own. */
  #mayDebounce({ readyBefore, staysUnready, changedFields }: StatusDiff, reportAfterMs: number | undefined): boolean {
    const { progressFields = [] } = this.#definition;
    const isAccurate = staysUnready || (readyBefore !== 'False' && reportAfterMs !== undefined);
    return isAccurate && changedFields.every((name) => progressFields.includes(name));
  }

  #diff(object: T, facts: Facts, outcome: Outcome<Phase>): StatusDiff | undefined {
    const { report, conditionTypes = [] } = this.#definition;
    if (report === undefined) return undefined;
    return diffStatus(object, report(object, facts, outcome), conditionTypes, this.#runtime.clock.now());
  }

  async #write(object: T, { status }: StatusDiff): Promise<T> {
    const { kind, name: controller } = this.#definition;
    const { name, namespace, resourceVersion } = object.metadata;
    const key = keyOf(object);
    this.#debouncer.delete(key);
    const { client, retiredFieldManagers = [] } = this.#runtime;
    const stored = await this.writeQuietly(key, async () => {
      const written = await applyOwned(
        client,
        kind,
        { metadata: { name, namespace, resourceVersion }, status },
        { fieldManager: fieldManagerOf(controller), subresource: 'status' },
        (managers) => this.#logTaken(key, managers),
      );
      return dropRetiredManagers(client, kind, written, retiredFieldManagers);
    });
    this.#listener.onWritten?.(object, stored);
    return stored;
  }

  /** Each manager once. */
  #logTaken(key: string, managers: readonly string[]): void {
    for (const manager of managers) {
      if (this.#loggedManagers.has(manager)) continue;
      this.#loggedManagers.add(manager);
      const { name: controller, kind } = this.#definition;
      this.#runtime.log.info(
        { controller, object: key, manager },
        `status fields of ${kind.kind} ${key} are taken from field manager "${manager}"`,
      );
    }
  }
}
