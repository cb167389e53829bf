import type { IncomingHttpHeaders } from 'node:http';
import type { Readable } from 'node:stream';
import type { Credentials } from './password.ts';

export type Method = 'GET' | 'PATCH' | 'POST' | 'DELETE';

/** In this order: requests that people and machines wait for go before periodic reads. */
export const priorities = ['power', 'boot', 'inventory', 'telemetry'] as const;
export type Priority = (typeof priorities)[number];

export interface CallOptions {
  /** `inventory` unless given. */
  readonly priority?: Priority | undefined;
  /** Ends the call with the signal's reason, also while it is queued. */
  readonly signal?: AbortSignal | undefined;
  readonly deadlineMs?: number | undefined;
  /** A 5xx status concerns this resource alone and does not count as a failure of the BMC. */
  readonly isSideResource?: boolean | undefined;
}

export interface WriteOptions extends CallOptions {
  /** ETag the resource must still have; `*` and undefined send none. */
  readonly ifMatch?: string | undefined;
  /** Credentials of an account after this write. If it is the account of this client, they are used from then on. */
  readonly newCredentials?: Credentials | undefined;
}

export interface OpenUpload {
  /** Bytes. */
  readonly length: number;
  readonly stream: Readable;
}

/** The body of a POST that is streamed, so that a large one is never in memory as a whole. */
export class Upload {
  readonly contentType: string;
  /** Opens the body; again when the BMC wants a new login first. */
  readonly open: () => Promise<OpenUpload>;

  constructor(contentType: string, open: () => Promise<OpenUpload>) {
    this.contentType = contentType;
    this.open = open;
  }
}

export interface WriteResponse {
  readonly status: number;
  /** Path of the resource that was created or started, without the host name that the BMC assumes for itself. */
  readonly location: string | undefined;
  /** Parsed JSON; undefined for an empty body and for one that is no JSON. */
  readonly body: unknown;
}

/** A request as it passes the interceptors. */
export interface RedfishRequest extends CallOptions {
  readonly method: Method;
  readonly path: string;
  readonly headers: Record<string, string>;
  /** JSON, or an Upload. */
  readonly body?: unknown;
  /** From the attempt to connect until the last byte of the response. */
  readonly deadlineMs: number;
  /** Credentials of an account after this request succeeds. */
  readonly newCredentials?: Credentials | undefined;
}

export interface RawResponse {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
}
