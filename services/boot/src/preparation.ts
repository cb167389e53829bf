import { ServerBootConfiguration } from '@metal/api/v1alpha1/server-boot-configuration.ts';
import type { Cache } from '@metal/kube/cache.ts';
import type { KubeClient } from '@metal/kube/client.ts';
import type { Clock } from '@metal/kube/clock.ts';
import { KubeError } from '@metal/kube/errors.ts';
import type { EventRecorder } from '@metal/kube/events.ts';
import { type Condition, keyOf } from '@metal/kube/kind.ts';
import { WorkQueue } from '@metal/kube/queue.ts';
import type { Logger } from 'pino';
import { BootError } from './errors.ts';
import { readIgnition } from './ignition.ts';
import type { BootImages } from './images.ts';
import type { BootServiceReason } from './reasons.ts';

export interface PreparationOptions {
  client: KubeClient;
  bootConfigurations: Cache<ServerBootConfiguration>;
  images: BootImages;
  events: EventRecorder;
  clock: Clock;
  log: Logger;
  random?: (() => number) | undefined;
}

/** What is to be said about a boot configuration. */
export type Verdict =
  | { readonly state: 'Ready'; readonly error?: never }
  | { readonly state: 'Error'; readonly error: BootError };

const atOnce = 32;
/** Secrets are often created right after the object that refers to them; saying Error in between would be noise. */
const courtesyMs = 5_000;
const secretPauseMs = 50;
/** Others write the status of a new boot configuration at the same moment. */
const mostConflicts = 5;

/**
 * Watches boot configurations and says of each whether machines can boot it: `status.state` Ready or Error, with a
 * condition that explains. Written once per change of mind; errors are looked at again with growing pauses.
 */
export class Preparation implements AsyncDisposable {
  readonly #options: PreparationOptions;
  readonly #queue: WorkQueue;
  readonly #listening: Disposable;
  readonly #stop = new AbortController();
  readonly #running = new Set<Promise<void>>();
  /** When the ignition of a boot configuration was first found missing, by UID. */
  readonly #missedSince = new Map<string, number>();

  constructor(options: PreparationOptions) {
    const { clock, random, bootConfigurations } = options;
    this.#options = options;
    this.#queue = new WorkQueue({ clock, ...(random && { random }) });
    this.#queue.onReady = () => this.#work();
    this.#listening = bootConfigurations.onChange(({ key, before, after }) => {
      if (after === undefined) {
        this.#queue.forget(key);
        this.#missedSince.delete(before?.metadata.uid ?? '');
      }
      if (after !== undefined && (before === undefined || isNews(before, after))) this.#lookAgain(key);
    });
    for (const boot of bootConfigurations.all()) this.#queue.add(keyOf(boot));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#listening[Symbol.dispose]();
    this.#queue.close();
    this.#stop.abort(new Error('the boot service stops'));
    await Promise.allSettled(this.#running);
  }

  #lookAgain(key: string): void {
    this.#queue.forgive(key);
    this.#queue.add(key);
  }

  #work(): void {
    while (this.#running.size < atOnce) {
      const key = this.#queue.take();
      if (key === undefined) return;
      const turn = this.#turn(key).finally(() => {
        this.#running.delete(turn);
        this.#queue.done(key);
        this.#work();
      });
      this.#running.add(turn);
    }
  }

  async #turn(key: string): Promise<void> {
    const boot = this.#options.bootConfigurations.get(key);
    if (boot === undefined || boot.metadata.deletionTimestamp !== undefined) return;
    try {
      const verdict = await this.#judge(boot);
      const isEarly = verdict.error?.code === 'IgnitionMissing' && this.#missedForMs(boot) < courtesyMs;
      if (!isEarly) await this.#say(boot, verdict);
      if (verdict.error?.code !== 'IgnitionMissing') this.#missedSince.delete(boot.metadata.uid ?? '');
      if (verdict.state === 'Ready') this.#queue.forgive(key);
      else this.#queue.addAfterFailure(key, isEarly ? secretPauseMs : 0);
    } catch (error) {
      if (this.#stop.signal.aborted) return;
      const overtaken = error instanceof KubeError && (error.code === 'Conflict' || error.code === 'NotFound');
      if (!overtaken)
        this.#options.log.warn({ boot: key, err: error }, 'could not prepare a boot configuration; trying again');
      this.#queue.addAfterFailure(key);
    }
  }

  async #judge(boot: ServerBootConfiguration): Promise<Verdict> {
    const { images, client } = this.#options;
    try {
      await images.check(boot.spec.image, this.#stop.signal);
      await readIgnition(boot, client, this.#stop.signal);
      return { state: 'Ready' };
    } catch (error) {
      if (error instanceof BootError) return { state: 'Error', error };
      throw error;
    }
  }

  async #say(boot: ServerBootConfiguration, verdict: Verdict): Promise<void> {
    const { clock, log, events } = this.#options;
    const conditions = conditionsOf(boot, verdict, clock.now());
    if (isSaid(boot, verdict.state, conditions)) return;
    await this.#write(boot, { state: verdict.state, conditions });
    const fields = {
      boot: keyOf(boot),
      server: boot.spec.serverRef.name,
      image: boot.spec.image,
      state: verdict.state,
    };
    if (verdict.error === undefined) {
      log.info(fields, 'boot configuration is ready');
      return;
    }
    const { code, message } = verdict.error;
    log.warn({ ...fields, code, reason: message }, 'boot configuration cannot be booted');
    events.record(boot, { type: 'Warning', reason: validationFailed, action: 'Prepare', note: message });
  }

  /**
   * Said of the object that was judged and of no other: one that was made anew under the name has the same name and
   * perhaps another image. The API server compares no UIDs in a write of status, so the version is the guard.
   */
  async #write(judged: ServerBootConfiguration, status: ServerBootConfiguration['status']): Promise<void> {
    const { client } = this.#options;
    const { name, namespace } = judged.metadata;
    for (let { resourceVersion } = judged.metadata, conflicts = 0; ; conflicts += 1) {
      try {
        await client.apply(
          ServerBootConfiguration,
          { metadata: { name, namespace, resourceVersion }, status },
          // Pending is what others say for want of a boot service; from here on the state is ours.
          { fieldManager: 'metal-operator/boot', subresource: 'status', force: true },
        );
        return;
      } catch (error) {
        const isConflict = error instanceof KubeError && error.code === 'Conflict';
        if (!isConflict || conflicts === mostConflicts) throw error;
        const now = await client.find(ServerBootConfiguration, judged.metadata);
        if (now === undefined || !isSameWish(now, judged)) throw error;
        ({ resourceVersion } = now.metadata);
      }
    }
  }

  /** By our own watch: the API server's clock may be another one. */
  #missedForMs({ metadata }: ServerBootConfiguration): number {
    const now = this.#options.clock.now();
    const since = this.#missedSince.get(metadata.uid ?? '') ?? now;
    this.#missedSince.set(metadata.uid ?? '', since);
    return now - since;
  }
}

const validationFailed = 'ValidationFailed' satisfies BootServiceReason;
const imageValidation = 'ImageValidation';
const ignitionValidation = 'IgnitionValidation';

/** None when all is well: both conditions exist only as complaints. */
function conditionsOf(boot: ServerBootConfiguration, { error }: Verdict, now: number): Condition[] {
  if (error === undefined) return [];
  const type = error.code.startsWith('Ignition') ? ignitionValidation : imageValidation;
  const earlier = boot.status?.conditions?.find((condition) => condition.type === type && condition.status === 'False');
  const lastTransitionTime = earlier?.lastTransitionTime ?? new Date(now).toISOString();
  return [
    {
      type,
      status: 'False',
      reason: validationFailed,
      message: error.message.slice(0, 1_000),
      lastTransitionTime,
      observedGeneration: boot.metadata.generation,
    },
  ];
}

function isSaid({ status }: ServerBootConfiguration, state: string, wanted: readonly Condition[]): boolean {
  const said = (status?.conditions ?? []).filter(({ type }) => type === imageValidation || type === ignitionValidation);
  return (
    status?.state === state &&
    said.length === wanted.length &&
    wanted.every(({ type, message }) =>
      said.some((condition) => condition.type === type && condition.message === message),
    )
  );
}

const isSameWish = (
  { metadata: one }: ServerBootConfiguration,
  { metadata: other }: ServerBootConfiguration,
): boolean => one.uid === other.uid && one.generation === other.generation;

/** Our own writes of status are no reason to look again; somebody else's state is. */
function isNews(before: ServerBootConfiguration, after: ServerBootConfiguration): boolean {
  return (
    !isSameWish(before, after) ||
    (before.status?.state !== after.status?.state && after.status?.state !== 'Ready' && after.status?.state !== 'Error')
  );
}
