import { RedfishError, type RedfishErrorCode } from '../errors.ts';
import type { BreakerState } from './circuit-breaker.ts';
import type { Clock } from './clock.ts';
import type { Interceptor } from './interceptor.ts';
import { codeOfStatus } from './parse-response.ts';

/** One finished HTTP request. */
export interface RequestEvent {
  readonly method: string;
  readonly path: string;
  /** Undefined when there was no response. */
  readonly status: number | undefined;
  /** Undefined when the BMC carried out the request. */
  readonly error: RedfishErrorCode | undefined;
  readonly ms: number;
}

/** Receives the traffic of one BMC, for metrics. */
export interface BmcObserver {
  /** A request is about to be sent; `request` follows when it is over. */
  requestStarted?(): void;
  request(event: RequestEvent): void;
  sessions(count: number): void;
  breaker(state: BreakerState): void;
}

/** Reports the start and the outcome of each HTTP request. */
export function observeRequests(clock: Clock, observer: BmcObserver | undefined): Interceptor {
  if (observer === undefined) return (request, next) => next(request);
  return async (request, next) => {
    const { method, path } = request;
    const startedAt = clock.now();
    observer.requestStarted?.();
    let status: number | undefined;
    let error: RedfishErrorCode | undefined;
    try {
      const response = await next(request);
      status = response.status;
      error = status < 400 ? undefined : codeOfStatus(status);
      return response;
    } catch (cause) {
      if (cause instanceof RedfishError) error = cause.code;
      throw cause;
    } finally {
      observer.request({ method, path, status, error, ms: clock.now() - startedAt });
    }
  };
}
