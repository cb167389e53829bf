/** Addresses under which one replica of the operator serves machines. */
export interface Backend {
  readonly boot: string;
  readonly registry: string;
}

/**
 * Stable addresses for machines, in front of the live operator processes, like a Kubernetes Service.
 * The fleet uses its `fetch`. A request waits while there is no backend, like a connection without a response.
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
   * Options of a test environment for operator processes: in real time, with machines behind this service whose steps
   * take this long. Their firmware retries often: no test waits half an hour for a machine that started while no
   * operator was running.
   */
  testenvOptions(stepMs: number, flags: readonly string[] = []) {
    const fleet = { powerOnMs: stepMs, powerOffMs: stepMs, bootMs: stepMs, bootRetryMs: 5_000, fetch: this.fetch };
    return { operator: 'none', speed: 1, flags, fleet } as const;
  }

  /** The replica gets its share of the requests until disposed. */
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
