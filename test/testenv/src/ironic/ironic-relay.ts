import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';

export interface RelayedRequest {
  readonly method: string;
  /** Below `/v1/`. */
  readonly path: string;
  readonly headers: IncomingMessage['headers'];
  /** Parsed; undefined without one. */
  readonly body: unknown;
}

/** An answer that a healthy Ironic does not give. */
export type RelayFault =
  | {
      readonly kind: 'answer';
      readonly status: number;
      readonly body: string;
      readonly headers?: Record<string, string>;
    }
  /** The connection is closed within the body of the real answer. */
  | { readonly kind: 'truncated' }
  /** Nothing is answered. */
  | { readonly kind: 'silent' };

/** Forwards requests to an Ironic, keeps them, and answers some of them itself. */
export interface IronicRelay extends AsyncDisposable {
  readonly url: string;
  /** All of them, in order. */
  readonly requests: readonly RelayedRequest[];
  /** Those that change something. */
  readonly changes: readonly RelayedRequest[];
  clear(): void;
  /** Faults of the requests that the function answers, until it is set again. */
  setFault(faultOf: (request: RelayedRequest) => RelayFault | undefined): void;
}

export async function startIronicRelay(target: string): Promise<IronicRelay> {
  const requests: RelayedRequest[] = [];
  let faultOf: (request: RelayedRequest) => RelayFault | undefined = () => undefined;
  const server = createServer((incoming, response) => {
    const chunks: Buffer[] = [];
    incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
    incoming.once('end', () => {
      const body = Buffer.concat(chunks);
      const seen = asSeen(incoming, body);
      requests.push(seen);
      const fault = faultOf(seen);
      if (fault === undefined || fault.kind === 'truncated')
        forward({ target, incoming, body, response, isCut: fault !== undefined });
      else if (fault.kind === 'answer') response.writeHead(fault.status, fault.headers).end(fault.body);
    });
  });
  await new Promise<void>((resolve, reject) => server.once('error', reject).listen(0, '127.0.0.1', resolve));
  const address = server.address();
  return {
    url: `http://127.0.0.1:${typeof address === 'object' && address !== null ? address.port : 0}`,
    requests,
    get changes() {
      return requests.filter(({ method }) => method !== 'GET');
    },
    clear: () => void requests.splice(0),
    setFault: (next) => {
      faultOf = next;
    },
    [Symbol.asyncDispose]: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function asSeen({ method = '', url = '', headers }: IncomingMessage, body: Buffer): RelayedRequest {
  const text = body.toString('utf8');
  return { method, path: url.replace(/^\/v1\//, ''), headers, body: text === '' ? undefined : JSON.parse(text) };
}

function forward({
  target,
  incoming,
  body,
  response,
  isCut,
}: {
  target: string;
  incoming: IncomingMessage;
  body: Buffer;
  response: ServerResponse;
  isCut: boolean;
}): void {
  const { method, url, headers } = incoming;
  const onward = request(`${target}${url}`, { method, headers, agent: false }, (answer) => {
    const parts: Buffer[] = [];
    answer.on('data', (chunk: Buffer) => parts.push(chunk));
    answer.once('end', () => {
      const text = Buffer.concat(parts);
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      if (!isCut) return void response.end(text);
      response.write(text.subarray(0, Math.floor(text.length / 2)), () => response.destroy());
    });
  });
  onward.once('error', () => response.destroy());
  onward.end(body);
}
