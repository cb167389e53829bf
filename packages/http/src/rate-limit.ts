import type { Clock } from '@metal/kube/runtime/clock.ts';
import { clientOf } from './client-of.ts';

export interface RateLimitOptions {
  clock: Clock;
  /** Requests a client may send at once. */
  burst: number;
  /** Requests a client may send in the long run. */
  perSecond: number;
  /** Clients remembered at once; the ones silent for longest are forgotten first. */
  clients?: number;
}

/** One bucket per client: whoever floods runs dry alone. */
export class RateLimit {
  readonly #options: RateLimitOptions;
  readonly #buckets = new Map<string, { level: number; at: number }>();

  constructor(options: RateLimitOptions) {
    this.#options = options;
  }

  /** Takes `cost` from the client's bucket. Returns 0 when there was enough, else the seconds until there is. */
  take(address: string, cost = 1): number {
    const { clock, burst, perSecond, clients = 10_000 } = this.#options;
    const client = clientOf(address);
    const now = clock.now();
    const bucket = this.#buckets.get(client) ?? { level: burst, at: now };
    const level = Math.min(burst, bucket.level + ((now - bucket.at) / 1_000) * perSecond);
    const enough = level >= 1;
    this.#buckets.delete(client);
    this.#buckets.set(client, { level: enough ? level - cost : level, at: now });
    if (this.#buckets.size > clients) this.#buckets.delete(this.#buckets.keys().next().value ?? '');
    return enough ? 0 : Math.max(1, Math.ceil((1 - level) / perSecond));
  }
}
