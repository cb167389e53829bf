import type { Condition, KubeObject } from '@metal/kube/kinds/kind.ts';
import type { Cache } from '@metal/kube/cache/store.ts';
import type { Timeline } from './timeline.ts';

export interface WatchedObjectOptions<T> {
  readonly what: string;
  readonly cache: Cache<T & KubeObject>;
  readonly find: () => T | undefined;
  readonly phase: (object: T) => string | undefined;
  readonly timeline: Timeline;
}

/** An object that a story waits on: for a phase, a reason or a condition. */
export class WatchedObject<T extends KubeObject> {
  readonly #options: WatchedObjectOptions<T>;

  constructor(options: WatchedObjectOptions<T>) {
    this.#options = options;
  }

  /** The object in its last version on the watch, if it exists. */
  get now(): T | undefined {
    return this.#options.find();
  }

  exists(): Promise<T> {
    return this.until('exists', () => true);
  }

  reaches(phase: string): Promise<T> {
    return this.until(`reaches ${phase}`, (object) => this.#options.phase(object) === phase);
  }

  /** Some condition has this reason. */
  hasReason(reason: string): Promise<T> {
    return this.until(`has reason ${reason}`, () => this.showsReason(reason));
  }

  /** Some condition has this reason now. */
  showsReason(reason: string): boolean {
    return conditionsOf(this.now).some((condition) => condition.reason === reason);
  }

  /** The message of some condition contains this text. */
  hasMessage(pattern: RegExp): Promise<T> {
    return this.until(`has message ${pattern}`, (object) =>
      conditionsOf(object).some(({ message }) => pattern.test(message)),
    );
  }

  /** The condition of this type has this status. */
  hasCondition(type: string, status: Condition['status']): Promise<T> {
    return this.until(`has ${type}=${status}`, (object) => conditionOf(object, type)?.status === status);
  }

  condition(type: string): Condition | undefined {
    return conditionOf(this.now, type);
  }

  /** Waits until it no longer exists. */
  async isGone(): Promise<void> {
    await this.#wait('is gone', () => (this.now === undefined ? { found: true as const } : undefined));
  }

  async until(description: string, holds: (object: T) => boolean): Promise<T> {
    return this.#wait(description, () => {
      const object = this.now;
      return object !== undefined && holds(object) ? object : undefined;
    });
  }

  #wait<R>(description: string, find: () => R | undefined): Promise<R> {
    const { what, cache, timeline } = this.#options;
    const state = () => `it is ${JSON.stringify(this.now, undefined, 1)}`;
    return waitFor({ what, description, find, follow: (check) => cache.onChange(check), state, timeline });
  }
}

/** Waits until the condition holds, checked at every change. */
export async function untilChanged(
  what: string,
  description: string,
  holds: () => boolean,
  follow: (check: () => void) => Disposable,
  timeline: Timeline,
): Promise<void> {
  await waitFor({ what, description, find: () => (holds() ? true : undefined), follow, state: () => '', timeline });
}

interface WaitOptions<R> {
  readonly what: string;
  readonly description: string;
  readonly find: () => R | undefined;
  readonly follow: (check: () => void) => Disposable;
  readonly state: () => string;
  readonly timeline: Timeline;
}

function waitFor<R>({ what, description, find, follow, state, timeline }: WaitOptions<R>): Promise<R> {
  return new Promise((resolve, reject) => {
    const finish = () => {
      clearTimeout(timer);
      subscription[Symbol.dispose]();
    };
    const check = () => {
      const found = find();
      if (found === undefined) return;
      finish();
      resolve(found);
    };
    const timer = setTimeout(() => {
      finish();
      reject(
        new Error(
          `${what}: "${description}" did not happen within ${timeline.timeoutMs / 1_000} s; ${state()}\n${timeline.text()}`,
        ),
      );
    }, timeline.timeoutMs);
    const subscription = follow(check);
    check();
  });
}

function conditionsOf(object: KubeObject | undefined): readonly Condition[] {
  const status = object !== undefined && 'status' in object ? object.status : undefined;
  if (typeof status !== 'object' || status === null || !('conditions' in status)) return [];
  return Array.isArray(status.conditions) ? status.conditions : [];
}

const conditionOf = (object: KubeObject | undefined, type: string): Condition | undefined =>
  conditionsOf(object).find((condition) => condition.type === type);
