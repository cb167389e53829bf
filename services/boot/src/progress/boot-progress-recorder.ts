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
  /** Told of each step that is seen, also of repeated ones. */
  onStep?: ((step: Step) => void) | undefined;
}

interface Pending {
  readonly boot: ServerBootConfiguration;
  /** What was seen since the last write, merged. */
  steps: readonly BootStep[];
  /** A complaint that is to be made. */
  overdue: Condition | undefined;
  /** Fulfilled when all of it is written, or its boot is gone. */
  readonly recorded: PromiseWithResolvers<void>;
  timer: Disposable;
  dueAt: number;
}

/** Most steps are old news as soon as the next one comes; they are only worth a write of their own if that does not happen. */
const debounceMs = 30_000;
/** A machine that loads the same thing for ever, every few seconds, is not written about each time. */
const repeatDebounceMs = 10 * 60_000;
const firstRetryMs = 200;
const maxRetryMs = 30_000;
/** Of all boots: what machines ask goes over the same connections. */
const maxConcurrentWrites = 12;
/** An API server that hangs must not keep the place of others; what was not answered is tried again. */
const deadlineMs = 10_000;
/** What is not written by then is lost with the process: a machine that was not thanked tells again. */
const shutdownGraceMs = 5_000;

/**
 * Records how far a boot came: steps in `status.boot.steps`, and what other programs know as conditions.
 *
 *   script, kernel, initrd ─┬─ 30 s ─► write      a boot that goes well costs two writes:
 *                           └─ ignition ─► write  everything up to the ignition together, then booted
 *                                 booted ──► write
 *   the same step again ──── 10 min ─► write      its count and last time
 *
 * A discovery is told by its report: it is only written about when that does not follow.
 *
 * Conditions that stand are not changed. Writes that fail are tried again until they succeed, from then on with what the
 * API server has: our watch may lag behind.
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

  /** @returns a promise that is fulfilled when it can no longer be lost that the step came; it never rejects. */
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

  /** Its report is in the API and tells more than its steps do; whoever discovers deletes the boot configuration now. */
  #drop({ metadata: { uid = '' } }: ServerBootConfiguration, pending: Pending): Promise<void> {
    pending.timer[Symbol.dispose]();
    this.#pending.delete(uid);
    pending.recorded.resolve();
    return pending.recorded.promise;
  }

  /** Says on the boot configuration that a step did not come. What came in the meantime settles it. */
  reportOverdue(boot: ServerBootConfiguration, overdue: Condition): void {
    const pending = this.#pendingOf(boot);
    pending.overdue = overdue;
    this.#scheduleWrite(boot.metadata.uid ?? '', pending, 0, firstRetryMs);
  }

  /** What was seen of a boot, written or not. */
  stepsOf(boot: ServerBootConfiguration): BootStep[] {
    const pending = this.#pending.get(boot.metadata.uid ?? '');
    return mergeSteps(stepsOf(this.#cached(boot) ?? boot), pending?.steps ?? []);
  }

  /** Writes what is still pending. */
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

  /** What is due earlier stays so. */
  #scheduleWrite(key: string, pending: Pending, delayMs: number, retryMs: number): void {
    const dueAt = this.#options.clock.now() + delayMs;
    if (this.#closed || (delayMs > 0 && pending.dueAt <= dueAt)) return;
    pending.timer[Symbol.dispose]();
    pending.dueAt = dueAt;
    if (delayMs > 0) {
      pending.timer = this.#options.clock.setTimeout(delayMs, () => this.#scheduleWrite(key, pending, 0, retryMs));
      return;
    }
    // One write at a time per boot: each repeats what was recorded before it.
    const before = this.#writing.get(key) ?? Promise.resolve();
    const write = before.then(() => this.#write(key, pending, retryMs));
    this.#writing.set(key, write);
    void write.finally(() => this.#writing.get(key) === write && this.#writing.delete(key));
  }

  async #write(key: string, pending: Pending, retryMs: number): Promise<void> {
    if (this.#pending.get(key) !== pending) return;
    await this.#semaphore.acquire();
    try {
      // What was seen while it waited is written with it.
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
      // Conflict: somebody wrote first, perhaps evidence that this write would have removed.
      if (!isConflict(error))
        this.#options.log.warn(
          { boot: keyOf(pending.boot), err: error },
          'could not record the progress of a boot; trying again',
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
      // The registry may have heard of the boot as well; it is the same news.
      { fieldManager: 'metal-operator/boot-evidence', subresource: 'status', force: true, signal },
    );
  }

  /** What our cache has of this boot configuration; another one of the same name says nothing of it. */
  #cached({ metadata }: ServerBootConfiguration): ServerBootConfiguration | undefined {
    const found = this.#options.bootConfigurations.get(metadata);
    return found?.metadata.uid === metadata.uid ? found : undefined;
  }
}

const isIn = (steps: readonly BootStep[], name: Step): boolean => steps.some((step) => step.name === name);

/** What others act upon is written at once. */
function debounceFor(step: Step, boot: ServerBootConfiguration): number {
  // The report of a probe says all of it, and follows within seconds.
  if (isDiscoveryBoot(boot)) return debounceMs;
  const { spec } = boot;
  const hasIgnition = (spec.ignitionSecretRef?.name ?? '') !== '';
  const isAwaited = step === 'booted' || step === 'ignition' || (step === 'script' && !hasIgnition);
  return isAwaited ? 0 : debounceMs;
}

function conditionOf(step: Step, at: string, { metadata }: ServerBootConfiguration): Condition[] {
  const template = step in stepConditions ? stepConditions[step as keyof typeof stepConditions] : undefined; // it was looked up before
  return template === undefined
    ? []
    : [{ ...template, status: 'True', lastTransitionTime: at, observedGeneration: metadata.generation }];
}

/** An apply that leaves out what it set before would remove it. */
function earlierConditions({ status }: ServerBootConfiguration): Condition[] {
  const types: readonly string[] = [...Object.values(stepConditions).map(({ type }) => type), overdueType];
  return (status?.conditions ?? []).filter(({ type }) => types.includes(type));
}

/** The first of each type counts: evidence does not change once it is given. */
const firstOfEach = (conditions: readonly Condition[]): Condition[] => [
  ...new Map(conditions.toReversed().map((condition) => [condition.type, condition])).values(),
];
