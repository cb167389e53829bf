/** Where one replica of the operator serves machines. */
export interface Backend {
  readonly boot: string;
  readonly registry: string;
}

/**
 * The addresses that machines know, in front of whichever operator processes live: what a Kubernetes Service is for.
 * Give its `fetch` to the fleet. While nobody is behind it a request waits, as a connection without an answer does.
 */
export class MachineService {
  readonly #backends: Backend[] = [];
  readonly #waiting = new Set<() => void>();
  #addresses: Backend | undefined;
  #roundRobinIndex = 0;

  readonly fetch: typeof globalThis.fetch = async (input, init) => {
    const url = new URL(input instanceof Request ? input.url : input);
    const backend = await this.#nextBackend(init?.signal ?? undefined);
    const origin = {
      [originOf(this.#addresses?.boot)]: backend.boot,
      [originOf(this.#addresses?.registry)]: backend.registry,
    }[url.origin];
    return globalThis.fetch(origin === undefined ? url : new URL(`${url.pathname}${url.search}`, origin), init);
  };

  /**
   * A lab for operators that are processes: in real time, with machines behind this service that take so long for each
   * step. Their firmware looks again: nobody waits half an hour for one that came while all operators were gone.
   */
  testenvOptions(stepMs: number, flags: readonly string[] = []) {
    const fleet = { powerOnMs: stepMs, powerOffMs: stepMs, bootMs: stepMs, bootRetryMs: 5_000, fetch: this.fetch };
    return { operator: 'none', speed: 1, flags, fleet } as const;
  }

  /** The replica takes its share of the requests until disposed. */
  add(addresses: Backend, backend: Backend): Disposable {
    this.#addresses = addresses;
    this.#backends.push(backend);
    for (const resume of this.#waiting) resume();
    return { [Symbol.dispose]: () => void this.#backends.splice(this.#backends.indexOf(backend), 1) };
  }

  async #nextBackend(signal: AbortSignal | undefined): Promise<Backend> {
    for (;;) {
      signal?.throwIfAborted();
      this.#roundRobinIndex += 1;
      const backend = this.#backends[this.#roundRobinIndex % Math.max(this.#backends.length, 1)];
      if (backend !== undefined) return backend;
      const { promise, resolve } = Promise.withResolvers<void>();
      this.#waiting.add(resolve);
      signal?.addEventListener('abort', () => resolve(), { once: true });
      await promise.finally(() => this.#waiting.delete(resolve));
    }
  }
}

const originOf = (url: string | undefined): string => (url === undefined ? '' : new URL(url).origin);
