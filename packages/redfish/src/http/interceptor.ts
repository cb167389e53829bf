import type { RawResponse, RedfishRequest } from './request.ts';

/** Resolves with a response of any status; rejects when there is none. */
export type Send = (request: RedfishRequest) => Promise<RawResponse>;

/** One step of a request: it may change the request, call `next` never, once or again, and handle the outcome. */
export type Interceptor = (request: RedfishRequest, next: Send) => Promise<RawResponse>;

/** The first interceptor is the outermost. Composed once per BMC, so that a request creates no closures. */
export const compose = (interceptors: readonly Interceptor[], transport: Send): Send =>
  interceptors.reduceRight<Send>((next, intercept) => (request) => intercept(request, next), transport);
