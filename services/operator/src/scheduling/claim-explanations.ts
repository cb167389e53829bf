import type { ServerClaim } from '@metal/api/v1alpha1/server-claim.ts';
import { keyOf } from '@metal/kube/kinds/kind.ts';
import type { Clock } from '@metal/kube/runtime/clock.ts';
import { minutes } from '@metal/kube/runtime/durations.ts';
import { jitter } from '@metal/kube/runtime/jitter.ts';
import type { PendingClaims } from './pending-claims.ts';
import type { MatchLevel, UnreadyReason, UnschedulableReasons } from './unschedulable-reasons.ts';

/**
 * Claims without a matching server are explained again about twice per second in all, however many there are: in a fleet that
 * changes, each count differs from the last. Each claim is explained again after half a minute at the earliest and an hour at
 * the latest.
 */
const explainIntervalPerClaimMs = 700;
const minExplainIntervalMs = minutes(1);
const maxExplainIntervalMs = minutes(60);
/** A server that appears and disappears repeatedly must not cause a status update of thousands of claims each time. */
const throttleMs = minutes(5);

interface ClaimExplanationsOptions {
  readonly reasons: UnschedulableReasons;
  readonly pendingClaims: PendingClaims;
  readonly clock: Clock;
}

/** Why pending claims have no server, and when claims with equal constraints have to report that again. */
export class ClaimExplanations {
  readonly #options: ClaimExplanationsOptions;
  /** Per group of claims with equal constraints: the match level that they report, and until when a change of it is not reported. */
  readonly #reported = new WeakMap<
    Iterable<ServerClaim>,
    { readonly matchLevel: MatchLevel; readonly throttledUntil: number }
  >();

  constructor(options: ClaimExplanationsOptions) {
    this.#options = options;
  }

  /** `looked at 5 servers: 3 ClaimedByAnother, 2 LabelsDoNotMatch`. */
  textFor(claim: ServerClaim): string {
    return this.#options.reasons.of(claim).text;
  }

  unreadyReasonFor(claim: ServerClaim): UnreadyReason | undefined {
    return this.#options.reasons.of(claim).unready;
  }

  /** After this time a claim that no server matches is explained again, if nothing enqueues it earlier. */
  intervalMs(claim: ServerClaim): number {
    const { size } = this.#options.pendingClaims;
    const longest = Math.min(Math.max(size * explainIntervalPerClaimMs, minExplainIntervalMs), maxExplainIntervalMs);
    return jitter(longest, keyOf(claim), 1 / 2);
  }

  /** Claims with the constraints of this one do not report the present match level yet, and may. */
  hasNewMatchLevel(claim: ServerClaim): boolean {
    const { pendingClaims, reasons, clock } = this.#options;
    const similar = pendingClaims.withSameConstraints(claim);
    if (similar === undefined) return false;
    const reported = this.#reported.get(similar);
    if (reported === undefined) return true;
    return reported.matchLevel !== reasons.of(claim).matchLevel && clock.now() >= reported.throttledUntil;
  }

  /** Records that the claim reports the present match level. Returns the keys of the similar claims that have to follow. */
  recordMatchLevel(claim: ServerClaim): string[] {
    const { pendingClaims, reasons, clock } = this.#options;
    const similar = pendingClaims.withSameConstraints(claim);
    if (similar === undefined || !this.hasNewMatchLevel(claim)) return [];
    const isFirst = !this.#reported.has(similar);
    const throttledUntil = clock.now() + (isFirst ? 0 : throttleMs);
    this.#reported.set(similar, { matchLevel: reasons.of(claim).matchLevel, throttledUntil });
    // Claims that were never explained are reconciled anyway.
    return isFirst ? [] : [...similar].map(keyOf).filter((key) => key !== keyOf(claim));
  }
}
