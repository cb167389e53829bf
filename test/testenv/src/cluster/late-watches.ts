import { Readable } from 'node:stream';
import { setTimeout as pause } from 'node:timers/promises';
import { createKubeClient, KubeClient, type KubeClientOptions } from '@metal/kube/client/client.ts';
import { endsList, type WatchEvent, type WatchOptions } from '@metal/kube/client/watch-events.ts';
import type { Kind, KubeObject } from '@metal/kube/kinds/kind.ts';

/** Two changes are never delivered at once. */
const gapMs = 20;
/** At least as many as a test environment watches. */
const mostKinds = 24;

/** A client of the test itself. With `--late-watches` its watches are late. */
export function createTestClient(options: KubeClientOptions): KubeClient {
  const stepMs = Number(process.env.METAL_LATE_WATCHES ?? 0);
  return stepMs === 0 ? createKubeClient(options) : new LateWatchesClient(options, stepMs);
}

/**
 * Delivers the events of each kind later, by a step, than those of the kind that was watched before it; with a negative
 * step the other way round. A test fails that takes the order of two writes for the order of their events.
 */
class LateWatchesClient extends KubeClient {
  readonly #kinds: string[] = [];
  readonly #stepMs: number;

  constructor(options: KubeClientOptions, stepMs: number) {
    super(options);
    this.#stepMs = stepMs;
  }

  override async *watch<T extends KubeObject>(kind: Kind<T>, options: WatchOptions): AsyncGenerator<WatchEvent<T>> {
    const delayMs = this.#delayOf(kind.plural);
    let isListed = options.resourceVersion !== undefined;
    let lastAt = 0;
    // Reads ahead of its consumer.
    const arrivals = Readable.from(withTimes(super.watch(kind, options)), { highWaterMark: 10_000 });
    for await (const { event, at } of arrivals as AsyncIterable<Arrival<T>>) {
      const waitMs = isListed ? Math.max(at + delayMs, lastAt + gapMs) - performance.now() : 0;
      if (waitMs > 0) await pause(waitMs, undefined, { signal: options.signal });
      lastAt = performance.now();
      isListed ||= event.type !== 'ERROR' && endsList(event);
      yield event;
    }
  }

  #delayOf(plural: string): number {
    if (!this.#kinds.includes(plural)) this.#kinds.push(plural);
    const position = this.#kinds.indexOf(plural);
    return this.#stepMs * (this.#stepMs > 0 ? position : position - mostKinds);
  }
}

interface Arrival<T> {
  readonly event: WatchEvent<T>;
  readonly at: number;
}

async function* withTimes<T>(events: AsyncIterable<WatchEvent<T>>): AsyncGenerator<Arrival<T>> {
  for await (const event of events) yield { event, at: performance.now() };
}
