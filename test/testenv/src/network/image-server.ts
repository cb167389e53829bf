import { createServer } from 'node:http';

export interface ImageServer extends AsyncDisposable {
  /** `http://127.0.0.1:<port>`. */
  readonly url: string;
  /** Requests by path, also those without the right credentials. */
  readonly requests: ReadonlyMap<string, number>;
  /** Serves an image. @returns its URL. */
  serve(name: string, image: Uint8Array): string;
  /** Sets the status of all responses; undefined serves again. */
  fail(status: number | undefined): void;
}

/** A plain HTTP server of firmware images, with Basic authentication if it is given credentials. */
export async function startImageServer(
  credentials?: Readonly<{ username: string; password: string }>,
): Promise<ImageServer> {
  const images = new Map<string, Uint8Array>();
  const requests = new Map<string, number>();
  let failure: number | undefined;
  const basic = `${credentials?.username}:${credentials?.password}`;
  const expected = credentials && `Basic ${Buffer.from(basic).toString('base64')}`;
  const server = createServer(({ url = '/', headers, method }, response) => {
    requests.set(url, (requests.get(url) ?? 0) + 1);
    const image = images.get(url);
    if (failure !== undefined) return void response.writeHead(failure).end();
    if (expected !== undefined && headers.authorization !== expected)
      return void response.writeHead(401, { 'www-authenticate': 'Basic realm="images"' }).end();
    if (image === undefined) return void response.writeHead(404).end();
    response.writeHead(200, { 'content-length': image.length, 'content-type': 'application/octet-stream' });
    response.end(method === 'HEAD' ? undefined : image);
  });
  await new Promise<void>((resolve, reject) => server.once('error', reject).listen(0, '127.0.0.1', resolve));
  const address = server.address();
  const url = `http://127.0.0.1:${typeof address === 'object' && address !== null ? address.port : 0}`;
  return {
    url,
    requests,
    serve: (name, image) => {
      images.set(`/${name}`, image);
      return `${url}/${name}`;
    },
    fail: (status) => void (failure = status),
    [Symbol.asyncDispose]: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
