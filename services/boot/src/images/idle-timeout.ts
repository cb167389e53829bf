import type { Clock } from '@metal/kube/runtime/clock.ts';
import { BootError } from '../errors.ts';

/** The longest pause of a source; the whole pull may take hours. */
const idleTimeoutMs = 60_000;

/** Aborts a pull whose source sends no data for a minute. */
export class IdleTimeout implements Disposable {
  readonly #clock: Clock;
  readonly #name: string;
  readonly #abort = new AbortController();
  #lastDataAt: number;
  #timer: Disposable;

  constructor(clock: Clock, name: string) {
    this.#clock = clock;
    this.#name = name;
    this.#lastDataAt = clock.now();
    this.#timer = this.#wait(idleTimeoutMs);
  }

  get signal(): AbortSignal {
    return this.#abort.signal;
  }

  onData(): void {
    this.#lastDataAt = this.#clock.now();
  }

  [Symbol.dispose](): void {
    this.#timer[Symbol.dispose]();
  }

  /** One timer for many chunks: when it fires it checks for data since, and starts again. */
  #wait(ms: number): Disposable {
    return this.#clock.setTimeout(ms, () => {
      const leftMs = this.#lastDataAt + idleTimeoutMs - this.#clock.now();
      if (leftMs > 0) this.#timer = this.#wait(leftMs);
      else
        this.#abort.abort(
          new BootError(
            'RegistryUnreachable',
            `${this.#name}: nothing came for ${idleTimeoutMs / 1_000} s; the pull is given up`,
          ),
        );
    });
  }
}
