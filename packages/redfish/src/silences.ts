import type { Clock } from './clock.ts';

/** Connections are closed after this much silence. */
export const longestSilenceMs = 10_000;
/** Connections to one BMC that wait: one to go on with, and that of the last POST, which needs a new one. Each costs 30 kB. */
export const mostInSilence = 2;
/** A fleet at rest needs none; one at work, those of the servers that it is busy with. */
const mostSilences = 256;

interface Silence {
  readonly end: () => void;
}

/**
 * BMCs whose connections wait for the next request. They are closed when that takes too long, and earlier, the longest
 * silence first, when there are too many of them.
 */
export class Silences {
  readonly #clock: Clock;
  readonly #most: number;
  /** In the order in which they began. */
  readonly #silences = new Set<Silence>();

  constructor({ clock, most = mostSilences }: { readonly clock: Clock; readonly most?: number }) {
    this.#clock = clock;
    this.#most = most;
  }

  /** One begins, which is over when disposed; `hangUp` is called if it lasts too long. */
  begin(hangUp: () => void): Disposable {
    const timer = this.#clock.setTimeout(longestSilenceMs, () => silence.end());
    const over = (): void => {
      timer[Symbol.dispose]();
      this.#silences.delete(silence);
    };
    const silence: Silence = {
      end: () => {
        over();
        hangUp();
      },
    };
    this.#silences.add(silence);
    if (this.#silences.size > this.#most) this.#silences.values().next().value?.end();
    return { [Symbol.dispose]: over };
  }
}
