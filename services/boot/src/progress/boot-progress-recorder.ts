import { fieldManagerOf } from '@metal/kube/client/field-managers.ts';
import { ServerBootConfiguration } from '@metal/api/v1alpha1/server-boot-configuration.ts';
import { isDiscoveryBoot } from '@metal/api/wire/internal-boot.ts';
import type { KubeClient } from '@metal/kube/client/client.ts';
import type { Clock } from '@metal/kube/runtime/clock.ts';
import { isConflict } from '@metal/kube/errors.ts';
import { type Condition, keyOf } from '@metal/kube/kinds/kind.ts';
import { Semaphore } from '@metal/kube/controller/semaphore.ts';
import type { Logger } from 'pino';
import { stepConditions, type Step } from './boot-steps.ts';
import type { Cache } from '@metal/kube/cache/store.ts';
import { type BootStep, isResolved, mergeSteps, overdueType, stepsOf } from './progress.ts';

export interface BootProgressRecorderOptions {
  client: Pick<KubeClient, 'find' | 'apply'>;
  bootConfigurations: Cache<ServerBootConfiguration>;
  clock: Clock;
  log: Logger;
  /** Called for each step, including repeated ones. */
  onStep?: ((step: Step) => void) | undefined;
}

interface Pending {
  readonly boot: ServerBootConfiguration;
  /** Steps since the last write, merged. */
  steps: readonly BootStep[];
  /** The condition for an overdue step that is to be written. */
  overdue: Condition | undefined;
  /** Fulfilled when all of it is written, or the boot was deleted. */
  readonly recorded: PromiseWithResolvers<void>;
  timer: Disposable;
  dueAt: number;
}

/** Most steps are followed by another one soon, and are written together with it. */
const debounceMs = 30_000;
/** For a machine that loads the same file again and again. */
const repeatDebounceMs = 10 * 60_000;
const firstRetryMs = 200;
const maxRetryMs = 30_000;
/** For all boots: requests of machines use the same connections. */
const maxConcurrentWrites = 12;
/** A write that hangs must not keep its place; it is retried. */
const deadlineMs = 10_000;
/** Steps that are not written by then are lost; a machine without an acknowledgement reports again. */
const shutdownGraceMs = 5_000;

/**
 * Records the progress of boots: steps in `status.boot.steps`, and conditions for other programs.
 *
 *   script, kernel, initrd ─┬─ 30 s ─► write      a successful boot costs two writes:
 *                           └─ ignition ─► write  all steps up to the ignition, then booted
 *                                 booted ──► write
 *   the same step again ──── 10 min ─► write      its count and last time
 *
 * The steps of a discovery are written only if no report follows.
 *
 * Existing conditions are not changed. Failed writes are retried until they succeed, with a read from the API server each, as
 * the cache may be stale.
 */
export class BootProgressRecorder implements AsyncDisposable {
  readonly #options: BootProgressRecorderOptions;
  readonly #pending = new Map<string, Pending>();
  readonly #writing = new Map<string, Promise<void>>();
  readonly #semaphore = new Semaphore(maxConcurrentWrites);
  #closed = false;

  constructor(options: BootProgressRecorderOptions) {
    this.#options = options;
  }

  /** @returns a promise that is fulfilled when the step is written; it never rejects */
  record(boot: ServerBootConfiguration, step: Step, detail?: string): Promise<void> {
    const { clock, log, onStep } = this.#options;
    onStep?.(step);
    const isRecorded = isIn(stepsOf(this.#cached(boot) ?? boot), step);
    const pending = this.#pendingOf(boot);
    const isNew = !isRecorded && !isIn(pending.steps, step);
    if (step === 'probe' && isDiscoveryBoot(boot)) return this.#drop(boot, pending);
    const seen = { name: step, time: new Date(clock.now()).toISOString(), ...(detail === undefined ? {} : { detail }) };
    pending.steps = mergeSteps(pending.steps, [seen]);
    if (isNew) log.info({ boot: keyOf(boot), server: boot.spec.serverRef.name, step }, 'boot progressed');
    this.#scheduleWrite(
      boot.metadata.uid ?? '',
      pending,
      isNew ? debounceFor(step, boot) : repeatDebounceMs,
      firstRetryMs,
    );
    return isRecorded ? Promise.resolve() : pending.recorded.promise;
  }

  /** The report is in the API server, and the operator deletes the boot configuration now. */
  #drop({ metadata: { uid = '' } }: ServerBootConfiguration, pending: Pending): Promise<void> {
    pending.timer[Symbol.dispose]();
    this.#pending.delete(uid);
    pending.recorded.resolve();
    return pending.recorded.promise;
  }

  /** Writes the condition for an overdue step, unless the step was recorded in the meantime. */
  reportOverdue(boot: ServerBootConfiguration, overdue: Condition): void {
    const pending = this.#pendingOf(boot);
    pending.overdue = overdue;
    this.#scheduleWrite(boot.metadata.uid ?? '', pending, 0, firstRetryMs);
  }

  /** The steps of a boot, written or pending. */
  stepsOf(boot: ServerBootConfiguration): BootStep[] {
    const pending = this.#pending.get(boot.metadata.uid ?? '');
    return mergeSteps(stepsOf(this.#cached(boot) ?? boot), pending?.steps ?? []);
  }

  /** Writes pending steps. */
  async [Symbol.asyncDispose](): Promise<void> {
    for (const [key, pending] of this.#pending) this.#scheduleWrite(key, pending, 0, firstRetryMs);
    this.#closed = true;
    const { promise: timeout, resolve } = Promise.withResolvers<void>();
    using _timer = this.#options.clock.setTimeout(shutdownGraceMs, resolve);
    await Promise.race([Promise.all(this.#writing.values()), timeout]);
  }

  #pendingOf(boot: ServerBootConfiguration): Pending {
    const key = boot.metadata.uid ?? '';
    const known = this.#pending.get(key);
    if (known !== undefined) return known;
    const timer = { [Symbol.dispose]: () => {} };
    const recorded = Promise.withResolvers<void>();
    const pending: Pending = { boot, steps: [], overdue: undefined, recorded, timer, dueAt: Number.POSITIVE_INFINITY };
    this.#pending.set(key, pending);
    return pending;
  }

  /** An earlier write stays scheduled. */
  #scheduleWrite(key: string, pending: Pending, delayMs: number, retryMs: number): void {
    const dueAt = this.#options.clock.now() + delayMs;
    if (this.#closed || (delayMs > 0 && pending.dueAt <= dueAt)) return;
    pending.timer[Symbol.dispose]();
    pending.dueAt = dueAt;
    if (delayMs > 0) {
      pending.timer = this.#options.clock.setTimeout(delayMs, () => this.#scheduleWrite(key, pending, 0, retryMs));
      return;
    }
    // One write at a time per boot: each contains the steps of the one before.
    const before = this.#writing.get(key) ?? Promise.resolve();
    const write = before.then(() => this.#write(key, pending, retryMs));
    this.#writing.set(key, write);
    void write.finally(() => this.#writing.get(key) === write && this.#writing.delete(key));
  }

  async #write(key: string, pending: Pending, retryMs: number): Promise<void> {
    if (this.#pending.get(key) !== pending) return;
    await this.#semaphore.acquire();
    try {
      // It includes the steps that were recorded while it waited.
      await this.#writeNow(key, pending, retryMs);
    } finally {
      this.#semaphore.release();
    }
  }

  async #writeNow(key: string, pending: Pending, retryMs: number): Promise<void> {
    if (this.#pending.get(key) !== pending) return;
    this.#pending.delete(key);
    try {
      await this.#apply(pending, { live: retryMs > firstRetryMs });
      pending.recorded.resolve();
    } catch (error) {
      // A conflict: another replica may have written steps that this write would have removed.
      if (!isConflict(error))
        this.#options.log.warn(
          { boot: keyOf(pending.boot), err: error },
          'could not record the progress of a boot; retrying',
        );
      const newer = this.#pending.get(key);
      const merged: Pending = {
        ...pending,
        steps: mergeSteps(pending.steps, newer?.steps ?? []),
        overdue: newer?.overdue ?? pending.overdue,
        dueAt: Number.POSITIVE_INFINITY,
      };
      if (newer !== undefined) void merged.recorded.promise.then(newer.recorded.resolve);
      newer?.timer[Symbol.dispose]();
      this.#pending.set(key, merged);
      this.#scheduleWrite(key, merged, retryMs, Math.min(retryMs * 2, maxRetryMs));
    }
  }

  async #apply({ boot, steps: seen, overdue }: Pending, { live }: { live: boolean }): Promise<void> {
    const { name, namespace, uid } = boot.metadata;
    const cached = live ? undefined : this.#cached(boot);
    const signal = AbortSignal.timeout(deadlineMs);
    const current =
      cached ?? (await this.#options.client.find(ServerBootConfiguration, { name, namespace }, { signal }));
    if (current === undefined || current.metadata.uid !== uid) return;
    const steps = mergeSteps(stepsOf(current), seen);
    const conditions = [
      ...(overdue === undefined ? [] : [{ ...overdue, observedGeneration: current.metadata.generation }]),
      ...earlierConditions(current),
      ...seen.flatMap(({ name: step, firstTime, time }) => conditionOf(step, firstTime ?? time, current)),
    ].filter(({ type, reason }) => type !== overdueType || !isResolved(reason, steps));
    await this.#options.client.apply(
      ServerBootConfiguration,
      {
        metadata: { name, namespace, uid, resourceVersion: current.metadata.resourceVersion },
        status: { conditions: firstOfEach(conditions), boot: { steps } },
      },
      // The registry may have written the condition BootStateReceived.
      { fieldManager: fieldManagerOf('boot-evidence'), subresource: 'status', force: true, signal },
    );
  }

  /** The cached boot configuration, if its UID is the same. */
  #cached({ metadata }: ServerBootConfiguration): ServerBootConfiguration | undefined {
    const found = this.#options.bootConfigurations.get(metadata);
    return found?.metadata.uid === metadata.uid ? found : undefined;
  }
}

const isIn = (steps: readonly BootStep[], name: Step): boolean => steps.some((step) => step.name === name);

/** Steps that other controllers depend on are written at once. */
function debounceFor(step: Step, boot: ServerBootConfiguration): number {
  // The report of the probe follows within seconds.
  if (isDiscoveryBoot(boot)) return debounceMs;
  const { spec } = boot;
  const hasIgnition = (spec.ignitionSecretRef?.name ?? '') !== '';
  const isAwaited = step === 'booted' || step === 'ignition' || (step === 'script' && !hasIgnition);
  return isAwaited ? 0 : debounceMs;
}

function conditionOf(step: Step, at: string, { metadata }: ServerBootConfiguration): Condition[] {
  const template = step in stepConditions ? stepConditions[step as keyof typeof stepConditions] : undefined; // checked by `in`
  return template === undefined
    ? []
    : [{ ...template, status: 'True', lastTransitionTime: at, observedGeneration: metadata.generation }];
}

/** Server-side apply removes conditions that the manager leaves out. */
function earlierConditions({ status }: ServerBootConfiguration): Condition[] {
  const types: readonly string[] = [...Object.values(stepConditions).map(({ type }) => type), overdueType];
  return (status?.conditions ?? []).filter(({ type }) => types.includes(type));
}

/** The first of each type counts: a recorded condition does not change. */
const firstOfEach = (conditions: readonly Condition[]): Condition[] => [
  ...new Map(conditions.toReversed().map((condition) => [condition.type, condition])).values(),
];
