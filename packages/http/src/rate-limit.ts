import type { Clock } from '@metal/kube/runtime/clock.ts';
import { clientOf } from './client-of.ts';

export interface RequestRate {
  /** Requests that a client may send at once. */
  readonly burst: number;
  /** Requests per second that a client may send on average. */
  readonly perSecond: number;
}

export interface RateLimitOptions extends RequestRate {
  readonly clock: Clock;
  /** Clients that are kept; beyond that the one whose last request is oldest is dropped. */
  readonly clients?: number;
}

/** Enough for a thousand machines behind one address that start at the same time. */
export const defaultRequestRate: RequestRate = { burst: 2_000, perSecond: 200 };

/** The additional cost of a rejected request: a client that guesses tokens empties its bucket ten times as fast. */
const rejectionCost = 9;

/** A token bucket per client. */
export class RateLimit {
  readonly #options: RateLimitOptions;
  readonly #buckets = new Map<string, { level: number; at: number }>();

  constructor(options: RateLimitOptions) {
    this.#options = options;
  }

  /** Takes `cost` tokens from the client's bucket. Returns 0 if it had one, else the seconds until it has one. */
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

  /** Charges a client for a request that was rejected. */
  chargeRejection(address: string): void {
    this.take(address, rejectionCost);
  }
}
