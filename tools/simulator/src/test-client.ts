import type { Node } from './node.ts';

/** A response of a BMC, with its body. */
export interface TestResponse {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  readonly body: Record<string, unknown>;
}

export interface TestClient {
  get(path: string, headers?: Record<string, string>): Promise<TestResponse>;
  send(
    method: 'POST' | 'PATCH' | 'DELETE',
    path: string,
    body?: unknown,
    headers?: Record<string, string>,
  ): Promise<TestResponse>;
}

/** A Redfish client with Basic authentication. For tests of this package. */
export function clientOf({ bmc }: Node, password = bmc.password): TestClient {
  const authorization = `Basic ${Buffer.from(`${bmc.username}:${password}`).toString('base64')}`;
  return testClient(bmc.url, { authorization });
}

/** Requests with a session, or without credentials. */
export function testClient(url: string, commonHeaders: Record<string, string>): TestClient {
  const request = async (
    method: string,
    path: string,
    body: unknown,
    headers: Record<string, string>,
  ): Promise<TestResponse> => {
    const response = await fetch(`${url}${path.startsWith('/redfish') ? path : `/redfish/v1${path}`}`, {
      method,
      headers: { ...commonHeaders, ...(body === undefined ? {} : { 'content-type': 'application/json' }), ...headers },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(60_000),
    });
    const text = await response.text();
    return { status: response.status, headers: response.headers, text, body: parse(text) };
  };
  return {
    get: (path, headers = {}) => request('GET', path, undefined, headers),
    send: (method, path, body, headers = {}) => request(method, path, body, headers),
  };
}

function parse(text: string): Record<string, unknown> {
  try {
    return JSON.parse(text);
  } catch {
    return {};
  }
}
