import * as z from 'zod';
import { RedfishError, type RedfishErrorCode } from '../errors.ts';
import { entries, text } from '../fields.ts';
import type { RawResponse } from './request.ts';

/** The request of a response, for messages. */
export interface RequestContext {
  readonly origin: string;
  readonly method: string;
  readonly path: string;
}

/** Parsed JSON of a response, undefined for an empty one; throws BadAnswer for anything else. */
export function jsonOf(response: RawResponse, context: RequestContext): unknown {
  const body = response.text.replace(/^\uFEFF/, '').trim();
  if (body === '') return undefined;
  try {
    return JSON.parse(body);
  } catch (error) {
    // The parser's own error holds the whole text.
    const cause = new SyntaxError(error instanceof Error ? error.message : String(error));
    throw badResponse(context, response, `expected JSON, found "${excerpt(body, 40)}"`, cause);
  }
}

/** The JSON of a response to a write, which may hold anything; undefined for what is no JSON. */
export function bodyOf(response: RawResponse, context: RequestContext): unknown {
  try {
    return jsonOf(response, context);
  } catch {
    return undefined;
  }
}

/** The ETag of a resource, from the header or the body. */
export function etagOf({ headers }: RawResponse, json: unknown): string | undefined {
  const inBody = typeof json === 'object' && json !== null && '@odata.etag' in json ? json['@odata.etag'] : undefined;
  const etag = headers.etag ?? inBody;
  // A compressing web server in front of the BMC appends a suffix of its own, which the BMC does not know.
  return typeof etag === 'string' ? etag.replace(/-gzip(?="?$)/, '') : undefined;
}

/** Parses the JSON of a response with the schema; throws BadAnswer, which names the property. */
export function parse<S extends z.ZodType>(
  schema: S,
  json: unknown,
  response: RawResponse,
  context: RequestContext,
): z.output<S> {
  const result = schema.safeParse(json);
  if (result.success) return result.data;
  throw badResponse(context, response, firstIssueOf(result.error));
}

/** Parses a resource that was embedded in another one; throws BadAnswer, which names resource and property. */
export function parseResource<S extends z.ZodType>(schema: S, json: unknown, path: string): z.output<S> {
  const result = schema.safeParse(json);
  if (result.success) return result.data;
  throw unusable(path, result.error);
}

export const unusable = (path: string, error: z.ZodError): RedfishError =>
  new RedfishError({ code: 'BadAnswer', message: `${path} is no usable Redfish resource: ${firstIssueOf(error)}` });

/** The first invalid property, in one line. */
function firstIssueOf({ issues: [issue] }: z.ZodError): string {
  const names = issue?.path.map((name) => (typeof name === 'number' ? `[${name}]` : `.${String(name)}`)) ?? [];
  const property = names.join('').replace(/^\./, '');
  return `${property === '' ? 'the resource' : `property ${property}`}: ${issue?.message ?? 'not understood'}`;
}

/** The beginning of every message about a response. */
export const describeStatus = ({ origin, method, path }: RequestContext, status: number): string =>
  `${origin} answered ${method} ${path} with ${status}`;

/** The error of an HTTP status. */
export function errorFromResponse(response: RawResponse, context: RequestContext, now: number): RedfishError {
  const { status, headers } = response;
  const { messages, messageIds } = errorMessagesOf(response);
  return new RedfishError({
    code: codeOfStatus(status),
    message: `${describeStatus(context, status)}: ${messages || 'no explanation'}`,
    status,
    messageIds,
    retryAfterMs: retryAfterMs(headers['retry-after'], now),
  });
}

export function codeOfStatus(status: number): RedfishErrorCode {
  return codes[status] ?? 'HttpError';
}

const codes: Record<number, RedfishErrorCode> = {
  401: 'AuthenticationFailed',
  403: 'Forbidden',
  404: 'NotFound',
  405: 'NotSupported',
  410: 'NotFound',
  429: 'Busy',
  501: 'NotSupported',
  503: 'Busy',
};

const errorBody = z.object({
  error: z.object({
    message: text,
    '@Message.ExtendedInfo': z.preprocess((value) => (Array.isArray(value) ? value : [value]), entries),
  }),
});
const extendedInfo = z.object({ MessageId: text, Message: text, Resolution: text });

/** The explanation in an error response. Some BMCs send plain text with the content type of JSON. */
function errorMessagesOf({ text: body }: RawResponse): { messages: string; messageIds: string[] } {
  const parsed = errorBody.safeParse(jsonOrUndefined(body));
  if (!parsed.success) return { messages: excerpt(body), messageIds: [] };
  const infos = parsed.data.error['@Message.ExtendedInfo'].flatMap((info) => extendedInfo.safeParse(info).data ?? []);
  const messages = infos.flatMap(({ Message }) => Message ?? []);
  return {
    messages: excerpt(messages.length > 0 ? messages.join(' ') : (parsed.data.error.message ?? body)),
    messageIds: infos.flatMap(({ MessageId }) => MessageId ?? []),
  };
}

function jsonOrUndefined(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    return undefined;
  }
}

function retryAfterMs(header: string | undefined, now: number): number | undefined {
  if (header === undefined) return undefined;
  const seconds = Number(header);
  const waitMs = Number.isNaN(seconds) ? Date.parse(header) - now : seconds * 1_000;
  return Number.isNaN(waitMs) ? undefined : Math.max(0, waitMs);
}

function badResponse(context: RequestContext, { status }: RawResponse, why: string, cause?: unknown): RedfishError {
  return new RedfishError({
    code: 'BadAnswer',
    message: `${context.origin} answered ${context.method} ${context.path} with an invalid resource: ${why}`,
    status,
    cause,
  });
}

/** So that the message of a condition stays readable, whatever the BMC writes. */
const longestExcerpt = 90;

/** A copy: errors are kept for long, and a slice would keep the whole response in memory (V8). */
const excerpt = (body: string, longest = longestExcerpt): string => {
  const line = body.replaceAll(/\s+/g, ' ').trim();
  return line.length > longest ? `${Buffer.from(line.slice(0, longest)).toString()}…` : line;
};
