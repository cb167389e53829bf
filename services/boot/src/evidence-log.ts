import { ServerBootConfiguration } from '@metal/api/v1alpha1/server-boot-configuration.ts';
import type { Cache } from '@metal/kube/cache.ts';
import type { KubeClient } from '@metal/kube/client.ts';
import type { Clock } from '@metal/kube/clock.ts';
import { isConflict } from '@metal/kube/errors.ts';
import { type Condition, keyOf } from '@metal/kube/kind.ts';
import type { Logger } from 'pino';
import { evidence, type Step } from './evidence.ts';

export interface EvidenceLogOptions {
  client: KubeClient;
  bootConfigurations: Cache<ServerBootConfiguration>;
  clock: Clock;
  log: Logger;
}

interface Pending {
  readonly boot: ServerBootConfiguration;
  /** When each step was seen, RFC 3339. */
  readonly seen: Map<Step, string>;
  /** Fulfilled when all of it is written, or its boot is gone. */
  readonly recorded: PromiseWithResolvers<void>;
  timer: Disposable;
}

/** The script is old news as soon as the ignition is fetched; it is only worth a write of its own if that does not happen. */
const patienceMs = 30_000;
const firstRetryMs = 200;
const longestRetryMs = 30_000;

/**
 * Records how far a boot came, as conditions of its ServerBootConfiguration.
 *
 *   script ─┬─ 30 s ─► write          a boot that goes well costs two writes:
 *           └─ ignition ─► write      script and ignition together, then booted
 *                 booted ──► write
 *
 * What is recorded already is not written again. Writes that fail are tried again until they succeed, from then on with
 * what the API server has: our watch may lag behind.
 */
export class EvidenceLog implements AsyncDisposable {
  readonly #options: EvidenceLogOptions;
  readonly #pending = new Map<string, Pending>();
  readonly #writing = new Map<string, Promise<void>>();
  #closed = false;

  constructor(options: EvidenceLogOptions) {
    this.#options = options;
  }

  /** @returns a promise that is fulfilled when the step can no longer be lost; it never rejects. */
  record(boot: ServerBootConfiguration, step: Step): Promise<void> {
    const { clock, log } = this.#options;
    if (isRecorded(this.#cached(boot) ?? boot, step)) return Promise.resolve();
    const key = boot.metadata.uid ?? '';
    const pending = this.#pending.get(key) ?? {
      boot,
      seen: new Map<Step, string>(),
      recorded: Promise.withResolvers<void>(),
      timer: { [Symbol.dispose]: () => {} },
    };
    if (pending.seen.has(step)) return pending.recorded.promise;
    pending.seen.set(step, new Date(clock.now()).toISOString());
    this.#pending.set(key, pending);
    log.info({ boot: keyOf(boot), server: boot.spec.serverRef.name, step: evidence[step].type }, 'boot progressed');
    const isLast = step !== 'script' || (boot.spec.ignitionSecretRef?.name ?? '') === '';
    this.#writeIn(key, pending, isLast ? 0 : patienceMs, firstRetryMs);
    return pending.recorded.promise;
  }

  /** Writes what is still pending. */
  async [Symbol.asyncDispose](): Promise<void> {
    for (const [key, pending] of this.#pending) this.#writeIn(key, pending, 0, firstRetryMs);
    this.#closed = true;
    await Promise.all(this.#writing.values());
  }

  #writeIn(key: string, pending: Pending, delayMs: number, retryMs: number): void {
    pending.timer[Symbol.dispose]();
    if (this.#closed) return;
    if (delayMs > 0) {
      pending.timer = this.#options.clock.setTimeout(delayMs, () => this.#writeIn(key, pending, 0, retryMs));
      return;
    }
    // One write at a time per boot: each repeats what was recorded before it.
    const before = this.#writing.get(key) ?? Promise.resolve();
    const write = before.then(() => this.#write(key, pending, retryMs));
    this.#writing.set(key, write);
    void write.finally(() => this.#writing.get(key) === write && this.#writing.delete(key));
  }

  async #write(key: string, pending: Pending, retryMs: number): Promise<void> {
    if (pending.seen.size === 0 || this.#pending.get(key) !== pending) return;
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
      const merged = {
        boot: pending.boot,
        seen: new Map([...(newer?.seen ?? []), ...pending.seen]),
        recorded: pending.recorded,
        timer: pending.timer,
      };
      if (newer !== undefined) void merged.recorded.promise.then(newer.recorded.resolve);
      newer?.timer[Symbol.dispose]();
      this.#pending.set(key, merged);
      this.#writeIn(key, merged, retryMs, Math.min(retryMs * 2, longestRetryMs));
    }
  }

  async #apply({ boot, seen }: Pending, { live }: { live: boolean }): Promise<void> {
    const { name, namespace, uid } = boot.metadata;
    const cached = live ? undefined : this.#cached(boot);
    const current = cached ?? (await this.#options.client.find(ServerBootConfiguration, { name, namespace }));
    if (current === undefined || current.metadata.uid !== uid) return;
    const conditions = [
      ...earlierConditions(current),
      ...[...seen].map(([step, at]) => conditionOf(step, at, current)),
    ];
    await this.#options.client.apply(
      ServerBootConfiguration,
      {
        metadata: { name, namespace, uid, resourceVersion: current.metadata.resourceVersion },
        status: { conditions: latestOfEach(conditions) },
      },
      // The registry may have heard of the boot as well; it is the same news.
      { fieldManager: 'metal-operator/boot-evidence', subresource: 'status', force: true },
    );
  }

  /** What our cache has of this boot configuration; another one of the same name says nothing of it. */
  #cached({ metadata }: ServerBootConfiguration): ServerBootConfiguration | undefined {
    const found = this.#options.bootConfigurations.get(metadata);
    return found?.metadata.uid === metadata.uid ? found : undefined;
  }
}

function conditionOf(step: Step, at: string, { metadata }: ServerBootConfiguration): Condition {
  return { ...evidence[step], status: 'True', lastTransitionTime: at, observedGeneration: metadata.generation };
}

/** An apply that leaves out what it set before would remove it. */
function earlierConditions({ status }: ServerBootConfiguration): Condition[] {
  const types: readonly string[] = Object.values(evidence).map(({ type }) => type);
  return (status?.conditions ?? []).filter(({ type }) => types.includes(type));
}

/** The first of each type: evidence does not change once it is given. */
const latestOfEach = (conditions: readonly Condition[]): Condition[] => [
  ...new Map(conditions.toReversed().map((condition) => [condition.type, condition])).values(),
];

function isRecorded({ status }: ServerBootConfiguration, step: Step): boolean {
  return (
    status?.conditions?.some(({ type, status: value }) => type === evidence[step].type && value === 'True') ?? false
  );
}
