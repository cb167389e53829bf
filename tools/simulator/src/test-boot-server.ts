import { createServer } from 'node:http';

export interface TestBootServer extends AsyncDisposable {
  readonly url: string;
  /** Method and path of a request, with the body. */
  readonly requests: readonly {
    readonly requestLine: string;
    readonly body: string;
    readonly authorization: string | undefined;
  }[];
  /** Resolves when this was requested. */
  untilRequested(requestLine: string): Promise<void>;
  /** Resolves when a connection on which this was requested closes. */
  untilClosed(requestLine: string): Promise<void>;
}

/** A page that is never answered. */
export const hangs = Symbol('hangs');
/** A response with a Retry-After of five seconds. */
export const busy = 'busy: 503 with Retry-After';
type Page = typeof hangs | string | Buffer | number | (() => string | Buffer | number);

/** Serves pages by path; a number is a status. A missing page is 404, and `hangs` is never answered. For tests of this package. */
export async function startTestBootServer(pages: (url: string) => Record<string, Page>): Promise<TestBootServer> {
  const requests: { requestLine: string; body: string; authorization: string | undefined }[] = [];
  const watchers = new Set<() => void>();
  const closed = new Map<string, PromiseWithResolvers<void>>();
  const closedOf = (requestLine: string): PromiseWithResolvers<void> => {
    const known = closed.get(requestLine) ?? Promise.withResolvers<void>();
    closed.set(requestLine, known);
    return known;
  };
  let served: Record<string, Page> = {};
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(Buffer.from(chunk));
    const path = request.url ?? '';
    const { authorization } = request.headers;
    requests.push({
      requestLine: `${request.method} ${path}`,
      body: Buffer.concat(chunks).toString('utf8'),
      authorization,
    });
    request.socket.once('close', () => closedOf(`${request.method} ${path}`).resolve());
    for (const watcher of watchers) watcher();
    const page = served[path] ?? 404;
    if (page === hangs) return;
    const content = typeof page === 'function' ? page() : page;
    if (content === busy) response.writeHead(503, { 'retry-after': '5' }).end();
    else if (typeof content === 'number') response.writeHead(content).end();
    else response.end(content);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  const url = `http://127.0.0.1:${typeof address === 'object' && address !== null ? address.port : 0}`;
  served = pages(url);
  return {
    url,
    requests,
    untilRequested: (requestLine) =>
      new Promise((resolve) => {
        const check = () => requests.some((one) => one.requestLine === requestLine) && resolve();
        watchers.add(check);
        check();
      }),
    untilClosed: (requestLine) => closedOf(requestLine).promise,
    [Symbol.asyncDispose]: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** An iPXE script as of a boot service. */
export const bootScript = (url: string, parameters: string): string => `#!ipxe
:load
kernel ${url}/kernel initrd=initrd ${parameters} || goto again
initrd ${url}/initrd || goto again
boot || goto again
:again
sleep 5
goto load
`;

/** Ignition that starts a probe. */
export function probeIgnition(options: {
  registryUrl: string;
  uuid: string;
  tokenSource: string;
  compression?: string;
}): string {
  const { registryUrl, uuid, tokenSource: source, compression } = options;
  const contents = `[Service]\nExecStart=/usr/bin/metalprobe --registry-url=${registryUrl} --server-uuid=${uuid} --token-file=/etc/metalprobe/token\n`;
  return JSON.stringify({
    ignition: { version: '3.3.0' },
    storage: { files: [{ path: '/etc/metalprobe/token', mode: 384, contents: { source, compression } }] },
    systemd: { units: [{ name: 'metalprobe.service', enabled: true, contents }] },
  });
}
