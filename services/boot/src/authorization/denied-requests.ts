import { RateLimit } from '@metal/http/rate-limit.ts';
import type { Clock } from '@metal/kube/runtime/clock.ts';
import type { EventRecorder } from '@metal/kube/client/events.ts';
import type { KubeObject } from '@metal/kube/kinds/kind.ts';
import type { Logger } from 'pino';
import type { BootServiceReason } from '../reasons.ts';

export interface DeniedRequestsOptions {
  readonly events: EventRecorder;
  readonly clock: Clock;
  readonly log: Logger;
  readonly onDenied?: ((reason: BootServiceReason) => void) | undefined;
}

/** Each event is an API write, and clients cause it: one per minute and object. */
const perObject = { burst: 1, perSecond: 1 / 60 };

/** Counts requests for boot data that were denied because of their client or time, and records events at a limited rate. */
export class DeniedRequests {
  readonly #options: DeniedRequestsOptions;
  readonly #limit: RateLimit;

  constructor(options: DeniedRequestsOptions) {
    this.#options = options;
    this.#limit = new RateLimit({ clock: options.clock, ...perObject });
  }

  /** @param object The Server, or the boot configuration of the token */
  record(object: KubeObject, reason: BootServiceReason, note: string): void {
    const { events, log, onDenied } = this.#options;
    onDenied?.(reason);
    if (this.#limit.take(`${object.metadata.uid ?? object.metadata.name}/${reason}`) > 0) return;
    log.warn({ [object.kind]: object.metadata.name, reason }, note);
    events.record(object, { type: 'Warning', reason, action: 'Boot', note });
  }
}
