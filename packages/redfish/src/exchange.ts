import type { Agent, Dispatcher } from 'undici';
import type { BmcEndpoint } from './bmc.ts';
import { RedfishError } from './errors.ts';

export type Method = 'GET' | 'PATCH' | 'POST' | 'DELETE';

export interface Answer {
  readonly status: number;
  readonly headers: Dispatcher.ResponseData['headers'];
  /** Parsed JSON; undefined for an empty body and for one that was not asked to be understood. */
  readonly body: unknown;
}

export interface Exchange {
  readonly agent: Agent;
  readonly endpoint: BmcEndpoint;
  readonly method: Method;
  readonly path: string;
  readonly body: object | undefined;
  readonly headers: Record<string, string>;
  readonly signal: AbortSignal;
}

const largestBodyBytes = 8 * 1024 * 1024;

/** One request and its answer, read whole. @throws RedfishError without status when there was no usable answer. */
export async function exchange({ agent, endpoint, method, path, body, headers, signal }: Exchange): Promise<Answer> {
  const host = endpoint.host.includes(':') && !endpoint.host.startsWith('[') ? `[${endpoint.host}]` : endpoint.host;
  try {
    const response = await agent.request({
      origin: `${endpoint.scheme}://${host}:${endpoint.port}`,
      path: pathOf(path),
      method,
      headers: {
        accept: 'application/json',
        'odata-version': '4.0',
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      signal,
      headersTimeout: 0,
      bodyTimeout: 0,
    });
    const text = await readBounded(response.body, path);
    return {
      status: response.statusCode,
      headers: response.headers,
      body: parseJson(text, response.statusCode, method, path),
    };
  } catch (error) {
    throw explain(error, endpoint, signal);
  }
}

async function readBounded(body: AsyncIterable<Buffer>, path: string): Promise<string> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of body) {
    length += chunk.length;
    if (length > largestBodyBytes)
      throw new RedfishError({
        code: 'BadAnswer',
        message: `${path} is larger than ${largestBodyBytes} bytes; that is no Redfish resource`,
      });
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

/** Error answers and answers to writes may hold anything; only what was asked for must be JSON. */
function parseJson(text: string, status: number, method: Method, path: string): unknown {
  if (text.trim() === '') return undefined;
  try {
    return JSON.parse(text);
  } catch (cause) {
    if (status >= 300 || method !== 'GET') return undefined;
    throw new RedfishError({
      code: 'BadAnswer',
      status,
      message: `${path} is no JSON (${text.length} bytes, beginning with ${JSON.stringify(text.slice(0, 40))}); is this the address of a BMC?`,
      cause,
    });
  }
}

function explain(error: unknown, { host, port }: BmcEndpoint, signal: AbortSignal): RedfishError {
  if (error instanceof RedfishError) return error;
  if (signal.aborted && signal.reason instanceof RedfishError) return signal.reason;
  const cause = error instanceof Error && error.cause instanceof RedfishError ? error.cause : undefined;
  if (cause !== undefined) return cause;
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  if (code === 'UND_ERR_CONNECT_TIMEOUT')
    return new RedfishError({
      code: 'TimedOut',
      message: `the BMC at ${host}:${port} did not accept a connection in time`,
      cause: error,
    });
  if (signal.aborted)
    return new RedfishError({
      code: 'TimedOut',
      message: `the request to the BMC at ${host}:${port} was given up`,
      cause: error,
    });
  const what = error instanceof Error ? error.message || error.name : String(error);
  return new RedfishError({
    code: 'Unreachable',
    message: `the BMC at ${host}:${port} cannot be reached: ${what}`,
    cause: error,
  });
}

/**
 * Links and Location headers may be absolute URLs with a host name that only the BMC knows. They are followed at the
 * address we were given, so that credentials never travel anywhere else.
 */
function pathOf(link: string): string {
  const path = link.replace(/^https?:\/\/[^/]*/i, '').split('#', 1)[0] ?? '';
  return path.startsWith('/') ? path : `/${path}`;
}
